"""The catalogue of the demo."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue


@pytest.fixture(scope="session")
def demo():
    return Catalogue(configuration.load("demo"))
