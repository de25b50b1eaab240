"""A small catalogue of the demo, without results."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue


@pytest.fixture
def catalogue(tmp_path, monkeypatch) -> Catalogue:
    monkeypatch.chdir(tmp_path)
    raw = configuration.load("demo").model_dump()
    return Catalogue(configuration.parse({**raw, "figures": ["li2024/figure_6"], "seeds": [1, 2]}))
