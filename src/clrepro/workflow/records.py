"""Snakemake's records of its jobs travel with the results, so that a copy of them knows how they were made.

Snakemake keeps a small JSON file for every output below ``.snakemake``: the job's parameters, its inputs and their
sha256. Without it, it cannot see that a parameter has changed, and takes whatever file lies there. ``save`` writes
the records of a scale to ``results/<scale>/provenance.jsonl``, one a line; ``load`` puts them back.
"""

import base64
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from clrepro.console import say
from clrepro.errors import UserError
from clrepro.paths import RESULTS, write_json
from clrepro.sources.source import Source

SNAKEMAKE = Path(".snakemake")
RECORDS = SNAKEMAKE / "metadata"


def stored(scale: str) -> Path:
    """The file that holds a scale's records, one a line, sorted by target."""
    return RESULTS / scale / "provenance.jsonl"


def save(scale: str, sources: Iterable[Source]) -> None:
    """Write the records of this scale's targets, temporary ones included: whether a temporary file is needed again is
    read from its record. The file stays untouched where nothing changed.
    """
    file = stored(scale)
    folders = (f"results/{scale}/", f"data/prepared/{scale}/")
    files = {f"results/metrics/{scale}.json", *(str(source.record) for source in sources)}
    rows = {}
    for path in (Path(folder) / name for folder, _, names in os.walk(RECORDS) for name in names):
        target = target_of(path)
        ours = target.startswith(folders) or target in files
        # features are temporary, and so is the folder of all of them
        kept = Path(target).parent.exists() or target.startswith(f"results/{scale}/features/")
        if ours and kept and (record := read(path)):
            rows[target] = record
    text = "".join(json.dumps({"target": target, **rows[target]}, sort_keys=True) + "\n" for target in sorted(rows))
    if text and (not file.exists() or file.read_text("utf-8") != text):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        temporary.write_text(text, "utf-8")
        os.replace(temporary, file)
        note_seen(scale)


def waiting(scale: str) -> bool:
    """Whether records lie beside the results that this working directory has not put back."""
    return stored(scale).exists() and not seen(scale)


def tell_waiting(scale: str) -> None:
    """Say so in a dry run, which writes nothing."""
    if waiting(scale):
        say(
            f"{stored(scale)} came with results that were made elsewhere. Its records are put back when the workflow "
            "starts; until then a dry run cannot see changed parameters (`clrepro records --load` puts them back now)."
        )


def load(scale: str) -> bool:
    """Put the stored records back; whether any was.

    The local record of a file that lies here and that a local job made is the true one and stays. Any other is
    replaced: with files from elsewhere and the records of an earlier configuration, Snakemake would keep wrong files.
    """
    file = stored(scale)
    if not waiting(scale):
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
        note_seen(scale)
    return changed


def forget(targets: Iterable[str]) -> None:
    """Have Snakemake make these again, whatever depends on them: today's parameters differ from none.

    A missing file alone is no reason to it, as long as all that was made of the file is there.
    """
    if not RECORDS.is_dir():
        return
    longest = os.pathconf(RECORDS, "PC_NAME_MAX")
    for target in targets:
        path = place(target, longest)
        if record := read(path):
            write_json(path, {**record, "params": []})


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


def stamp(scale: str) -> tuple[Path, list[int]]:
    status = stored(scale).stat()
    return SNAKEMAKE / f"clrepro-{scale}.json", [status.st_mtime_ns, status.st_size, status.st_ino]


def note_seen(scale: str) -> None:
    write_json(*stamp(scale))


def seen(scale: str) -> bool:
    file, current = stamp(scale)
    return RECORDS.is_dir() and read(file) == current
