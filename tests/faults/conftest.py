import pytest

from tests.faults.harness import Server


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    running.close()
