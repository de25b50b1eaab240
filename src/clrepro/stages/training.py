"""Train runs and record them."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clrepro.console import say
from clrepro.errors import Interrupted
from clrepro.modalities.run import Run
from clrepro.paths import read_json, write_json
from clrepro.settings import Common
from clrepro.stages.launching import launch
from clrepro.training import export
from clrepro.training.alone import alone, is_first_process
from clrepro.training.environment import versions
from clrepro.training.float32 import choose_arithmetic
from clrepro.training.places import best_folder, checkpoint_folder
from clrepro.workflow import manifest, provenance


def train(runs: list[Run], config: Common) -> None:
    """Train what is not yet finished and export every run's record, statistics and model.

    Of several processes that train together only the first one writes; they are started here, unless a launcher did.
    """
    if config.jobs.processes > 1 and "RANK" not in os.environ:
        return launch(runs, config)
    import torch

    from clrepro.training.loop import StopFlag
    from clrepro.training.saved import finish

    torch.set_num_threads(config.jobs.threads)
    choose_arithmetic(config)
    first = is_first_process()
    if first:
        manifest.clear(file for run in runs if not is_finished(run, config) for file in run.files)
    with StopFlag() as stop:
        for number, run in enumerate(runs, 1):
            if first:
                say(f"[{number}/{len(runs)}] {run.folder}")
            if run.objective:
                state = finished_state(run, config)
                with alone(state, stop):
                    record = None if (state / "record.json").exists() else train_one(run, config, state, stop)
                    if record:
                        write_json(state / "record.json", record)
                    if first:
                        finish(state, read_json(state / "record.json")["best_step"])
                        export.export(state, run.folder)
            elif first:
                write_json(run.record, run.plan.work_module().record_untrained(run, config))
            if stop.requested and number < len(runs):
                raise Interrupted(f"stopped after run {number} of {len(runs)}; what is finished is kept")


def wait_for(files: Iterable[Path]) -> None:
    """Wait until the first process has written what training reads; a launcher ends all if that one fails."""
    for file in files:
        while not file.exists():
            time.sleep(0.5)


def finished_state(run: Run, config: Common) -> Path:
    """The state folder of a run: of today's code, or, for an accepted stale run, of the code that finished it."""
    inputs = run.plan.work_module().inputs_digest(run, config)
    state = run.state(run.code, inputs)
    if not (state / "record.json").exists() and run.is_accepted(config):
        older = sorted(state.parent.glob(f"{run.state('*', inputs).name}/record.json"), key=os.path.getmtime)
        if older:
            return older[-1].parent
    return state


def is_finished(run: Run, config: Common) -> bool:
    return bool(run.objective) and (finished_state(run, config) / "record.json").exists()


def train_one(run: Run, config: Common, state: Path, stop) -> dict | None:
    """One training; leaves the best checkpoint in state/best-<step> and returns the record, in the first process."""
    work = run.plan.work_module()
    started, energy = time.perf_counter(), provenance.Energy()
    result = work.train(run, config, state, stop)
    if result is None:
        return None
    earlier = result.pop("earlier_seconds")
    seconds = earlier + time.perf_counter() - started
    say(f"    {work.said(result)}, {seconds:.1f} s")
    return {
        "identity": run.identity,
        "seed": run.seed,
        "code": run.code,
        "inputs": work.inputs_digest(run, config),
        "model": export.model_entry(best_folder(state, result["best_step"]), run.folder / "model"),
        "checkpoints": [
            {"step": step, **export.model_entry(checkpoint_folder(state, step), checkpoint_folder(run.folder, step))}
            for step in work.kept_steps(run, result["steps"])
        ],
        **result,
        "seconds": round(seconds, 2),
        "energy_wh": None if earlier else energy.used(),  # nobody knows what earlier starts used
        "commit": provenance.commit(),
        "hardware": provenance.hardware(result["device"]),
        "environment": versions(),
    }


def adopt(runs: Iterable[Run]) -> int:
    """Make finished runs that came without their states (from DVC, say) states again; how many.

    A job removes what it is about to make: where several runs share a job, a new one would cost its finished
    neighbours another training.
    """
    found = 0
    for run in runs:
        if run.objective and run.record.exists():
            with suppress(OSError, ValueError, KeyError, TypeError):  # no finished run; the report names what is broken
                record = read_json(run.record)
                found += export.adopt(run.state(record["code"], record["inputs"]), run.folder, record)
    return found
