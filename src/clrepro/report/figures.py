"""Figures that need training: what one plots as a csv in long form, and the picture of it.

The csv has a line for every number of every run, with no name of a machine. The same results give the same bytes.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from clrepro import modalities, plotting
from clrepro.catalogue import Catalogue, Figure, Point
from clrepro.ledger import Records
from clrepro.ledger.recorded import matches, rows_of
from clrepro.paths import write_text
from clrepro.report import trained
from clrepro.report.trained import notes


def frame(catalogue: Catalogue, figure: Figure, records: Records) -> pd.DataFrame:
    """series, backbone, the varied parameters, seed, step, statistic, value, note, and bin of histograms and pictures.

    A varied parameter has its value in every series whose objective has it; empty: it has none, or it is off. A
    note says that a run was trained by older code. Runs and test results that are not there yet have no lines.
    """
    columns = ["series", "backbone", *figure.varied, "seed", "step", "statistic", "bin", "value", "note"]
    lines = []
    for point in figure.points:
        for run in point.runs:
            record = records.record(run)
            if record is None:
                continue
            settings = run.settings
            place = [point.series, point.backbone, *(settings.get(name) for name in figure.varied)]
            place.append(run.repetition)
            stale = run.is_stale(record)
            note = "stale: trained by older code" if stale else ""
            for step, statistic, middle, value in rows_of(run, figure, records):
                rounded = None if middle is None else round(middle, 6)
                lines.append([*place, step, statistic, rounded, float(f"{value:.7g}"), note])
    table = pd.DataFrame(lines, columns=columns).astype({"seed": "Int64"})
    return table if figure.histograms or figure.pictures else table.drop(columns="bin")


def missing(figure: Figure, table: pd.DataFrame) -> list[str]:
    """What of a figure's plan its table lacks, a line a hole: whole runs, or statistics of runs."""
    holes = []
    for point in figure.points:
        part = table[(table["series"] == point.series) & (table["backbone"] == point.backbone)]
        for run in point.runs:
            settings = run.settings
            own = part if run.repetition is None else part[part["seed"] == run.repetition]
            for name in figure.varied:
                value = settings.get(name)
                own = own[own[name].isna()] if value is None else own[own[name] == value]
            place = ", ".join([point.series, *(f"{name} {settings[name]:g}" for name in varied_by(figure, point))])
            place += f", {point.backbone}" + ("" if run.repetition is None else f", seed {run.repetition}")
            if own.empty:
                holes.append(place)
                continue
            found = set(own["statistic"])
            wanted = [*figure.statistics, *figure.histograms, *figure.scores]
            wanted += [name for kind in figure.pictures for name in modalities.evaluation_of(kind).arrays]
            lacking = [name for name in wanted if not any(matches(one, [name]) for one in found)]
            # an untrained encoder has no training to speak of
            lacking = [name for name in lacking if run.objective or not name.startswith(("train_", "best_"))]
            if lacking:
                holes.append(f"{place}: {', '.join(lacking)}")
    return holes


def varied_by(figure: Figure, point: Point) -> list[str]:
    """The varied parameters in which the points of a series differ."""
    others = [other.runs[0] for other in figure.points if other.series == point.series]
    return [name for name in figure.varied if len({run.settings.get(name) for run in others}) > 1]


def write(catalogue: Catalogue, name: str) -> Path:
    """Write the csv of a figure, given as paper/figure, and its picture; where nothing was recorded, it says so."""
    figure, records = catalogue.figure(name), Records()
    file = catalogue.files.figure_csv(figure)
    table = frame(catalogue, figure, records)
    write_text(file, table.to_csv(index=False, lineterminator="\n"))
    if not figure.points:
        return file
    holes = missing(figure, table)
    drawn = trained.draw(name, table, notes.of(catalogue, figure, table, holes, measured(figure, records)))
    why = "nothing recorded to draw" if trained.drawing(name) else "no drawing; its numbers are in the csv"
    plotting.save(drawn or blank(why), file.with_suffix(""))
    return file


def blank(why: str) -> plotting.Figure:
    """The picture of a figure of which nothing is drawn."""
    picture, ((axis,),) = plotting.new()
    axis.axis("off")
    axis.text(0.5, 0.5, why, ha="center", va="center")
    return picture


def measured(figure: Figure, records: Records) -> dict[str, Any]:
    """What the statistics of the first run that has any say of themselves: batch sizes, numbers of examples."""
    found = (records.statistics(run) for run in figure.runs if run.has_statistics)
    return next((part.get("settings", {}) for part in found if part), {})
