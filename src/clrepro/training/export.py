"""A finished run's files go from its state into the results as hard links, and back where only results came."""

import os
import shutil
from pathlib import Path

from clrepro.errors import UserError
from clrepro.paths import read_json, replacing, room_for, sha256, sync, sync_tree, write_json
from clrepro.training.places import best_folder, checkpoint_folder


def export(state: Path, folder: Path) -> None:
    """Hard-link a finished run's models, statistics and record into the results (copies across file systems)."""
    folder.mkdir(parents=True, exist_ok=True)
    record = read_json(state / "record.json")
    link_folder(best_folder(state, record["best_step"]), folder / "model")
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    for entry in record.get("checkpoints", []):
        link_folder(checkpoint_folder(state, entry["step"]), checkpoint_folder(folder, entry["step"]))
    if (state / "statistics.json").exists():
        link_file(state / "statistics.json", folder / "statistics.json")
    else:  # an accepted stale run of code that recorded none
        write_json(folder / "statistics.json", {"rows": [], "histograms": [], "settings": {}})
    link_file(state / "record.json", folder / "record.json")


def checked_model(record: Path) -> Path:
    """The folder of a run's model, if its weights are still those of its record."""
    model = read_json(record)["model"]
    weights = Path(model["path"]) / "model.safetensors"
    if not weights.is_file() or sha256(weights) != model["sha256"]:
        state = "does not match the sha256 in" if weights.is_file() else "is missing, but named by"
        raise UserError(f"{weights} {state} {record}; delete that record to make the run again")
    return weights.parent


def model_entry(source: Path, target: Path) -> dict:
    """How a record names the model that lies in ``source`` and goes to ``target``."""
    weights = source / "model.safetensors"
    return {"path": str(target), "sha256": sha256(weights), "bytes": weights.stat().st_size}


def adopt(state: Path, folder: Path, record: dict) -> bool:
    """Link a run's results into its state, the record last; whether they were needed and complete."""
    steps = [entry["step"] for entry in record.get("checkpoints", [])]
    pairs = [(folder / "model", best_folder(state, record["best_step"]))]
    pairs += [(checkpoint_folder(folder, step), checkpoint_folder(state, step)) for step in steps]
    needed = [*(there / "model.safetensors" for there, _ in pairs), folder / "statistics.json"]
    if (state / "record.json").exists() or not all(file.is_file() for file in needed):
        return False
    for there, here in pairs:
        here.parent.mkdir(parents=True, exist_ok=True)
        link_folder(there, here)
    for name in ("statistics.json", "record.json"):
        link_file(folder / name, state / name)
    return True


def link_folder(source: Path, target: Path) -> None:
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    with room_for(target, sum(file.stat().st_size for file in source.rglob("*"))):
        try:
            shutil.copytree(source, fresh, copy_function=link)
            sync_tree(fresh)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)
    sync(target.parent)


def link_file(source: Path, target: Path) -> None:
    with replacing(target) as temporary:
        link(source, temporary)


def link(source: str | Path, target: str | Path) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
    return str(target)
