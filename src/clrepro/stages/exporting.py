"""A finished run's files go from its state into the results as hard links, and back where only results came."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from clrepro.catalogue import Catalogue
from clrepro.paths import read_json, replacing, room_for, sync, sync_tree, write_json
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


def adopt(catalogue: Catalogue) -> int:
    """Make finished runs that came without their states (from DVC, say) states again; how many.

    Snakemake removes all outputs of a job before it runs: where several runs share a job, a new one would cost its
    finished neighbours another training.
    """
    found = 0
    for run in catalogue.runs:
        if run.objective and run.record.exists():
            with suppress(ValueError, KeyError, TypeError):  # a broken record is no finished run; the report names it
                record = read_json(run.record)
                found += adopt_one(run.state(record["code"], record["inputs"]), run.folder, record)
    return found


def adopt_one(state: Path, folder: Path, record: dict) -> bool:
    """Link a run's results into its state, the record last; whether they were needed and complete."""
    steps = [entry["step"] for entry in record.get("checkpoints", [])]
    pairs = [(folder / "model", best_folder(state, record["best_step"]))]
    pairs += [(checkpoint_folder(folder, step), checkpoint_folder(state, step)) for step in steps]
    if (state / "record.json").exists() or not all((there / "model.safetensors").is_file() for there, _ in pairs):
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
