"""What is done with sentence encoders; imports of torch stay inside, where the work needs them."""

from pathlib import Path
from typing import Any

from clrepro.modalities.run import Run
from clrepro.modalities.sentence import stored
from clrepro.paths import digest, read_json
from clrepro.settings import Common
from clrepro.sources.source import source


def inputs_digest(run: Run, config: Common) -> str:
    """What a training read, by content: the tokens, the backbone's weights, the evaluation sets."""
    tokens, backbone = map(read_json, run.backbone.records)
    return digest([tokens["sha256"], backbone["sha256"], read_json(source(config.sentence.tasks).record)["sha256"]])


def inputs(run: Run, config: Common) -> dict[str, Any]:
    """Where what a training reads lies, and the device it runs on."""
    return {
        "tokens": run.backbone.folder,
        "backbone": Path(read_json(run.backbone.records[1])["path"]),
        "tasks": Path(read_json(source(config.sentence.tasks).record)["path"]),
        "device": config.device,
    }


def train(run: Run, config: Common, state: Path, stop: Any) -> dict | None:
    """One training, its best checkpoint by STS-B dev; see `training.train_encoder`."""
    from clrepro.modalities.sentence.training import train_encoder
    from clrepro.objectives import make

    objective = make(run.objective, run.variant, **run.params)
    title = f"{run.backbone.key} {objective}"
    settings = run.recipe.model_dump()
    return train_encoder(objective, settings, run.seed, **inputs(run, config), state=state, stop=stop, title=title)


def said(result: dict) -> str:
    """The outcome of a training in a line."""
    return f"best STS-B dev {result['best_score']:.4f} at step {result['best_step']} of {result['steps']}"


def kept_steps(run: Run, steps: int) -> list[int]:
    """The steps whose checkpoints are kept besides the best one."""
    every = run.recipe.checkpoint_every
    return list(range(every, steps + 1, every)) if every else []


def record_untrained(run: Run, config: Common) -> dict:
    """The record of weights that nothing trains; writes their statistics, where a figure compares these."""
    from clrepro.modalities.sentence.training import measure_encoder

    if run.recipe.held_out:
        run.folder.mkdir(parents=True, exist_ok=True)
        measure_encoder(run.recipe.model_dump(), **inputs(run, config), file=run.folder / "statistics.json")
    weights = read_json(run.backbone.records[1])
    model = {"path": weights["path"], "sha256": weights["sha256"]}
    return {"identity": run.identity, "seed": None, "code": run.code, "model": model, "steps": 0}


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    from clrepro.modalities.sentence.embedding import embed as embed_all

    embed_all(runs, config, folder)


def load(run: Run, config: Common, file: Path, uses_gpu: bool) -> stored.Stored:
    return stored.load(file, source(config.sentence.tasks))
