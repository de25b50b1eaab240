"""The figures that need no trained encoder, as experiments.yaml lists them under `simulations`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clrepro.catalogue import papers
from clrepro.catalogue.part import Part
from clrepro.objectives import NAMES
from clrepro.paths import RESULTS
from clrepro.settings import SimulationOverrides
from clrepro.workflow import fingerprint

UNITS = {"points": "grid points an axis", "batches": "batches", "steps": "training steps"}
# numbers that a study's csv has for every seed, series, loss and anchor_weight, so that claims may refer to them; named
# as in the study, which must neither be imported here (torch) nor hang on the catalogue (its fingerprint)
NUMBERS = {"rank_one": ("effective_rank", "rank_95", "axes_angle", "probe_accuracy", "variance")}


@dataclass(frozen=True)
class Simulation(Part):
    """A figure: which study computes and draws it, by which settings, and where its files go."""

    study: str
    shows: str
    settings: dict[str, Any]
    scale: str

    @property
    def stem(self) -> Path:
        return RESULTS / self.scale / "figures" / self.paper / self.name

    @property
    def files(self) -> list[Path]:
        return [self.stem.with_name(f"{self.name}.{suffix}") for suffix in ("svg", "png", "csv")]

    @property
    def csv(self) -> Path:
        return self.files[2]

    @property
    def code(self) -> str:
        """The fingerprint of its study and of the objectives that its settings name."""
        return fingerprint.of_study(self.study, *self.objectives)

    @property
    def objectives(self) -> list[str]:
        """The objectives that its settings name, at any depth."""
        return sorted(set(_words(self.settings)) & set(NAMES))


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from (key, *_words(part))
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, str):
        yield value


def build(paper: str, name: str, scale: str, overrides: SimulationOverrides) -> Simulation:
    """A figure with its paper's counts, or the scale's where these are lower; a footnote says so."""
    spec = papers.load(paper, "experiments")["simulations"][name]
    settings = dict(spec["settings"])
    thinned = []
    for key, most in overrides.model_dump(exclude_none=True).items():
        if settings.get(key, 0) > most:
            thinned.append(f"{most} {UNITS[key]} instead of {settings[key]:,}")
            settings[key] = most
    settings["footnote"] = f"Thinned: {', '.join(thinned)}." if thinned else ""
    return Simulation(paper, name, spec["study"], spec["shows"], settings, scale)
