"""Evaluate finished runs: on their stored features, or from their checkpoints."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clrepro import modalities
from clrepro.console import say
from clrepro.errors import Interrupted
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Run
from clrepro.paths import STATE, digest, read_json, write_json
from clrepro.settings import Common
from clrepro.training.environment import versions
from clrepro.training.export import link_file
from clrepro.training.float32 import choose_arithmetic
from clrepro.workflow import fingerprint, manifest, provenance


@dataclass(frozen=True)
class Asked:
    """One evaluation of one run. kinds: of the scores that are asked. seeds: of one with repetitions of its own."""

    evaluation: str
    kinds: list[str]
    protocol: Any
    seeds: list[int] | None = None

    @property
    def about(self) -> Evaluation:
        return modalities.evaluations()[self.evaluation]

    @property
    def given(self) -> dict[str, Any]:
        """What a job is handed of it."""
        return asdict(self)

    def repeated(self, rows_of: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        """The content of its file: once, or its rows by seed."""
        if self.seeds is None:
            return rows_of()
        parts = {str(seed): rows_of(seed=seed) for seed in self.seeds}
        first = next(iter(parts.values()))
        return {**first, "rows": [], "seeds": {seed: part["rows"] for seed, part in parts.items()}}


def evaluate(runs: list[tuple[Run, list[Asked]]], config: Common, folder: Path) -> None:
    """Evaluate features that lie in folder/<run.name>.npz, and write rows [task, split, metric, value]."""
    manifest.clear(evaluated_files(runs))
    for number, (run, asked) in enumerate(runs, 1):
        shows = any(one.about.uses_gpu(one.protocol) for one in asked)
        if shows:  # the others need no torch, whose import takes seconds
            choose_arithmetic(config)
        features = run.plan.work_module().load(run, config, folder / f"{run.name}.npz", shows)
        for one in asked:
            function = partial(one.about.function(), features, one.protocol, one.kinds)
            if one.about.resumes(one.protocol):
                resume(run, one, config, function)
            else:
                write_json(run.folder / one.about.file, one.repeated(function))
        say(f"[{number}/{len(runs)}] {run.folder}: {', '.join(one.about.file for one in asked)}")


def resume(run: Run, one: Asked, config: Common, function: Callable[..., dict[str, Any]]) -> None:
    """An evaluation of features that is as long as a training: what was begun goes on where it stopped."""
    from clrepro.training.loop import StopFlag

    decides = decided_by(run, one, config) | {
        "kinds": one.kinds,
        "inputs": run.plan.work_module().inputs_digest(run, config),
        "embedding": fingerprint.of_modules(run.plan.code["embed"]),
    }
    with StopFlag() as stop, threads(config.jobs.threads):
        finish(run, one, decides, lambda state: one.repeated(in_places(partial(function, stop=stop), state)))
        if stop.requested:
            raise Interrupted(f"stopped after {one.evaluation} of {run.folder}; what is finished is kept")


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads of torch meanwhile."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def evaluate_checkpoints(runs: list[tuple[Run, list[Asked]]], config: Common) -> None:
    """Evaluate what is not yet finished from its checkpoint; what was begun goes on where it stopped."""
    import torch

    from clrepro.training.loop import StopFlag

    torch.set_num_threads(config.jobs.threads)
    choose_arithmetic(config)
    pairs = [(run, one, decided_by(run, one, config)) for run, asked in runs for one in asked]
    manifest.clear(run.folder / one.about.file for run, one, how in pairs if not finished(run, one, how).exists())
    with StopFlag() as stop:
        for number, (run, one, decides) in enumerate(pairs, 1):
            say(f"[{number}/{len(pairs)}] {run.folder}: {one.evaluation}")
            content = partial(measured, run, one, config, stop=stop)
            finish(run, one, decides, lambda state, decides=decides, content=content: {**decides, **content(state)})
            if stop.requested and number < len(pairs):
                raise Interrupted(f"stopped after {number} of {len(pairs)}; what is finished is kept")


def finish(run: Run, one: Asked, decides: dict[str, Any], content: Callable[[Path], dict[str, Any]]) -> None:
    """Make the file of an evaluation that resumes, unless it is finished, and link it beside the run's record."""
    from clrepro.training import saved

    file = finished(run, one, decides)
    if not file.exists():
        write_json(file, content(file.parent))
        for place in (file.parent, *file.parent.glob("seed*")):
            saved.finish(place)
    link_file(file, run.folder / file.name)


def in_places(function: Callable[..., dict[str, Any]], state: Path) -> Callable[..., dict[str, Any]]:
    """The function with a state of its own for every seed."""
    return lambda **seed: function(state=state / f"seed{seed['seed']}" if seed else state, **seed)


def finished(run: Run, one: Asked, decides: dict[str, Any]) -> Path:
    """Where the result of an evaluation lies once it is finished, with what it keeps on the way."""
    return STATE / run.scale / f"{one.evaluation}-{run.name}-{digest(decides)}" / one.about.file


def decided_by(run: Run, one: Asked, config: Common) -> dict[str, Any]:
    """What decides the scores: settings, code, seed, the encoder's weights and the data."""
    records = [record for build in one.about.builds(config) for record in build.records]
    return {
        "protocol": one.protocol,
        "code": fingerprint.of_modules(one.about.code),
        "seed": run.seed,
        "repetitions": one.seeds,
        "model": read_json(run.record)["model"]["sha256"],
        "data": [read_json(record)["sha256"] for record in records],
    }


def measured(run: Run, one: Asked, config: Common, state: Path, stop: Any) -> dict[str, Any]:
    """The content of an evaluation's file, with time, energy and machine."""
    started, energy = time.perf_counter(), provenance.Energy()
    function = partial(one.about.function(), run, config, one.protocol, stop=stop)
    content = one.repeated(in_places(function, state))
    return {
        **content,
        "seconds": round(time.perf_counter() - started, 2),
        "energy_wh": energy.used(),
        "commit": provenance.commit(),
        "hardware": provenance.hardware(content.get("device", "cpu")),
        "environment": versions(),
    }


def asked_from(given: list[dict[str, Any]]) -> list[tuple[Run, list[Asked]]]:
    """Runs and what is asked of them, from what a job is handed (clrepro.catalogue.jobs)."""
    return [(modalities.run_from(part["run"]), [Asked(**one) for one in part["asked"]]) for part in given]


def evaluated_files(runs: list[tuple[Run, list[Asked]]]) -> list[Path]:
    """What a job of evaluations writes."""
    return [run.folder / one.about.file for run, asked in runs for one in asked]
