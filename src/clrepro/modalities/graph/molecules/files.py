"""SMILES and labels from zip archives of csv files.

about: what the catalogue says of an archive (`molecules` in sources.yaml). sets: where the set {name} lies in it.
pretraining: where the molecules to pre-train on lie, in a column `smiles`; null: those of all sets. molecules: how many
these are. rows, tasks: of sets that have not the literature's number of either; null: not known before.
"""

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.modalities.graph.molecules.sets import SETS, ListedSet

SMILES = ("smiles", "mol")  # BACE's column has the latter name
LABELS = {"0": -1, "0.0": -1, "1": 1, "1.0": 1, "": 0}


def read_set(archive: Path, about: dict, name: str) -> tuple[list[str], np.ndarray]:
    """SMILES and labels of a set: M texts, int8 (M, T), 1 and -1, 0 where one is missing."""
    one = SETS[name]
    with opened(archive, about["sets"].format(name=one.file)) as (lines, place):
        rows = csv.reader(lines)
        header = next(rows, [])
        column = smiles_column(header, place)
        tasks = task_columns(header, column, one, about, place)
        found = [(row[column], [row[task] for task in tasks]) for row in whole(rows, len(header), place)]
    expected = about.get("rows", {}).get(one.file, one.molecules)
    check_count(len(found), expected, "molecules", place)
    labels = np.array([[LABELS.get(text, 2) for text in texts] for _, texts in found], np.int8).reshape(-1, len(tasks))
    unread = labels == 2 if one.missing else np.isin(labels, (0, 2))
    if unread.any():
        row, task = (int(part[0]) for part in np.nonzero(unread))
        what = "0, 1 or nothing" if one.missing else "0 or 1"
        raise UserError(
            f"{place}, line {row + 2}, column '{header[tasks[task]]}': a label is {what}, found "
            f"'{found[row][1][task][:40]}'; fetch the archive again"
        )
    return [smiles for smiles, _ in found], labels


def pretraining_smiles(archive: Path, about: dict) -> list[str]:
    """The SMILES of all molecules to pre-train on, in the order of the files; some may be there several times."""
    if about["pretraining"] is None:
        return [smiles for name in SETS for smiles in read_set(archive, about, name)[0]]
    with opened(archive, about["pretraining"]) as (lines, place):
        rows = csv.reader(lines)
        header = next(rows, [])
        column = smiles_column(header, place)
        found = [row[column] for row in whole(rows, len(header), place)]
    check_count(len(found), about["molecules"], "molecules", place)
    return found


@contextmanager
def opened(archive: Path, pattern: str) -> Iterator[tuple[Iterator[str], str]]:
    """The lines of the one member that fits a pattern, and what errors call it; damage is a UserError."""
    place = f"{archive}: {pattern}"
    try:
        with zipfile.ZipFile(archive) as content:
            names = [name for name in content.namelist() if fnmatchcase(name, pattern) and not name.endswith("/")]
            if len(names) != 1:
                raise UserError(f"{archive} has {len(names)} files {pattern}, expected 1; is it another archive?")
            place = f"{archive}: {names[0]}"
            with content.open(names[0]) as raw:
                plain = gzip.GzipFile(fileobj=raw) if names[0].endswith(".gz") else raw
                yield io.TextIOWrapper(plain, "utf-8", newline=""), place
    except (zipfile.BadZipFile, OSError, EOFError, zlib.error, csv.Error, UnicodeDecodeError) as failure:
        raise UserError(f"{place} cannot be read ({failure}); fetch the archive again") from None


def whole(rows: Iterator[list[str]], width: int, place: str) -> Iterator[list[str]]:
    """Rows of the header's width; another one is refused."""
    for row in rows:
        if len(row) != width:
            raise UserError(f"{place} has a row of {len(row)} fields, expected {width}; fetch the archive again")
        yield row


def smiles_column(header: list[str], place: str) -> int:
    found = [name for name in SMILES if name in header]
    if not found:
        raise UserError(f"{place} has no column {' or '.join(SMILES)}, but {', '.join(header[:5])}; is it another set?")
    return header.index(found[0])


def task_columns(header: list[str], smiles: int, one: ListedSet, about: dict, place: str) -> list[int]:
    """The columns of a set's tasks."""
    expected = about.get("tasks", {}).get(one.file)
    if one.columns is not None and expected is None:
        if lacking := [name for name in one.columns if name not in header]:
            raise UserError(f"{place} has no column {', '.join(lacking[:3])}; is it another set?")
        return [header.index(name) for name in one.columns]
    found = [column for column in range(len(header)) if column != smiles]
    check_count(len(found), expected or one.tasks, "tasks", place)
    return found


def check_count(found: int, expected: int | None, what: str, place: str) -> None:
    if expected is not None and found != expected:
        raise UserError(f"{place} has {found:,} {what}, expected {expected:,}; is it another edition of the set?")
