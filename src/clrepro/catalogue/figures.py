"""The figures that need training: sweeps and runs, as experiments.yaml lists them under `figures`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from clrepro import modalities
from clrepro.catalogue import papers
from clrepro.catalogue.part import Part
from clrepro.catalogue.runs import RunPlanner
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Run


@dataclass(frozen=True)
class Point:
    """One setting of one series on one backbone: a run with every seed."""

    series: str
    backbone: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Figure(Part):
    """What a figure plots, and of which runs.

    varied: the parameters that its series vary. scores: of the finished run, as kind/task; where there are none, no
    test set is touched. statistics, histograms: those kept of what training recorded, as names or patterns; empty
    statistics stand for all of them, empty histograms for none. pictures: those of the test images' embeddings.
    """

    varied: tuple[str, ...]
    scores: tuple[str, ...]
    statistics: tuple[str, ...]
    histograms: tuple[str, ...]
    pictures: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of scores and pictures that it shows."""
        return tuple(dict.fromkeys(name.split("/")[0] for name in (*self.scores, *self.pictures)))

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The evaluations that its scores and pictures come from."""
        return tuple({one.name: one for one in map(modalities.evaluation_of, self.kinds)}.values())

    @property
    def scored(self) -> tuple[Evaluation, ...]:
        """Those that its scores come from."""
        return tuple({one.name: one for one in map(modalities.evaluation_of, self.scores)}.values())

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(dict.fromkeys(run for point in self.points for run in point.runs))


def settings_of(
    spec: dict[str, Any], entry: dict[str, Any], sweep: Callable[[str, list], list] = lambda name, values: values
) -> Iterator[dict[str, Any]]:
    """The settings of every point of a series: the figure's, then the series', then what varies."""
    fixed = {**spec.get("settings", {}), **entry.get("settings", {})}
    vary = {name: sweep(name, values) for name, values in entry.get("vary", {}).items()}
    for values in product(*vary.values()):
        yield {**fixed, **dict(zip(vary, values, strict=True))}


def build(planner: RunPlanner, paper: str, name: str) -> Figure:
    """A figure of experiments.yaml; backbones that the configuration leaves out have no points."""
    spec = papers.load(paper, "experiments")["figures"][name]
    points = []
    for series, entry in spec["series"].items():
        owner, definition = papers.run_definition(entry["run"], paper)
        place = f"papers/{paper}/experiments.yaml, {name}, {series}"
        for changes in settings_of(spec, entry, planner.sweep(definition, owner)):
            for backbone in entry.get("backbones") or spec.get("backbones") or definition["backbones"]:
                if not planner.lacks(definition, owner, backbone, changes):
                    runs = planner.define(definition, owner, backbone, place, changes)
                    points.append(Point(series, backbone, runs))
    varied = dict.fromkeys(key for entry in spec["series"].values() for key in entry.get("vary", {}))
    plotted = (tuple(spec.get(kind, ())) for kind in ("scores", "statistics", "histograms", "pictures"))
    return Figure(paper, name, tuple(varied), *plotted, tuple(points))
