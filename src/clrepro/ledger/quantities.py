"""What a claim's references stand for: a table's cell or a point of a figure, with our value for every seed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import yaml

from clrepro.catalogue import Catalogue, Cell, Figure, Point, Run, papers
from clrepro.catalogue.tables import PRINTED
from clrepro.errors import UserError, unknown
from clrepro.ledger.published import published
from clrepro.ledger.recorded import matches, rows_of
from clrepro.ledger.records import Records
from clrepro.ledger.scores import command, run_id, scores

POINT = re.compile(
    r"(?P<figure>[^/]+)/(?P<series>[^/\[\]]+)(?:\[(?P<values>[^\]]*)\])?/(?P<backbone>[^/]+)/"
    r"(?P<statistic>[^:]+)(?::(?P<reduction>\w+))?"
)
REDUCTIONS: dict[str, Callable[[list[float]], float]] = {
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "mean": lambda values: float(np.mean(values)),
    # thirds of the curve, fixed beforehand; a minimum or maximum would be chosen by its noise
    "early": lambda values: float(np.mean(np.array_split(values, 3)[0])),
    "middle": lambda values: float(np.mean(np.array_split(values, 3)[1])),
    "late": lambda values: float(np.mean(np.array_split(values, 3)[2])),
}


@dataclass(frozen=True)
class Quantity:
    """One number of a paper in the paper's unit: ours by seed (None: no seed changes it), and the printed one.

    runs: ids of the runs that it comes from. why: what is missing, broken or stale. family: quantities whose spread
    over seeds is of one kind have the same. cell: its id in the ledger, if it has a line there. measured: what is
    taken of which runs; two references to one number (a run stands in several tables) have the same.
    """

    values: dict[int | None, float]
    published: float | None
    runs: tuple[str, ...]
    why: str
    family: str
    cell: str = ""
    measured: str = ""
    is_difference: bool = False
    comparable: bool = True  # whether its runs may stand beside the paper's (Catalogue.compares)


def resolver(catalogue: Catalogue, paper: str, records: Records) -> Callable[[str], Quantity]:
    """A function from a paper's references to quantities; what the paper does not have is a UserError."""
    tables = papers.all_tables(paper)
    figures = {name.partition("/")[2] for name in catalogue.figure_names() if name.startswith(f"{paper}/")}
    printed = published(paper).set_index(["table", "row", "column", "metric"])["value"].to_dict()
    figure = cache(lambda name: catalogue.figure(f"{paper}/{name}"))

    @cache
    def resolve(reference: str) -> Quantity:
        name, *rest = reference.split("/")
        address = (name, *rest, "value") if len(rest) == 2 else (name, *rest)
        if (paper, *address) in catalogue.cells:
            return of_cell(catalogue, catalogue.cells[paper, *address], records, printed)
        if name in figures:
            return of_point(catalogue, figure(name), reference, records)
        if name not in tables:
            raise unknown("table or figure", name, {*tables, *figures}, f"the reference '{reference}'")
        cells = {"/".join(key[1:]) for key in catalogue.cells if key[:2] == (paper, name)}
        raise unknown("cell", "/".join(address), cells, f"the reference '{reference}'")

    return resolve


def of_cell(catalogue: Catalogue, cell: Cell, records: Records, printed: dict) -> Quantity:
    """A cell of a table, or a number that stands in a figure or a sentence."""
    spec = papers.all_tables(cell.paper)[cell.table]
    name = "/".join((cell.paper, cell.table, cell.row, cell.column, cell.metric))
    # a row of ours that stands beside another row's printed number has none of its own
    number = printed.get(cell.published_address) if cell.published_row is None else None
    number = None if number is None or np.isnan(number) else float(number)
    if papers.kind(spec) in PRINTED:
        return Quantity({}, number, (), "it is printed in the paper, not a result of runs", "", name)
    ours = scores(catalogue, cell, records)
    unit = papers.unit(spec, cell.published_row or cell.row)
    part = 0.01 if unit == "fraction" and cell.percent else 1.0  # of our percents in the published unit
    values = {seed: part * value for seed, value in ours.by_seed.items()}
    why = ours.note if values or not ours.fill else f"{ours.note}: {ours.fill}"
    runs = tuple(map(run_id, ours.runs))
    measured = name if cell.differences else f"{cell.score} of {' '.join(runs)}"
    family, comparable = family_of(cell.score, unit), catalogue.compares(cell.runs)
    return Quantity(values, number, runs, why, family, name, measured, bool(cell.differences), comparable)


def family_of(score: str | None, unit: str | None) -> str:
    """Averages of seven tasks vary less than single tasks, and differences of cells are contrasts already."""
    kind, _, task = (score or "").partition("/")
    return " ".join(filter(None, [kind, "average" if task == "Avg" else "", (unit or "").split(" ")[0]]))


def of_point(catalogue: Catalogue, figure: Figure, reference: str, records: Records) -> Quantity:
    """A statistic or score at one point of a figure that needs training, a curve over steps made one number."""
    parts = POINT.fullmatch(reference)
    if not parts:
        raise UserError(
            f"the reference '{reference}' is no point of a figure; write figure/series[values]/backbone/statistic, "
            "with :reduction if need be"
        )
    point = find_point(catalogue, figure, parts)
    statistic, reduction = parts["statistic"], parts["reduction"] or "last"
    if reduction not in REDUCTIONS:
        raise unknown("reduction", reduction, REDUCTIONS, f"the reference '{reference}'")
    if statistic not in figure.scores and not matches(statistic, figure.statistics or ("*",)):
        raise unknown("statistic", statistic, {*figure.statistics, *figure.scores}, f"the reference '{reference}'")
    family = f"{figure.name} {statistic}"
    if point is None:
        why = f"this configuration has no `sentence.backbones.{parts['backbone']}`"
        return Quantity({}, None, (), why, family)
    fill = command(catalogue.config.scale, figure.target)
    if figure.name not in {other.name for other in catalogue.figures if other.paper == figure.paper}:
        why = f"its runs are not asked for: put {figure.paper}/{figure.name} under `figures` of the configuration"
        return Quantity({}, None, (), why, family)
    values, runs, lacking = {}, [], []
    for run in point.runs:
        found = curve(run, figure, statistic, records)
        if found:
            values[run.seed if run.objective else None] = REDUCTIONS[reduction](found)
            runs.append(run_id(run))
        else:
            lacking.append(run)
    if reduction == "first" and len(set(values.values())) == 1 < len(values):  # of the untrained encoder: exact
        values = {None: next(iter(values.values()))}
    why = ""
    if lacking:
        seeds = "" if not values else f"seed {', '.join(str(run.seed) for run in lacking)} "
        broken = [str(file) for run in lacking for file in records.problems if file.parent == run.folder]
        left_out = f"left out, broken: {', '.join(broken)}" if broken else "not run yet"
        if not broken and all(records.record(run) for run in lacking):
            left_out = f"its runs recorded no {statistic}"
        why = f"{seeds}{left_out}" if broken else f"{seeds}{left_out}: {fill}"
    present = [run for run in point.runs if run not in lacking]
    if any(run.objective and catalogue.is_stale(run, records.record(run)) for run in present):
        why = "; ".join(filter(None, [why, "stale: trained by older code; run the workflow again"]))
    measured = f"{statistic}:{reduction} of {' '.join(runs)}"
    comparable = catalogue.compares(point.runs)
    return Quantity(values, None, tuple(runs), why, family, measured=measured, comparable=comparable)


def find_point(catalogue: Catalogue, figure: Figure, parts: re.Match) -> Point | None:
    """The point that a reference names, None if the configuration has no such backbone."""
    place = f"the reference '{parts[0]}'"
    spec = papers.load(figure.paper, "experiments")["figures"][figure.name]
    if parts["series"] not in spec["series"]:
        raise unknown("series", parts["series"], spec["series"], place)
    entry = spec["series"][parts["series"]]
    vary = entry.get("vary", {})
    text = parts["values"]
    given = [] if text is None else yaml.safe_load(f"[{text}]")
    if len(given) != len(vary) or any(value not in vary[name] for value, name in zip(given, vary, strict=True)):
        points = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in vary.items())
        raise UserError(
            f"{place}: series {parts['series']} has no point [{text or ''}]; it varies {points or 'nothing'}"
        )
    _, definition = papers.run_definition(entry["run"], figure.paper)
    backbones = entry.get("backbones") or spec.get("backbones") or definition["backbones"]
    if parts["backbone"] not in backbones:
        raise unknown("backbone", parts["backbone"], backbones, place)
    for point in figure.points:
        if (point.series, point.backbone) == (parts["series"], parts["backbone"]):
            settings = {**point.runs[0].recipe.model_dump(), **point.runs[0].params}
            if all(settings.get(name) == value for name, value in zip(vary, given, strict=True)):
                return point
    return None


def curve(run: Run, figure: Figure, statistic: str, records: Records) -> list[float]:
    """The values of a run's statistic in the order of steps; none if a file that may hold it is missing or broken."""
    needed = [records.record(run)]
    needed += [records.probes(run)] if run.has_probes else []
    needed += [records.rows(run, name.removesuffix(".json")) for name in figure.tests]
    if any(content is None for content in needed):
        return []
    recorded = rows_of(run, figure, records)
    rows = [(step, value) for step, name, middle, value in recorded if name == statistic and middle is None]
    return [value for _, value in sorted(rows, key=lambda row: row[0])]
