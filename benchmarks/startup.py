"""What a job of every stage spends before its work begins: imports, reading the configuration, planning.

    python benchmarks/startup.py [--rounds 5] [--stages "train, sentences" table]

Every turn is a fresh process, and the stages take turns. A stage is what its script in scripts/ imports and does
before it touches data, with the modules that its work imports first; the configuration is the demo's. Commands are run
to their end. Printed are medians of wall and CPU seconds (a busy machine makes the wall's longer) and the packages
whose own modules took longest to import, by ``python -X importtime``, which itself makes imports slower.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter

from clrepro.paths import ROOT

HEAVY = 3  # packages named per stage
JOB = """
from pathlib import Path
from clrepro.stages.job import job
from clrepro.config import load
config = load("demo")
"""
STAGE = JOB + "from clrepro import modalities, stages\n"
CATALOGUE = JOB + "from clrepro.catalogue import Catalogue\nCatalogue(config, whole=False)\n"


def evaluating(name: str) -> str:
    return f"{STAGE}modalities.evaluations()[{name!r}].function()\n"


def training(modality: str) -> str:
    return f"{STAGE}import torch, clrepro.objectives, clrepro.modalities.{modality}.training\n"


STAGES = {
    "fetch": f"{STAGE}from clrepro.sources.source import source\n",
    "prepare, sentences": f"{STAGE}import clrepro.modalities.sentence.preparing\n",
    "prepare, images": f"{STAGE}import clrepro.modalities.image.preparing\n",
    "prepare, graphs": f"{STAGE}import clrepro.modalities.graph.preparing\n",
    "train, sentences": training("sentence"),
    "train, images": training("image"),
    "train, graphs": training("graph"),
    "embed, sentences": f"{STAGE}import clrepro.modalities.sentence.embedding\n",
    "embed, images": f"{STAGE}import clrepro.modalities.image.embedding\n",
    "embed, graphs": f"{STAGE}import clrepro.modalities.graph.embedding\n",
    "evaluate, sts": evaluating("sts"),
    "evaluate, transfer": evaluating("transfer"),
    "evaluate, knn": evaluating("knn"),
    "evaluate, svm": evaluating("svm"),
    "table": f"{CATALOGUE}from clrepro.report import tables\n",
    "figure": f"{CATALOGUE}from clrepro.report import figures\n",
    "simulate": f"{JOB}from clrepro import simulation\n",
    "theory": f"{JOB}from clrepro.report import theory\n",
    "report": f"{JOB}from clrepro.catalogue import Catalogue\nfrom clrepro.report import html\nCatalogue(config)\n",
}
COMMANDS = {
    "clrepro --help": ["-m", "clrepro.cli", "--help"],
    "clrepro plan": ["-m", "clrepro.cli", "plan"],
    "snakemake -n": ["-m", "snakemake", "-n", "--quiet", "all", "--nolock"],
}


def run(arguments: list[str]) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds and standard error of a fresh Python."""
    before, started = os.times(), time.monotonic()
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)
    wall, after = time.monotonic() - started, os.times()
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, done.stderr


def arguments_of(name: str) -> list[str]:
    """Of Python; a stage ends without tearing down what it imported."""
    return COMMANDS.get(name) or ["-c", f"{STAGES[name]}import os\nos._exit(0)"]


def packages(importtime: str) -> list[tuple[str, float]]:
    """The packages that took longest, with the seconds of their own modules."""
    found: Counter[str] = Counter()
    for microseconds, module in re.findall(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", importtime, re.M):
        found[module.split(".")[0]] += int(microseconds) / 1e6
    return found.most_common(HEAVY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stages", nargs="+", choices=[*STAGES, *COMMANDS], default=[*STAGES, *COMMANDS])
    asked = parser.parse_args()
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in asked.stages}
    for turn in range(asked.rounds + 1):
        for name in asked.stages:
            wall, cpu, _ = run(arguments_of(name))
            if turn:  # the first turn fills the caches of files and bytecode
                taken[name].append((wall, cpu))
    print("| stage | wall, s | CPU, s | packages that take longest |\n|---|---:|---:|---|")
    for name, times in taken.items():
        wall, cpu = map(statistics.median, zip(*times, strict=True))
        heaviest = packages(run(["-X", "importtime", *arguments_of(name)])[2])
        words = ", ".join(f"{package} {seconds:.2f}" for package, seconds in heaviest)
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {words} |", flush=True)


if __name__ == "__main__":
    main()
