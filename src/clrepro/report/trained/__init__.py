"""Drawings of the figures that need training: one function a kind of plot, each from the figure's csv alone.

A drawing is a function (frame, notes) -> Figure: the frame is that of ``clrepro.report.figures.frame``, the notes
are what stands below. Points, seeds and statistics that the frame lacks are left out, and the notes name them.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.report.trained import angles, bars, curves, densities, embeddings, rates, scatter, sweeps
from clrepro.report.trained.notes import Notes

DRAWINGS: dict[str, Callable[[pd.DataFrame, Notes], Figure | None]] = {
    "nie2023/figure_1a": scatter.alignment_and_uniformity,
    "nie2023/figure_1b": curves.losses,
    "nie2023/figure_1c": curves.losses,
    "nie2023/figure_1d": curves.losses,
    "nie2023/figure_3a": scatter.scores_against_gap,
    "nie2023/figure_3b": curves.distance_gaps,
    "nie2023/figure_3c": curves.losses,
    "nie2023/figure_3d": curves.losses,
    "nie2023/figure_3e": curves.losses,
    "li2024/figure_1": bars.before_and_after,
    "li2024/figure_5": densities.cosines,
    "li2024/figure_6": sweeps.parameters,
    "li2024/figure_7": sweeps.hardest_shares,
    "li2024/figure_8a": densities.smallest_ratios,
    "li2024/figure_8b": curves.dynamic_ratios,
    "li2024/figure_8c": curves.positive_cosines,
    "li2024/figure_9": angles.means_and_deviations,
    "huang2023/figure_3": bars.batch_sizes,
    "huang2023/figure_4": embeddings.planes,
    "oar2024/figure_2": rates.against_rate,
    "oar2024/figure_3": embeddings.spectra,
    "oar2024/figure_4": rates.against_rate,
}


def draw(name: str, frame: pd.DataFrame, notes: Notes) -> Figure | None:
    """The drawing of paper/figure; None where the frame has nothing that it plots."""
    if frame.empty:
        return None
    with plotting.style():
        drawn = DRAWINGS[name](frame, notes)
    # limits stay infinite where nothing, or only a reference line, was drawn
    filled = drawn is not None and any(np.isfinite(axis.dataLim.get_points()).all() for axis in drawn.axes)
    return drawn if filled else None
