"""A page of made-up numbers."""

import pytest

from tests.report.page.reading import parse, sample


@pytest.fixture(scope="session")
def data():
    return sample()


@pytest.fixture(scope="session")
def tree(data):
    return parse(data)
