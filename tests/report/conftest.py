"""A catalogue of one table and one figure, with results."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from tests.finished import finished


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"papers": ["nie2023", "huang2023"], "tables": ["nie2023/table_1"], "figures": ["nie2023/figure_1b"]}
    found = Catalogue(configuration.load("demo").model_copy(update=asked))
    finished(found)
    return found
