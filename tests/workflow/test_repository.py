"""The workflow's files: lint, length, locked versions."""

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from clrepro.paths import ROOT


def test_the_workflow_is_lint_clean_and_short():
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["snakemake", "--lint"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((ROOT / "Snakefile").read_text().splitlines()) < 50


def test_conda_environments_have_the_locked_versions():
    lock = dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text(), re.M))
    lock["pytorch"] = lock["torch"]
    # the lock holds one version a Python; the environments are for 3.11
    lock |= dict(
        re.findall(
            r"^([a-z0-9-]+)==([^ ;]+) ; python_full_version < '3.12'",
            (ROOT / "requirements.lock").read_text(),
            re.M,
        )
    )
    for file in (ROOT / "envs").glob("*.yaml"):
        for entry in yaml.safe_load(file.read_text())["dependencies"]:
            name, version = entry.split("=")
            assert name == "python" or lock[name] == version, f"{file.name}: {entry}, locked {lock[name]}"
