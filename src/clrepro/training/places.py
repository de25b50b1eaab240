"""Where a training keeps its checkpoints; without torch, so that the workflow's graph may ask."""

from pathlib import Path


def best_folder(state: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return state / f"best-{step}"


def checkpoint_folder(root: Path, step: int) -> Path:
    """Where a checkpoint that is kept whatever its score lies, in the state and in the results."""
    return root / "checkpoints" / f"step-{step}"
