"""Reference results: what was measured, small enough to lie in the repository, with the records that prove it."""

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from clrepro.catalogue import Catalogue, papers
from clrepro.errors import UserError
from clrepro.ledger import Records, cells
from clrepro.ledger.claims import evaluate
from clrepro.ledger.comparison import ADDRESS, read_cells
from clrepro.ledger.scores import run_id, scores
from clrepro.modalities.run import Run
from clrepro.paths import RESULTS, write_text
from clrepro.report import theory

FOLDER = RESULTS / "reference"
RUNS, CLAIMS, CELLS, MADE = "runs.jsonl", "claims.csv", "ledger.csv", "environment.json"
# of a record, what says which training it was; its history stays where it was made
KEPT = ("identity", "seed", "code", "inputs", "steps", "diverged", "seconds", "commit", "hardware", "environment")


def write(catalogue: Catalogue) -> Path:
    """Copy a scale's filled tables, and figures, to results/reference/<scale>, with claims and records beside them.

    ledger.csv has the filled cells, with the runs behind each. runs.jsonl has a line a run: its name, record, rows of
    its evaluations, and the mean of each statistic over the recorded steps of its training; environment.json counts the
    runs by commit, versions and hardware. theory.csv and theory.md are the checks of the papers' equations. Tables that
    the configuration does not ask for stay as they are there; so do cells, runs and claims that nothing is known of
    today.
    """
    target, records = FOLDER / catalogue.config.scale, Records()
    filled = [
        table for table in catalogue.tables if any(scores(catalogue, cell, records).by_seed for cell in table.cells)
    ]
    if not filled:
        raise UserError(f"no table of {catalogue.files.root} has a number yet; run the workflow first")
    files = [
        catalogue.files.table_folder(table) / f"{table.name}.{suffix}" for table in filled for suffix in ("csv", "md")
    ]
    files += [
        file for figure in catalogue.figures for file in catalogue.files.of_figure(figure) if file.suffix != ".png"
    ]
    for file in files:
        if not file.is_file():
            raise UserError(f"{file} is missing; run the workflow to its end first")
        place = target / file.relative_to(catalogue.files.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    for figure in catalogue.figures:
        if figure.scores and not figure.statistics:  # all that training recorded: its means are in runs.jsonl
            place = target / catalogue.files.figure_csv(figure).relative_to(catalogue.files.root)
            table = pd.read_csv(place)
            write_text(place, table[table["statistic"].isin(figure.scores)].to_csv(index=False))
    known = {entry["run"]: entry for entry in read(target / RUNS)}
    entries = (entry(catalogue, run, records) for run in catalogue.runs)
    known |= {one["run"]: one for one in entries if one}
    write_text(target / RUNS, "".join(json.dumps(known[name]) + "\n" for name in sorted(known)))
    write_text(target / MADE, json.dumps(environments(known.values()), indent=1) + "\n")
    write_claims(catalogue, target / CLAIMS, records)
    write_cells(catalogue, target / CELLS, records)
    theory.write(papers.theory(catalogue.config.papers), target / "theory.csv", target / "theory.md")
    return target


def write_cells(catalogue: Catalogue, file: Path, records: Records) -> None:
    """The ledger's filled cells, behind what the file has of others."""
    found = cells.frame(catalogue, records)
    found = found[found["ours"].notna()]
    if file.is_file():
        found = pd.concat([read_cells(file), found]).drop_duplicates(ADDRESS, keep="last")
    write_text(file, found.to_csv(index=False))


def write_claims(catalogue: Catalogue, file: Path, records: Records) -> None:
    """Those claims that have numbers, behind what the file has of others."""
    found, _ = evaluate(catalogue, records)
    found = found[found["verdict"] != "missing"]
    if file.is_file():
        before = pd.read_csv(file)
        found = pd.concat([before, found]).drop_duplicates(["paper", "claim"], keep="last")
    write_text(file, found.to_csv(index=False))


def entry(catalogue: Catalogue, run: Run, records: Records) -> dict[str, Any] | None:
    """A run's line; None where it has no record or no results."""
    record = records.record(run)
    found = {one.name: records.repetitions(run, one) for one in catalogue.evaluations(run)}
    results = {name: {str(seed): rows for seed, rows in parts.items()} for name, parts in found.items() if parts}
    if record is None or not results:
        return None
    statistics = (records.statistics(run) or {"rows": []})["rows"] if run.has_statistics else []
    kept = {name: record[name] for name in KEPT if name in record}
    return {"run": run_id(run), **kept, "results": results, "statistics": means(statistics)}


def environments(entries: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many runs have which commit, which version of what, and which hardware."""
    found: dict[str, Counter] = defaultdict(Counter)
    for entry in entries:
        about = {"commit": entry.get("commit"), **entry.get("environment", {}), **entry.get("hardware", {})}
        for name, value in about.items():
            found[name][str(value)] += 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def means(rows: Iterable[list]) -> dict[str, float]:
    """The mean of each statistic over the recorded steps after the first batch."""
    found: dict[str, list[float]] = {}
    for step, name, value in rows:
        if step:
            found.setdefault(name, []).append(value)
    return {name: float(f"{sum(values) / len(values):.6g}") for name, values in found.items()}


def read(file: Path) -> list[dict[str, Any]]:
    """The lines of runs.jsonl; none where the file is not there yet."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []
