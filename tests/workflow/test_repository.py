"""The workflow's files: lint, length."""

import os
import subprocess
import sys
from pathlib import Path

from clrepro.paths import ROOT


def test_the_workflow_is_lint_clean_and_short():
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["snakemake", "--lint"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((ROOT / "Snakefile").read_text().splitlines()) < 50
