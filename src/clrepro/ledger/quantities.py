"""What a claim's references stand for: a table's cell or a point of a figure, with our value for every seed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import yaml

from clrepro.catalogue import Catalogue, Cell, Figure, Point, Run, papers
from clrepro.catalogue.simulations import Simulation
from clrepro.catalogue.tables import PRINTED
from clrepro.errors import UserError, unknown
from clrepro.ledger import peaks, simulated
from clrepro.ledger.published import published
from clrepro.ledger.recorded import matches, rows_of
from clrepro.ledger.records import Records
from clrepro.ledger.scores import command, run_id, scores

POINT = re.compile(
    # values follow the series' name at once: a bracket after a space belongs to the name
    r"(?P<figure>[^/]+)/(?P<series>[^/]+?)(?:(?<! )\[(?P<values>[^\[\]]*)\])?/(?P<backbone>[^/]+)/"
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


def resolver(catalogue: Catalogue, paper: str, records: Records) -> Callable[[str], Quantity]:
    """A function from a paper's references to quantities; what the paper does not have is a UserError."""
    tables = papers.all_tables(paper)
    figures = {name.partition("/")[2] for name in catalogue.figure_names() if name.startswith(f"{paper}/")}
    printed = published(paper).set_index(["table", "row", "column", "metric"])["value"].to_dict()
    figure = cache(lambda name: catalogue.figure(f"{paper}/{name}"))
    studies = {one.name: one for one in catalogue.simulations if one.paper == paper}
    numbers = cache(lambda name: simulated.numbers(studies[name].csv))

    @cache
    def resolve(reference: str) -> Quantity:
        name, *rest = reference.split("/")
        address = (name, *rest, "value") if len(rest) == 2 else (name, *rest)
        if (paper, *address) in catalogue.cells:
            return of_cell(catalogue, catalogue.cells[paper, *address], records, printed)
        if name in studies:
            return of_simulation(catalogue, studies[name], reference, numbers(name))
        if name in figures and peaks.REFERENCE.fullmatch(reference):
            return of_peaks(catalogue, figure(name), reference, records)
        if name in figures:
            return of_point(catalogue, figure(name), reference, records)
        if name not in tables:
            raise unknown("table or figure", name, {*tables, *figures, *studies}, f"the reference '{reference}'")
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
    return Quantity(values, number, runs, why, family_of(cell.score, unit), name, measured, bool(cell.differences))


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
        return Quantity({}, None, (), left_out_by(catalogue, figure, parts["series"], parts["backbone"]), family)
    fill = command(catalogue.config.scale, figure.target)
    if not is_asked(catalogue, figure):
        return Quantity({}, None, (), ask_for(figure), family)
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
    return Quantity(values, None, tuple(runs), why, family, measured=measured)


def left_out_by(catalogue: Catalogue, figure: Figure, series: str, backbone: str) -> str:
    """Which key of the configuration leaves a point of a figure out."""
    entry = papers.load(figure.paper, "experiments")["figures"][figure.name]["series"][series]
    owner, definition = papers.run_definition(entry["run"], figure.paper)
    modality = papers.modality(definition, owner, backbone)
    if getattr(catalogue.config, modality).backbones.get(backbone):
        return f"this configuration's `{modality}.training` leaves that point of the sweep out"
    return f"this configuration has no `{modality}.backbones.{backbone}`"


def is_asked(catalogue: Catalogue, figure: Figure) -> bool:
    return any((other.paper, other.name) == (figure.paper, figure.name) for other in catalogue.figures)


def ask_for(figure: Figure) -> str:
    return f"its runs are not asked for: put {figure.paper}/{figure.name} under `figures` of the configuration"


def of_peaks(catalogue: Catalogue, figure: Figure, reference: str, records: Records) -> Quantity:
    """The share of a sweep's series that have the peaks of two scores at one place."""
    parts = peaks.REFERENCE.fullmatch(reference)
    values, runs, why = peaks.by_seed(catalogue, figure, parts, records)
    if not is_asked(catalogue, figure):
        values, why = {}, ask_for(figure)
    elif not values and not why:
        why = left_out_by(catalogue, figure, parts["series"].split(" and ")[0], parts["backbone"])
    family = f"{figure.name} peaks"
    return Quantity(values, None, tuple(map(run_id, runs)), why, family, measured=reference)


def of_simulation(catalogue: Catalogue, simulation: Simulation, reference: str, frame: pd.DataFrame | None) -> Quantity:
    """A number of a simulation, whose seeds are its own: no run is behind it."""
    line = simulated.line_of(simulation, reference)
    family = f"{simulation.name} {line['metric']}"
    if frame is None:
        why = f"not computed yet: {command(catalogue.config.scale, simulation.target)}"
        return Quantity({}, None, (), why, family)
    found = simulated.by_seed(frame, line)
    lost = ", ".join(str(seed) for seed, value in found.items() if np.isnan(value))
    values = {seed: value for seed, value in found.items() if not np.isnan(value)}
    return Quantity(values, None, (), f"seed {lost} diverged" if lost else "", family, measured=reference)


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
