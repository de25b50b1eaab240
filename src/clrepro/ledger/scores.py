"""From the test results of runs to the numbers of cells."""

from dataclasses import dataclass

from clrepro.catalogue import Catalogue, Cell, Run
from clrepro.catalogue.runs import result_file
from clrepro.ledger.records import Records
from clrepro.paths import RESULTS

AVERAGES = {
    "sts": ("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness"),
    "transfer": ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"),
    "transfer_dev": ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"),
}


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


def score(name: str, rows: dict[str, list]) -> float:
    """One score of one run, in percent, rounded to two decimals as the papers' programs print it.

    name: kind/task. sts: Spearman x 100 ("all" setting of STS12-16, test split elsewhere); transfer, transfer_dev:
    accuracy on test and dev. Avg is the mean of the rounded scores of the seven tasks, rounded. Of images: linear, knn,
    knn_plain, finetune_10 to finetune_100 (with _selection: on the part of the training images that chooses), and
    collapse, whose numbers are no percentages and keep six digits.
    rows: {"sts": [[task, split, metric, value], ...], "transfer": [...]}. A score without its row is a KeyError.
    """
    kind, _, task = name.partition("/")
    if task == "Avg":
        return round(sum(score(f"{kind}/{part}", rows) for part in AVERAGES[kind]) / len(AVERAGES[kind]), 2)
    if result_file(name) not in ("sts.json", "transfer.json"):
        split = "selection" if kind.endswith("_selection") else "test"
        table = {tuple(row[:3]): row[3] for row in next(iter(rows.values()))}
        value = table[kind.removesuffix("_selection"), split, task]
        return float(f"{value:.6g}") if kind == "collapse" else round(value, 2)
    if kind == "sts":
        wanted = (task, "test", "spearman_all" if task.startswith("STS1") else "spearman")
        factor = 100
    else:
        wanted, factor = (task, "dev" if kind == "transfer_dev" else "test", "accuracy"), 1
    table = {tuple(row[:3]): row[3] for row in rows["sts" if kind == "sts" else "transfer"]}
    return round(factor * table[wanted], 2)


def run_id(run: Run) -> str:
    """A run's name in ledger and report: its folder below runs/."""
    return run.folder.relative_to(RESULTS / run.scale / "runs").as_posix()


def command(scale: str, target: str) -> str:
    """The command that makes a target of the workflow at a scale."""
    return f"snakemake {target} --cores all" + ("" if scale == "demo" else f" --configfile config/{scale}.yaml")


def score_of_run(run: Run, name: str, records: Records) -> float | None:
    """A run's score, or None if its record or its test results are not there or broken."""
    kind = result_file(name).removesuffix(".json")
    rows = records.rows(run, kind)
    if records.record(run) is None or rows is None:
        return None
    try:
        return score(name, {kind: rows})
    except KeyError as missing:
        records.refuse(run, kind, f"it has no row {missing}")
        return None


def scores(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    """Our numbers of a cell from the results on disk."""
    if cell.hole:
        return Scores({}, note=cell.hole)
    if cell.differences:
        return of_differences(catalogue, cell, records)
    if cell.points:
        return of_sweep(catalogue, cell, records)
    found = {run: score_of_run(run, cell.score, records) for run in cell.runs}
    present = tuple(run for run, value in found.items() if value is not None)
    notes, fill = [], ""
    if len(present) < len(found):
        notes.append(absence(catalogue, cell, [run for run in found if run not in present], records))
        if all(catalogue.asks_for(run) for run in cell.runs):
            name = f"{cell.paper}_{cell.table}"
            targets = {part.target for part in (*catalogue.tables, *catalogue.figures)}
            printed = (cell.paper, cell.table, cell.row, cell.column, cell.metric) in catalogue.cells
            fill = command(cell.runs[0].scale, name if printed and name in targets else "all")
    if any(run.objective and catalogue.is_stale(run, records.record(run)) for run in present):
        kept = ", kept by accept_stale" if all(map(catalogue.accepts_stale, present)) else "; run the workflow again"
        notes.append(f"stale: trained by older code{kept}")
    by_seed = {run.seed if run.objective else None: found[run] for run in present}
    return Scores(by_seed, present, "; ".join(notes), fill)


def of_sweep(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    """The numbers of the best of several settings: the one with the highest mean of what selects, of equal ones the
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
        notes.append(
            f"sweep not finished, {len(complete)} of {len(chosen)} runs: {absence(catalogue, cell, absent, records)}"
        )
        if all(catalogue.asks_for(run) for run in cell.runs):
            fill = command(cell.runs[0].scale, f"{cell.paper}_{cell.table}")
    if not common:
        return Scores({}, note="; ".join(notes), fill=fill)

    def mean(point: tuple[float, tuple[Run, ...]]) -> float:
        values = [chosen[run] for run in point[1] if run.seed in common]
        return round(sum(values) / len(values), 9)

    best = max(cell.points, key=lambda point: (mean(point), -point[0]))
    runs = tuple(run for run in best[1] if run.seed in common)
    name = f"learning rate {best[0]:g} of {', '.join(f'{value:g}' for value, _ in cell.points)}"
    lost = sum("diverged" in (records.record(run) or {}) for run in chosen)
    notes.insert(0, name + (f" ({lost} runs diverged and count 0)" if lost else ""))
    if any(catalogue.is_stale(run, records.record(run)) for run in complete):
        notes.append("stale: trained by older code; run the workflow again")
    return Scores({run.seed: found[run] for run in runs}, runs, "; ".join(notes), fill)


def absence(catalogue: Catalogue, cell: Cell, absent: list[Run], records: Records) -> str:
    """Why runs of a cell count for nothing."""
    broken = [file for run in absent for file in records.problems if file.parent == run.folder]
    seeds = "" if len(absent) == len(cell.runs) else f"seed {', '.join(str(run.seed) for run in absent)} "
    if broken:
        return f"{seeds}left out, broken: {', '.join(map(str, broken))}"
    if all(map(catalogue.asks_for, absent)):
        return f"{seeds}not run yet"
    return f"{seeds}not run: no table or figure that this configuration asks for needs it"


def of_differences(catalogue: Catalogue, cell: Cell, records: Records) -> Scores:
    """Plus minus minus, seed by seed; the smallest or the largest of several differences by their means."""
    found = []
    for sides in cell.differences:
        first, second = (mean_of(catalogue, [(cell.paper, *where) for where in side], records) for side in sides)
        seeds = [seed for seed in first.by_seed if seed in second.by_seed]
        if not seeds:
            lacking = second if first.by_seed else first
            return Scores({}, note=lacking.note, fill=lacking.fill)
        by_seed = {seed: round(first.by_seed[seed] - second.by_seed[seed], 2) for seed in seeds}
        note = "; ".join(dict.fromkeys(filter(None, (first.note, second.note))))
        found.append(Scores(by_seed, tuple(dict.fromkeys(first.runs + second.runs)), note))

    def mean(one: Scores) -> float:
        return sum(one.by_seed.values()) / len(one.by_seed)

    return max(found, key=mean) if cell.column == "high" else min(found, key=mean)


def mean_of(catalogue: Catalogue, places: list[tuple[str, ...]], records: Records) -> Scores:
    """The mean of cells, seed by seed, of the seeds that all of them have."""
    cells = [catalogue.cells.get(place) or catalogue.baselines.get(place) for place in places]
    if None in cells:
        return Scores({}, note="no experiment fills the row that it is a difference to")
    parts = [scores(catalogue, cell, records) for cell in cells]
    seeds = [seed for seed in parts[0].by_seed if all(seed in part.by_seed for part in parts)]
    by_seed = {seed: sum(part.by_seed[seed] for part in parts) / len(parts) for seed in seeds}
    runs = tuple(dict.fromkeys(run for part in parts for run in part.runs))
    note = "; ".join(dict.fromkeys(part.note for part in parts if part.note))
    return Scores(by_seed, runs, note, next((part.fill for part in parts if part.fill), ""))
