"""The figures that need training: sweeps and runs, as experiments.yaml lists them under `figures`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from clrepro.catalogue import papers
from clrepro.catalogue.runs import Run, result_file

# what a picture of embeddings shows of a run's test images (clrepro.modalities.image.pictures), as statistics
PICTURES = {"spectrum": ("singular_value", "affinity"), "places": ("x", "y", "class")}


@dataclass(frozen=True)
class Point:
    """One setting of one series on one backbone: a run with every seed."""

    series: str
    backbone: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Figure:
    """What a figure plots, and of which runs.

    varied: the parameters that its series vary. scores: of the finished run, as kind/task; where there are none, no
    test set is touched. statistics, histograms: those kept of what training recorded, as names or patterns; empty
    statistics stand for all of them, empty histograms for none. pictures: those of the test images' embeddings.
    """

    paper: str
    name: str
    varied: tuple[str, ...]
    scores: tuple[str, ...]
    statistics: tuple[str, ...]
    histograms: tuple[str, ...]
    pictures: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def target(self) -> str:
        """The name that the workflow gives to this figure."""
        return f"{self.paper}_{self.name}"

    @property
    def tests(self) -> tuple[str, ...]:
        """The files of test results, beside a run's record, that the scores come from."""
        return tuple(dict.fromkeys(map(result_file, self.scores)))

    @property
    def results(self) -> tuple[str, ...]:
        """All files beside a run's record that it is drawn from."""
        return (*self.tests, *map(result_file, self.pictures))

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(dict.fromkeys(run for point in self.points for run in point.runs))


def settings_of(
    spec: dict[str, Any], sweep: Callable[[str, list], list] = lambda name, values: values
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(series, its entry, settings) for every point: the figure's settings, then the series', then what varies."""
    for series, entry in spec["series"].items():
        fixed = {**spec.get("settings", {}), **entry.get("settings", {})}
        vary = {name: sweep(name, values) for name, values in entry.get("vary", {}).items()}
        for values in product(*vary.values()):
            yield series, entry, {**fixed, **dict(zip(vary, values, strict=True))}


def build(catalogue, paper: str, name: str) -> Figure:
    """A figure of experiments.yaml; backbones that the configuration leaves out have no points."""
    spec = papers.load(paper, "experiments")["figures"][name]
    points = []
    for series, entry, changes in settings_of(spec, catalogue.sweep_of(spec)):
        owner, definition = papers.run_definition(entry["run"], paper)
        for backbone in entry.get("backbones") or spec.get("backbones") or definition["backbones"]:
            if not catalogue.lacks(definition, owner, backbone, changes):
                place = f"papers/{paper}/experiments.yaml, {name}, {series}"
                runs = catalogue.define_runs(definition, owner, backbone, place, changes)
                points.append(Point(series, backbone, runs))
    varied = dict.fromkeys(key for entry in spec["series"].values() for key in entry.get("vary", {}))
    plotted = (tuple(spec.get(kind, ())) for kind in ("scores", "statistics", "histograms", "pictures"))
    return Figure(paper, name, tuple(varied), *plotted, tuple(points))
