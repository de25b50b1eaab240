"""What an installed package must hold besides Python."""

import subprocess
import tomllib
from fnmatch import fnmatchcase

from clrepro.paths import ROOT


def test_every_data_file_of_the_package_is_installed_with_it():
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    listed = subprocess.run(["git", "ls-files", "src/clrepro"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name.removeprefix("src/clrepro/") for name in listed.stdout.splitlines() if not name.endswith(".py")]
    assert {"sources/sources.yaml", "modalities/image/imagenet100.txt"} <= set(files)
    assert [name for name in files if not any(fnmatchcase(name, one) for one in patterns["clrepro"])] == []
    # a pattern that no file has any more is a folder that was moved
    assert [one for one in patterns["clrepro"] if not any(fnmatchcase(name, one) for name in files)] == []
