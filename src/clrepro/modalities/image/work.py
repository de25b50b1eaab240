"""What is done with image encoders; imports of torch stay inside, where the work needs them."""

from pathlib import Path
from typing import Any

from clrepro.modalities.run import Run
from clrepro.paths import read_json
from clrepro.settings import Common


def inputs_digest(run: Run, config: Common) -> str:
    """What a training read, by content: the images."""
    return read_json(run.backbone.records[0])["sha256"]


def train(run: Run, config: Common, state: Path, stop: Any) -> dict | None:
    """One training, its last checkpoint; see `training.train_encoder`."""
    from inspect import signature

    from clrepro.modalities.image.training import train_encoder
    from clrepro.objectives import make

    objective = make(run.objective, run.variant, **run.params)
    result = train_encoder(
        objective,
        run.recipe.model_dump(),
        run.seed,
        data=run.backbone.folder,
        encoder=run.backbone.encoder,
        device=config.device,
        state=state,
        stop=stop,
        title=f"{run.backbone.key} {objective}",
        anchored="anchors" in signature(objective.function).parameters,
    )
    if result is not None:
        del result["best_score"]  # nothing was selected: the last checkpoint is the result
    return result


def said(result: dict) -> str:
    """The outcome of a training in a line."""
    return result["diverged"]["cause"] if "diverged" in result else f"{result['steps']} steps"


def kept_steps(run: Run, steps: int) -> list[int]:
    """No checkpoint is kept besides the last one."""
    return []


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    from clrepro.modalities.image.embedding import embed as embed_all

    embed_all(runs, config, folder)


def load(run: Run, config: Common, file: Path, uses_gpu: bool) -> Any:
    from clrepro.modalities.image.stored import load as load_stored

    return load_stored(run, config, file, uses_gpu)
