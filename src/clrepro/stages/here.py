"""All stages of chosen runs in this process, one after the other, without Snakemake."""

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from clrepro.modalities.run import Build, Run
from clrepro.paths import STATE
from clrepro.settings import Common
from clrepro.stages.evaluating import Asked, evaluate, evaluate_checkpoints
from clrepro.stages.preparing import embed, fetch, prepare
from clrepro.stages.training import is_first_process, train, wait_for


def run_here(runs: list[Run], asked: list[tuple[Run, list[Asked]]], builds: Iterable[Build], config: Common) -> None:
    """Make ready what the runs read, train them, and evaluate them as asked; what is there already stays.

    Of several processes that a launcher started only the first one prepares and evaluates.
    """
    builds = list(builds)
    inputs = [source for plan in dict.fromkeys(run.plan for run in runs) for source in plan.inputs(config)]
    if is_first_process():
        needed = [source for build in builds for source in build.sources] + inputs
        for source in {source.name: source for source in needed}.values():
            if not source.record.exists():
                fetch(source, config)
        for build in builds:
            if not build.manifest.exists():
                prepare(build, config)
    else:
        wait_for([*(source.record for source in inputs), *(build.manifest for build in builds)])
    train(runs, config)
    if is_first_process():
        evaluate_here(asked, config)


def evaluate_here(asked: list[tuple[Run, list[Asked]]], config: Common) -> None:
    """Evaluations of features by modality, then those of checkpoints."""
    (STATE / config.scale).mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="features-", dir=STATE / config.scale))
    parts = {
        reads: [(run, kept) for run, some in asked if (kept := [one for one in some if one.about.reads == reads])]
        for reads in ("features", "checkpoint")
    }
    try:
        for plan in dict.fromkeys(run.plan for run, _ in parts["features"]):
            own = [(run, some) for run, some in parts["features"] if run.plan is plan]
            embed([run for run, _ in own], config, folder)
            evaluate(own, config, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if parts["checkpoint"]:
        evaluate_checkpoints(parts["checkpoint"], config)
