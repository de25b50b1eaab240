"""Points of figures that need training, as claims refer to them: what their runs recorded, a curve made one number."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import yaml

from clrepro import modalities
from clrepro.catalogue import Catalogue, Figure, Point, papers
from clrepro.errors import UserError, unknown
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.recorded import matches, rows_of
from clrepro.ledger.records import Records
from clrepro.ledger.scores import command, run_id
from clrepro.modalities.run import Run

REFERENCE = re.compile(
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
class Curves:
    """What the runs of one point of a figure recorded of a statistic, by seed: (step, value) in the order of steps."""

    by_seed: dict[int | None, list[tuple[int, float]]]
    runs: tuple[str, ...]
    why: str
    comparable: bool = True


def quantity(catalogue: Catalogue, figure: Figure, reference: str, records: Records) -> Quantity:
    """A statistic or score at one point of a figure that needs training, a curve over steps made one number."""
    parts = REFERENCE.fullmatch(reference)
    if not parts:
        raise UserError(
            f"the reference '{reference}' is no point of a figure; write figure/series[values]/backbone/statistic, "
            "with :reduction if need be"
        )
    statistic, reduction = parts["statistic"], parts["reduction"] or "last"
    if reduction not in REDUCTIONS:
        raise unknown("reduction", reduction, REDUCTIONS, f"the reference '{reference}'")
    found = curves(catalogue, figure, parts, records)
    values = {seed: REDUCTIONS[reduction]([value for _, value in curve]) for seed, curve in found.by_seed.items()}
    if reduction == "first" and len(set(values.values())) == 1 < len(values):  # of the untrained encoder: exact
        values = {None: next(iter(values.values()))}
    measured = f"{statistic}:{reduction} of {' '.join(found.runs)}"
    family = f"{figure.name} {statistic}"
    return Quantity(values, None, found.runs, found.why, family, measured=measured, comparable=found.comparable)


def curves(catalogue: Catalogue, figure: Figure, parts: re.Match, records: Records) -> Curves:
    """What the runs of the point that a reference names recorded of its statistic."""
    point, statistic = find_point(catalogue, figure, parts), parts["statistic"]
    if statistic not in figure.scores and not matches(statistic, figure.statistics or ("*",)):
        known = {*figure.statistics, *figure.scores}
        raise unknown("statistic", statistic, known, f"the reference '{parts[0]}'")
    if point is None:
        return Curves({}, (), left_out_by(catalogue, figure, parts["series"], parts["backbone"]))
    if not is_asked(catalogue, figure):
        return Curves({}, (), ask_for(figure))
    by_seed, runs, lacking = {}, [], []
    for run in point.runs:
        found = curve(run, figure, statistic, records)
        if found:
            by_seed[run.repetition] = found
            runs.append(run_id(run))
        else:
            lacking.append(run)
    why = ""
    if lacking:
        seeds = "" if not by_seed else f"seed {', '.join(str(run.seed) for run in lacking)} "
        broken = [str(file) for run in lacking for file in records.problems if file.parent == run.folder]
        left_out = f"left out, broken: {', '.join(broken)}" if broken else "not run yet"
        if not broken and all(records.record(run) for run in lacking):
            left_out = f"its runs recorded no {statistic}"
        fill = command(catalogue.config.scale, figure.target)
        why = f"{seeds}{left_out}" if broken else f"{seeds}{left_out}: {fill}"
    present = [run for run in point.runs if run not in lacking]
    if any(run.is_stale(records.record(run)) for run in present):
        why = "; ".join(filter(None, [why, "stale: trained by older code; run the workflow again"]))
    return Curves(by_seed, tuple(runs), why, catalogue.compares(point.runs))


def left_out_by(catalogue: Catalogue, figure: Figure, series: str, backbone: str) -> str:
    """Which key of the configuration leaves a point of a figure out."""
    entry = papers.load(figure.paper, "experiments")["figures"][figure.name]["series"][series]
    owner, definition = papers.run_definition(entry["run"], figure.paper)
    modality = modalities.modality(papers.modality(definition, owner))
    if modality.of(catalogue.config).backbones.get(backbone):
        return f"this configuration's `{modality.key}.training` leaves that point of the sweep out"
    return f"this configuration has no `{modality.key}.backbones.{backbone}`"


def is_asked(catalogue: Catalogue, figure: Figure) -> bool:
    return any((other.paper, other.name) == (figure.paper, figure.name) for other in catalogue.figures)


def ask_for(figure: Figure) -> str:
    return f"its runs are not asked for: put {figure.paper}/{figure.name} under `figures` of the configuration"


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
            settings = point.runs[0].settings
            if all(settings.get(name) == value for name, value in zip(vary, given, strict=True)):
                return point
    return None


def curve(run: Run, figure: Figure, statistic: str, records: Records) -> list[tuple[int, float]]:
    """A run's statistic as (step, value) in the order of steps; none if a file of the run is missing or broken."""
    needed = [records.record(run)]
    needed += [records.statistics(run)] if run.has_statistics else []
    needed += [records.rows(run, one) for one in figure.scored]
    if any(content is None for content in needed):
        return []
    recorded = rows_of(run, figure, records)
    rows = [(step, value) for step, name, middle, value in recorded if name == statistic and middle is None]
    return sorted(rows, key=lambda row: row[0])
