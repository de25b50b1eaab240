"""Drawings of the figures that need training: one function a kind of plot, each from the figure's csv alone.

A drawing is a function (frame, notes) -> Figure: the frame is that of ``clrepro.report.figures.frame``, the notes are
what stands below. Papers name theirs in experiments.yaml, with the values of their own that it marks. Points, seeds and
statistics that the frame lacks are left out, and the notes name them.
"""

import inspect
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.catalogue import papers
from clrepro.errors import UserError, unknown
from clrepro.report.trained import angles, bars, curves, densities, embeddings, epochs, rates, scatter, sweeps
from clrepro.report.trained.notes import Notes

DRAWINGS: dict[str, Callable[..., Figure | None]] = {
    function.__name__: function
    for function in (
        scatter.alignment_and_uniformity,
        scatter.scores_against_gap,
        curves.losses,
        curves.distance_gaps,
        curves.dynamic_ratios,
        curves.positive_cosines,
        bars.before_and_after,
        bars.batch_sizes,
        densities.cosines,
        densities.smallest_ratios,
        sweeps.parameters,
        sweeps.hardest_shares,
        angles.means_and_deviations,
        embeddings.planes,
        embeddings.spectra,
        epochs.by_epoch,
        rates.against_rate,
    )
}


def drawing(name: str) -> Callable[[pd.DataFrame, Notes], Figure | None] | None:
    """What draws paper/figure, by the words of its paper's experiments.yaml; None where they name no drawing.

    `drawing` is a name of DRAWINGS; `drawing_settings` are what that function asks for besides frame and notes.
    """
    paper, _, figure = name.partition("/")
    spec = papers.load(paper, "experiments")["figures"][figure]
    if "drawing" not in spec:
        return None
    place = f"papers/{paper}/experiments.yaml, {figure}"
    if spec["drawing"] not in DRAWINGS:
        raise unknown("drawing", spec["drawing"], DRAWINGS, place)
    function = DRAWINGS[spec["drawing"]]
    given, asked = spec.get("drawing_settings", {}), list(inspect.signature(function).parameters)[2:]
    if sorted(given) != sorted(asked):
        found, wanted = (", ".join(sorted(names)) or "none" for names in (given, asked))
        raise UserError(f"{place}: drawing_settings are {found}; drawing '{spec['drawing']}' takes {wanted}")
    return partial(function, **given)


def draw(name: str, frame: pd.DataFrame, notes: Notes) -> Figure | None:
    """The drawing of paper/figure; None where it has none, or where the frame has nothing that it plots."""
    function = drawing(name)
    if function is None or frame.empty:
        return None
    with plotting.style():
        drawn = function(frame, notes)
    # limits stay infinite where nothing, or only a reference line, was drawn
    filled = drawn is not None and any(np.isfinite(axis.dataLim.get_points()).all() for axis in drawn.axes)
    return drawn if filled else None
