"""Snakemake's records of its jobs travel with the results, so that a copy of them knows how they were made.

Snakemake keeps a small JSON file for every output below ``.snakemake``: the job's parameters, its inputs and their
sha256. Without it, it cannot see that a parameter has changed, and takes whatever file lies there. ``save`` writes
the records of a scale to ``results/<scale>/provenance.jsonl``, one a line; ``load`` puts them back.
"""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.paths import RESULTS, write_json

SNAKEMAKE = Path(".snakemake")
RECORDS = SNAKEMAKE / "metadata"


def stored(catalogue: Catalogue) -> Path:
    """The file that holds a scale's records, one a line, sorted by target."""
    return RESULTS / catalogue.config.scale / "provenance.jsonl"


def save(catalogue: Catalogue) -> None:
    """Write the records of this scale's targets, temporary ones included: whether a temporary file is needed again is
    read from its record. The file stays untouched where nothing changed.
    """
    file, scale = stored(catalogue), catalogue.config.scale
    folders = (f"results/{scale}/", f"data/prepared/{scale}/")
    files = {f"results/metrics/{scale}.json", *(str(source.record) for source in catalogue.sources())}
    rows = {}
    for path in (Path(folder) / name for folder, _, names in os.walk(RECORDS) for name in names):
        target = target_of(path)
        ours = target.startswith(folders) or target in files
        if ours and Path(target).parent.exists() and (record := read(path)):
            rows[target] = record
    text = "".join(json.dumps({"target": target, **rows[target]}, sort_keys=True) + "\n" for target in sorted(rows))
    if text and (not file.exists() or file.read_text("utf-8") != text):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        temporary.write_text(text, "utf-8")
        os.replace(temporary, file)
        note_seen(catalogue)


def load(catalogue: Catalogue) -> bool:
    """Put the stored records back; whether any was.

    The local record of a file that lies here and that a local job made is the true one and stays. Any other is
    replaced: with files from elsewhere and the records of an earlier configuration, Snakemake would keep wrong files.
    """
    file = stored(catalogue)
    if not file.exists() or seen(catalogue):
        return False
    (SNAKEMAKE / "incomplete").mkdir(parents=True, exist_ok=True)  # Snakemake converts folders that lack it
    RECORDS.mkdir(exist_ok=True)
    longest = os.pathconf(RECORDS, "PC_NAME_MAX")
    changed = kept = False
    for record in rows_of(file):
        target = record.pop("target")
        path = place(target, longest)
        local = read(path)
        if local == record:
            continue
        if local and made_here(target, local):
            kept = True
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record), "utf-8")
        changed = True
    if not kept:  # else the file does not know of newer results, and what it says may be needed again
        note_seen(catalogue)
    return changed


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    """The stored records with their targets."""
    with open(file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                row["target"]
            except (ValueError, TypeError, KeyError):
                raise UserError(
                    f"{file}, line {number}, is no job record: get the file again (`dvc checkout {file}`), or delete "
                    "it; Snakemake then cannot see changed parameters of results from elsewhere"
                ) from None
            yield row


def place(target: str, longest: int) -> Path:
    """Where Snakemake keeps a target's record: its name in base64, a long one cut into folders marked with @."""
    name = base64.urlsafe_b64encode(target.encode()).decode()
    parts = [name[start : start + longest - 1] for start in range(0, len(name), longest - 1)]
    return RECORDS.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def target_of(path: Path) -> str:
    parts = path.relative_to(RECORDS).parts
    return base64.urlsafe_b64decode("".join(part.removeprefix("@") for part in parts)).decode()


def read(path: Path) -> dict[str, Any] | None:
    """A local record; None where there is none, or only the beginning of one that a kill left."""
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def made_here(target: str, record: dict[str, Any]) -> bool:
    """Whether the file on disk is the one that the recorded job made: Snakemake notes its time as the job's end."""
    try:
        return abs(os.stat(target).st_mtime - (record.get("endtime") or 0)) < 0.001
    except FileNotFoundError:
        return False


# reading thousands of records takes a second: a file that was read or written here is not read again


def stamp(catalogue: Catalogue) -> tuple[Path, list[int]]:
    status = stored(catalogue).stat()
    return SNAKEMAKE / f"clrepro-{catalogue.config.scale}.json", [status.st_mtime_ns, status.st_size, status.st_ino]


def note_seen(catalogue: Catalogue) -> None:
    write_json(*stamp(catalogue))


def seen(catalogue: Catalogue) -> bool:
    file, current = stamp(catalogue)
    return RECORDS.is_dir() and read(file) == current
