"""What a figure plots, as one csv in long form: a line for every number of every run, with no name of a machine."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from clrepro.catalogue import Catalogue, Figure, Run
from clrepro.ledger.cells import score
from clrepro.paths import read_json


def rows_of(run: Run, figure: Figure) -> Iterator[tuple[int, str, float | None, float]]:
    """(step, statistic, bin, value) of a run: its evaluations, its probes, the selected checkpoint, its test scores.

    A test score is named kind/task and in percent, as in the tables; it belongs to the step of the checkpoint that
    STS-B dev selected, 0 for an untrained encoder. Of histograms the last step's are kept: bin is the middle of a
    bin, and the value the share of all that fell into it.
    """
    record = read_json(run.record)
    probes = read_json(run.folder / "probes.json") if (run.folder / "probes.json").exists() else {"rows": []}
    selected = record.get("best_step", 0)
    rows = [(entry["step"], name, value) for entry in record.get("history", []) for name, value in entry.items()]
    rows += probes["rows"]
    if "best_score" in record:
        rows.append((selected, "best_stsb_dev", record["best_score"]))
    for step, name, value in rows:
        if name != "step" and matches(name, figure.statistics or ("*",)):
            yield step, name, None, value
    histograms = [part for part in probes.get("histograms", []) if matches(part["statistic"], figure.histograms)]
    for part in histograms:
        if part["step"] == max(other["step"] for other in histograms):
            width, total = (part["high"] - part["low"]) / len(part["counts"]), sum(part["counts"])
            for place, count in enumerate(part["counts"]):
                yield part["step"], part["statistic"], part["low"] + (place + 0.5) * width, count / max(total, 1)
    if figure.scores:
        tests = {Path(name).stem: read_json(run.folder / name)["rows"] for name in figure.tests}
        yield from ((selected, name, None, score(name, tests)) for name in figure.scores)


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def frame(catalogue: Catalogue, figure: Figure) -> pd.DataFrame:
    """series, backbone, the varied parameters, seed, step, statistic, value, note, and bin if there are histograms.

    A varied parameter has its value in every series whose objective has it; empty: it has none, or it is off. A
    note says that a run was trained by older code.
    """
    columns = ["series", "backbone", *figure.varied, "seed", "step", "statistic", "bin", "value", "note"]
    lines = []
    for point in figure.points:
        for run in point.runs:
            settings = {**run.recipe.model_dump(), **run.params}
            place = [point.series, point.backbone, *(settings.get(name) for name in figure.varied)]
            place.append(run.seed if run.objective else None)
            stale = run.objective and catalogue.is_stale(run, read_json(run.record))
            note = "stale: trained by older code" if stale else ""
            for step, statistic, middle, value in rows_of(run, figure):
                rounded = None if middle is None else round(middle, 6)
                lines.append([*place, step, statistic, rounded, float(f"{value:.7g}"), note])
    table = pd.DataFrame(lines, columns=columns).astype({"seed": "Int64"})
    return table if figure.histograms else table.drop(columns="bin")


def write(catalogue: Catalogue, name: str) -> Path:
    """Write the csv of a figure, given as paper/figure."""
    figure = catalogue.figure(name)
    file = catalogue.figure_file(figure)
    file.parent.mkdir(parents=True, exist_ok=True)
    frame(catalogue, figure).to_csv(file, index=False, lineterminator="\n")
    return file
