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
    rows = records.rows(run, kind_of(name))
    if records.record(run) is None or rows is None:
        return None
    try:
        return score(name, {kind_of(name): rows})
    except KeyError as missing:
        records.note(run.folder / f"{kind_of(name)}.json", f"it has no row {missing}")
        return None


def kind_of(name: str) -> str:
    """Which results a score comes from, as their file is called: sts, transfer, linear, knn, finetune, ..."""
    return result_file(name).removesuffix(".json")


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
        absent = [run for run in found if run not in present]
        why, fill = absence(catalogue, cell, absent, records)
        seeds = "" if not present else f"seed {', '.join(str(run.seed) for run in absent)} "
        notes.append(seeds + why)
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
        why, fill = absence(catalogue, cell, absent, records)
        lacking = ", ".join(map(str, dict.fromkeys(run.seed for run in absent)))
        notes.append(f"sweep not finished, {len(complete)} of {len(chosen)} runs: seed {lacking} {why}")
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


def absence(catalogue: Catalogue, cell: Cell, absent: list[Run], records: Records) -> tuple[str, str]:
    """Why runs of a cell count for nothing, and the command that makes them, if one does."""
    kinds = {kind_of(name) for name in (cell.score, cell.select) if name}
    needed = {file for run in absent for file in (run.record, *(run.folder / f"{kind}.json" for kind in kinds))}
    broken = [str(file) for file in records.problems if file in needed]
    if broken:  # a command would leave what is there: broken files are deleted by hand
        return f"left out, broken: {', '.join(broken)}", ""
    tables = [table for table in catalogue.tables if (table.paper, table.name) == (cell.paper, cell.table)]
    if tables and set(cell.runs) <= set(tables[0].runs):
        return "not run yet", command(catalogue.config.scale, tables[0].target)
    if all(catalogue.tests(run, kind) for run in absent for kind in kinds):
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
    return Scores(by_seed, runs, *together(catalogue, parts))


def together(catalogue: Catalogue, parts: list[Scores]) -> tuple[str, str]:
    """What several scores lack, each reason once, and the one command that makes it all, if there is one."""
    note = "; ".join(dict.fromkeys(part.note for part in parts if part.note))
    lacking = [part for part in parts if part.note and not part.note.startswith("stale")]
    commands = {part.fill for part in lacking}
    if not lacking or "" in commands:
        return note, ""
    return note, commands.pop() if len(commands) == 1 else command(catalogue.config.scale, "all")
