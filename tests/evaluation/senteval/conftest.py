"""A copy of the generated evaluation sets that may be damaged."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(demo_tasks, tmp_path):
    """A copy of the generated sets, to be damaged."""
    return Path(shutil.copytree(demo_tasks, tmp_path / "tasks"))
