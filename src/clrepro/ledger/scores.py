"""From the test results of runs to the numbers of cells."""

from collections.abc import Iterable
from dataclasses import dataclass

from clrepro import modalities
from clrepro.catalogue import Catalogue, Cell
from clrepro.ledger.records import Records
from clrepro.modalities.run import Run
from clrepro.paths import RESULTS


@dataclass(frozen=True)
class Scores:
    """Our numbers of a cell by seed (None: an encoder that no seed trained), in percent.

    runs: those whose numbers these are. note: what is missing, broken or stale, and why. fill: the command that makes
    what is missing, if there is one.
    """

    by_seed: dict[int | None, float]
    runs: tuple[Run, ...] = ()
    note: str = ""
    fill: str = ""


def run_id(run: Run) -> str:
    """A run's name in ledger and report: its folder below runs/."""
    return run.folder.relative_to(RESULTS / run.scale / "runs").as_posix()


def command(scale: str, target: str) -> str:
    """The command that makes a target of the workflow at a scale."""
    return f"snakemake {target} --cores all" + ("" if scale == "demo" else f" --configfile config/{scale}.yaml")


def values_of_run(run: Run, name: str, records: Records) -> dict[int | None, float] | None:
    """A run's score kind/task, {None: value}, or by the seeds of an evaluation that has its own.

    None if its record or its results are not there or broken.
    """
    about = modalities.evaluation_of(name)
    found = records.repetitions(run, about)
    if records.record(run) is None or found is None:
        return None
    try:
        return {seed: about.score(name, rows) for seed, rows in found.items()}
    except KeyError as missing:
        records.note(run.folder / about.file, f"it has no row {missing}")
        return None


def score_of_run(run: Run, name: str, records: Records) -> float | None:
    """A run's score, the mean of its repetitions; None if its record or its results are not there or broken."""
    values = values_of_run(run, name, records)
    return None if values is None else mean(values.values())


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return values[0] if len(values) == 1 else sum(values) / len(values)


def scores(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    """Our numbers of a cell from the results on disk, computed once for each set of records."""
    address = (cell.paper, cell.table, cell.row, cell.column, cell.metric)
    if address not in records.cells:
        records.cells[address] = computed(catalogue, cell, records)
    return records.cells[address]


def computed(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    if cell.hole:
        return Scores({}, note=cell.hole)
    if cell.differences:
        return of_differences(catalogue, cell, records)
    if cell.points:
        return of_sweep(catalogue, cell, records)
    found = {run: values_of_run(run, cell.score, records) for run in cell.runs}
    present = tuple(run for run, value in found.items() if value is not None)
    notes, fill = [], ""
    if len(present) < len(found):
        absent = [run for run in found if run not in present]
        why, fill = absence(catalogue, cell, absent, records)
        seeds = "" if not present else f"seed {', '.join(str(run.seed) for run in absent)} "
        notes.append(seeds + why)
    if any(run.is_stale(records.record(run)) for run in present):
        accepted = all(run.is_accepted(catalogue.config) for run in present)
        kept = ", kept by accept_stale" if accepted else "; run the workflow again"
        notes.append(f"stale: trained by older code{kept}")
    by_seed = by_repetition({run: found[run] for run in present})
    return Scores(by_seed, present, "; ".join(notes), fill)


def by_repetition(found: dict[Run, dict[int | None, float]]) -> dict[int | None, float]:
    """By the seeds of the trainings; by those of an evaluation with repetitions of its own, the mean over trainings."""
    if all(set(values) == {None} for values in found.values()):
        return {run.repetition: values[None] for run, values in found.items()}
    seeds = dict.fromkeys(seed for values in found.values() for seed in values)
    return {seed: mean(values[seed] for values in found.values() if seed in values) for seed in seeds}


def of_sweep(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    """The numbers of the best of several settings: the one with the best mean of what selects, of equal ones the
    smallest, over the seeds that all of them have. Without such a seed the sweep is not finished, and there is none.
    """
    chosen = {run: score_of_run(run, cell.select, records) for _, runs in cell.points for run in runs}
    found = {run: score_of_run(run, cell.score, records) for run in chosen}
    complete = {run for run in chosen if chosen[run] is not None and found[run] is not None}
    seeds = [{run.seed for run in runs if run in complete} for _, runs in cell.points]
    common = set.intersection(*seeds)
    absent = [run for run in chosen if run not in complete]
    notes, fill = [], ""
    if absent:
        why, fill = absence(catalogue, cell, absent, records)
        lacking = ", ".join(map(str, dict.fromkeys(run.seed for run in absent)))
        notes.append(f"sweep not finished, {len(complete)} of {len(chosen)} runs: seed {lacking} {why}")
    if not common:
        return Scores({}, note="; ".join(notes), fill=fill)

    about = modalities.evaluation_of(cell.select)
    sign = -1 if about.of_kind(cell.select.split("/")[0]).better == "lower" else 1

    def selected(point: tuple[float, tuple[Run, ...]]) -> float:
        return round(sign * mean(chosen[run] for run in point[1] if run.seed in common), 9)

    best = max(cell.points, key=lambda point: (selected(point), -point[0]))
    runs = tuple(run for run in best[1] if run.seed in common)
    name = f"learning rate {best[0]:g} of {', '.join(f'{value:g}' for value, _ in cell.points)}"
    lost = sum("diverged" in (records.record(run) or {}) for run in chosen)
    notes.insert(0, name + (f" ({lost} runs diverged and count 0)" if lost else ""))
    if any(run.is_stale(records.record(run)) for run in complete):
        notes.append("stale: trained by older code; run the workflow again")
    return Scores({run.seed: found[run] for run in runs}, runs, "; ".join(notes), fill)


def absence(catalogue: Catalogue, cell: Cell, absent: list[Run], records: Records) -> tuple[str, str]:
    """Why runs of a cell count for nothing, and the command that makes them, if one does."""
    needed = {file for run in absent for file in (run.record, *(run.folder / one.file for one in cell.evaluations))}
    broken = [str(file) for file in records.problems if file in needed]
    if broken:  # a command would leave what is there: broken files are deleted by hand
        return f"left out, broken: {', '.join(broken)}", ""
    tables = [table for table in catalogue.tables if (table.paper, table.name) == (cell.paper, cell.table)]
    if tables and set(cell.runs) <= set(tables[0].runs):
        return "not run yet", command(catalogue.config.scale, tables[0].target)
    if all(catalogue.is_evaluated(run, one) for run in absent for one in cell.evaluations):
        return "not run yet", command(catalogue.config.scale, "all")
    return "not run: nothing that this configuration asks for needs it", ""


def of_differences(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    """Plus minus minus, seed by seed; the smallest or the largest of several differences by their means."""
    found = []
    for sides in cell.differences:
        first, second = (mean_of(catalogue, [(cell.paper, *where) for where in side], records) for side in sides)
        seeds = [seed for seed in first.by_seed if seed in second.by_seed]
        by_seed = {seed: round(first.by_seed[seed] - second.by_seed[seed], 2) for seed in seeds}
        runs = tuple(dict.fromkeys(first.runs + second.runs)) if seeds else ()
        both = Scores(by_seed, runs, *together(catalogue, [first, second]))
        if not seeds:
            return both
        found.append(both)

    return (max if cell.column == "high" else min)(found, key=lambda one: mean(one.by_seed.values()))


def mean_of(catalogue: Catalogue, places: list[tuple[str, ...]], records: Records) -> Scores:
    """The mean of cells, seed by seed, of the seeds that all of them have."""
    cells = [catalogue.cells.get(place) or catalogue.baselines.get(place) for place in places]
    if None in cells:
        return Scores({}, note="no experiment fills the row that it is a difference to")
    parts = [scores(catalogue, cell, records) for cell in cells]
    seeds = [seed for seed in parts[0].by_seed if all(seed in part.by_seed for part in parts)]
    by_seed = {seed: sum(part.by_seed[seed] for part in parts) / len(parts) for seed in seeds}
    runs = tuple(dict.fromkeys(run for part in parts for run in part.runs))
    return Scores(by_seed, runs, *together(catalogue, parts))


def together(catalogue: Catalogue, parts: list[Scores]) -> tuple[str, str]:
    """What several scores lack, each reason once, and the one command that makes it all, if there is one."""
    note = "; ".join(dict.fromkeys(part.note for part in parts if part.note))
    lacking = [part for part in parts if part.note and not part.note.startswith("stale")]
    commands = {part.fill for part in lacking}
    if not lacking or "" in commands:
        return note, ""
    return note, commands.pop() if len(commands) == 1 else command(catalogue.config.scale, "all")
