"""The catalogue of the papers' own scale."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue


@pytest.fixture(scope="session")
def paper_scale():
    return Catalogue(configuration.load("paper"))


@pytest.fixture(scope="session")
def cells(paper_scale):
    """{(paper, table, row, column): cell}; of a cell with several metrics, the last."""
    return {(cell.paper, cell.table, cell.row, cell.column): cell for t in paper_scale.tables for cell in t.cells}


@pytest.fixture(scope="session")
def with_imagenet(tmp_path_factory) -> Catalogue:
    """Paper scale with a mirror that has ImageNet, so that all tables have their runs."""
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "imagenet").mkdir()
    (mirror / "graphs").mkdir()
    (mirror / "graphs/chem_dataset.zip").touch()
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    return Catalogue(configuration.parse({**raw, "mirror": str(mirror)}))
