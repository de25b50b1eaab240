"""A finished run's files go from its state into the results as hard links."""

import os
import shutil
from pathlib import Path

from clrepro.paths import read_json, replacing, room_for, sync, sync_tree, write_json


def export(state: Path, folder: Path) -> None:
    """Hard-link a finished run's models, probes and record into the results (copies across file systems)."""
    from clrepro.training.progress import best_folder, checkpoint_folder

    folder.mkdir(parents=True, exist_ok=True)
    record = read_json(state / "record.json")
    link_folder(best_folder(state, record["best_step"]), folder / "model")
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    for entry in record.get("checkpoints", []):
        link_folder(checkpoint_folder(state, entry["step"]), checkpoint_folder(folder, entry["step"]))
    if (state / "probes.json").exists():
        link_file(state / "probes.json", folder / "probes.json")
    else:  # an accepted stale run of code that recorded none
        write_json(folder / "probes.json", {"rows": [], "histograms": [], "settings": {}})
    link_file(state / "record.json", folder / "record.json")


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
