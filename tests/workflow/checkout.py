"""A copy of the checkout whose code may be edited, and a small configuration for it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from clrepro.paths import ROOT
from tests.standins import ONE_ENCODER

PARTS = ("Snakefile", "rules", "scripts", "envs", "profiles", "config", "config.yaml", "papers", "src")
SMALL = {
    "papers": ["li2024"],
    "tables": ["li2024/table_3_v1"],
    "simulation": {"points": 5, "batches": 3},
    "seeds": [1, 2],
    "figures": [],
    "jobs": {"runs": 2},
    "sentence": {
        "corpus_lines": 400,
        "backbones": ONE_ENCODER,
        "training": {"batch_size": 16, "epochs": 0.3, "evaluate_every": 4, "max_length": 16},
    },
}
UNFILLED = ("arc", "mMHE", "mMHS", "mB", "mV")  # rows of the small table that the tests leave without an experiment


class Checkout:
    """A copy of the workflow and the library, run by its own Snakemake process."""

    def __init__(self, folder: Path):
        self.folder = folder
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy(source, folder / part)
        (folder / "small.yaml").write_text(yaml.safe_dump(SMALL))

    def run(self, *arguments: str, program: str = "snakemake") -> subprocess.CompletedProcess:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        return subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=self.folder, env=environment, capture_output=True, text=True,
        )  # fmt: skip

    def snakemake(self, *arguments: str, config: str = "small.yaml") -> str:
        done = self.run(*arguments, "--cores", "2", "--configfile", config)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def planned(self, *arguments: str, config: str = "small.yaml") -> set[str]:
        """The jobs of a dry run: rule and wildcards, as `evaluate sts li2024_sentences_fp32_1`."""
        text = self.snakemake("-n", *arguments, "--quiet", "host", config=config)
        found = set()
        for rule, about in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", text, re.M):
            wildcards = re.search(r"^ +wildcards: (.*)$", about, re.M)
            values = [part.split("=", 1)[1] for part in wildcards[1].split(", ")] if wildcards else []
            found.add(" ".join([rule, *values]))
        assert found or "Nothing to be done" in text, text
        return found

    def edit(self, file: str, before: str, after: str) -> None:
        path = self.folder / file
        text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), "utf-8")
