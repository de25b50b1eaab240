"""Train runs and record them."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from clrepro.catalogue import Catalogue, Run
from clrepro.errors import Interrupted, UserError
from clrepro.paths import read_json, sha256, write_json
from clrepro.stages.common import inputs_digest, say
from clrepro.stages.exporting import export
from clrepro.training.places import best_folder, checkpoint_folder
from clrepro.workflow import locks, provenance


def train(catalogue: Catalogue, runs: list[Run]) -> None:
    """Train what is not yet finished and export every run's record, statistics and model.

    Of several processes that train together only the first one writes; they are started here, unless a launcher did.
    """
    if catalogue.config.jobs.processes > 1 and "RANK" not in os.environ:
        from clrepro.stages.launching import launch

        return launch(catalogue, runs)
    import torch

    from clrepro.training.loop import StopFlag
    from clrepro.training.saved import finish

    torch.set_num_threads(catalogue.config.jobs.threads)
    first = is_first_process()
    with StopFlag() as stop:
        for number, run in enumerate(runs, 1):
            if first:
                say(f"[{number}/{len(runs)}] {run.folder}")
            if run.objective:
                state = finished_state(catalogue, run)
                with alone(state, stop):
                    record = None if (state / "record.json").exists() else train_one(catalogue, run, state, stop)
                    if record:
                        write_json(state / "record.json", record)
                    if first:
                        finish(state, read_json(state / "record.json")["best_step"])
                        export(state, run.folder)
            elif first:
                if run.recipe.held_out:
                    measure_untrained(catalogue, run)
                write_json(run.record, pretrained_record(run))
            if stop.requested and number < len(runs):
                raise Interrupted(f"stopped after run {number} of {len(runs)}; what is finished is kept")


@contextmanager
def alone(state: Path, stop) -> Iterator[None]:
    """Wait while another process works on the same state: a job that outlived the workflow that started it.

    Of several processes that train together only the first one asks, and it does not wait: the others would not.
    """
    if not is_first_process():
        yield
        return
    file, waits = state / "lock", False
    while not (handle := locks.hold(file)):
        who = locks.described(locks.holder(file))
        if os.environ.get("WORLD_SIZE", "1") != "1":
            raise UserError(f"{state} is being trained by {who}; wait for it, or end it")
        if stop.requested:
            raise Interrupted(f"stopped while {state} was being trained by {who}")
        if not waits:
            say(f"    waits for {who}, which trains this run")
        waits = True
        time.sleep(0.5)
    try:
        yield
    finally:
        handle.close()


def is_first_process() -> bool:
    """Whether this is the process that writes, of those that torchrun or accelerate started."""
    return os.environ.get("RANK", "0") == "0"


def wait_for(files: Iterable[Path]) -> None:
    """Wait until the first process has written what training reads; a launcher ends all if that one fails."""
    for file in files:
        while not file.exists():
            time.sleep(0.5)


def finished_state(catalogue: Catalogue, run: Run) -> Path:
    """The state folder of a run: of today's code, or, for an accepted stale run, of the code that finished it."""
    inputs = inputs_digest(catalogue, run)
    state = run.state(run.code, inputs)
    if not (state / "record.json").exists() and catalogue.accepts_stale(run):
        older = sorted(state.parent.glob(f"{run.state('*', inputs).name}/record.json"), key=os.path.getmtime)
        if older:
            return older[-1].parent
    return state


def pretrained_record(run: Run) -> dict:
    """The record of weights that need no training."""
    weights = read_json(run.backbone.records[1])
    model = {"path": weights["path"], "sha256": weights["sha256"]}
    return {
        "identity": run.identity,
        "seed": None,
        "code": run.code,
        "model": model,
        "steps": 0,
    }


def measure_untrained(catalogue: Catalogue, run: Run) -> None:
    """Statistics of an encoder before training, where a figure compares it with trained ones."""
    from clrepro.modalities.sentence.training import measure_encoder

    run.folder.mkdir(parents=True, exist_ok=True)
    settings = run.recipe.model_dump()
    measure_encoder(settings, **inputs(catalogue, run), file=run.folder / "statistics.json")


def inputs(catalogue: Catalogue, run: Run) -> dict:
    """Where what a training reads lies, and the device it runs on."""
    return {
        "tokens": run.backbone.folder,
        "backbone": Path(read_json(run.backbone.records[1])["path"]),
        "tasks": Path(read_json(catalogue.tasks.record)["path"]),
        "device": catalogue.config.device,
    }


def train_one(catalogue: Catalogue, run: Run, state: Path, stop) -> dict | None:
    """One training; leaves the best checkpoint in state/best-<step> and returns the record, in the first process."""
    from clrepro.objectives import make

    if run.modality == "image":
        from clrepro.modalities.image.training import train_encoder

        read = {
            "data": run.backbone.folder,
            "encoder": run.backbone.encoder,
            "device": catalogue.config.device,
            "anchored": run.objective == "oar",
        }
    else:
        from clrepro.modalities.sentence.training import train_encoder

        read = inputs(catalogue, run)
    objective = make(run.objective, run.variant, **run.params)
    started, energy = time.perf_counter(), provenance.Energy()
    result = train_encoder(
        objective,
        run.recipe.model_dump(),
        run.seed,
        **read,
        state=state,
        stop=stop,
        title=f"{run.backbone.key} {objective}",
    )
    if result is None:
        return None
    earlier = result.pop("earlier_seconds")
    seconds = earlier + time.perf_counter() - started
    if run.modality == "image":
        del result["best_score"]  # nothing was selected: the last checkpoint is the result
        best = result["diverged"]["cause"] if "diverged" in result else f"{result['steps']} steps"
    else:
        best = f"best STS-B dev {result['best_score']:.4f} at step {result['best_step']} of {result['steps']}"
    say(f"    {best}, {seconds:.1f} s")
    return {
        "identity": run.identity,
        "seed": run.seed,
        "code": run.code,
        "inputs": inputs_digest(catalogue, run),
        "model": model_entry(best_folder(state, result["best_step"]), run.folder / "model"),
        "checkpoints": [
            {"step": step, **model_entry(checkpoint_folder(state, step), checkpoint_folder(run.folder, step))}
            for step in kept_steps(run, result["steps"])
        ],
        **result,
        "seconds": round(seconds, 2),
        "energy_wh": None if earlier else energy.used(),  # nobody knows what earlier starts used
        "commit": provenance.commit(),
        "hardware": provenance.hardware(result["device"]),
        "environment": environment(),
    }


def kept_steps(run: Run, steps: int) -> list[int]:
    """The steps whose checkpoints are kept besides the best one."""
    every = run.recipe.checkpoint_every if run.modality == "sentence" else None
    return list(range(every, steps + 1, every)) if every else []


def model_entry(source: Path, target: Path) -> dict:
    """How a record names the model that lies in ``source`` and goes to ``target``."""
    weights = source / "model.safetensors"
    return {"path": str(target), "sha256": sha256(weights), "bytes": weights.stat().st_size}


@cache
def environment() -> dict[str, str]:
    """The versions that a number may depend on."""
    import platform
    from importlib.metadata import version

    packages = ("torch", "transformers", "tokenizers", "accelerate", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
