"""What stands below a figure: scale, seeds, protocol, what is missing."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Canvas

from clrepro.catalogue import Catalogue, Figure

MOST = 4  # holes that are named; the others are counted
LETTERS = 15.5  # of 8 points, an inch
LINE = 0.145  # inches


@dataclass(frozen=True)
class Notes:
    """About a figure as a whole: sentences, holes, and `measured`, what the first run's statistics say."""

    comparable: bool = False
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    measured: dict[str, Any] = field(default_factory=dict)

    def text(self, *more: str) -> str:
        """Three paragraphs: what the drawing says of itself, the remarks, the holes; each only if there is any."""
        parts = [" ".join(filter(None, more)), " ".join(self.remarks)]
        if self.missing:
            rest = f" and {len(self.missing) - MOST} more" if len(self.missing) > MOST else ""
            parts.append(f"MISSING: {'; '.join(self.missing[:MOST])}{rest}.")
        return "\n".join(filter(None, parts))

    def below(self, figure: Canvas, *more: str) -> None:
        """Write the text below the panels, wrapped to their width; the figure grows by it, the panels keep theirs."""
        width, height = figure.get_size_inches()
        paragraphs = self.text(*more).split("\n")
        wrapped = "\n".join(
            textwrap.fill(paragraph, int(LETTERS * width), break_on_hyphens=False) for paragraph in paragraphs
        )
        figure.set_size_inches(width, height + LINE * (wrapped.count("\n") + 1))
        figure.supxlabel(wrapped, x=0.01, ha="left", fontsize=8, color="#555555", linespacing=1.25)


def of(
    catalogue: Catalogue, figure: Figure, frame: pd.DataFrame, missing: Iterable[str], measured: dict[str, Any]
) -> Notes:
    """The notes of a figure of the catalogue, whose numbers are the frame's."""
    own = catalogue.compares(figure.runs)
    if own:
        scale = f"{catalogue.config.scale.capitalize()} scale: the paper's data, encoders and training"
    elif catalogue.config.scale == "paper":
        scale = "Paper scale, with settings that are not the paper's"
    else:
        plans = dict.fromkeys(run.plan for run in figure.runs)
        scale = ". ".join(plan.scale_words(catalogue.config).capitalize() for plan in plans) or "No runs"
    remarks = [f"{scale}.", *protocol(catalogue, figure)]
    if frame["note"].str.contains("stale").any():
        remarks.append("Some runs are STALE: trained by older code.")
    return Notes(own, tuple(remarks), tuple(missing), measured)


def protocol(catalogue: Catalogue, figure: Figure) -> list[str]:
    """How the runs of a figure were trained; values that differ between them by a slash."""
    trained = [run for run in figure.runs if run.objective]
    if not trained:
        return []
    kinds = dict.fromkeys(score.split("/")[0] for score in figure.scores)
    sentences = trained[0].plan.protocol_of_figure(catalogue.config, trained, kinds)
    backbones = {run.backbone.key for run in trained}
    if len(backbones) == 1 and (settings := parameters(figure)):
        sentences.append(f"{settings}.")
    return sentences


def parameters(figure: Figure) -> str:
    """The parameters of each series' objective, but those that the series varies."""
    found = {}
    for point in figure.points:
        params = {key: value for key, value in point.runs[0].params.items() if isinstance(value, int | float)}
        first = found.setdefault(point.series, params)
        found[point.series] = {key: value for key, value in first.items() if params.get(key) == value}
    listed = {name: ", ".join(f"{key} {value:.4g}" for key, value in params.items()) for name, params in found.items()}
    return "; ".join(f"{name}: {text}" for name, text in listed.items() if text)
