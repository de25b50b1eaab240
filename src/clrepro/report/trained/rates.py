"""Accuracy and variance of image encoders against the learning rate (oar2024, figures 2 and 4)."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clrepro import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

ANCHORED = "OAR-"  # what the names of the series with anchors begin with
MEAN = " [mean]"  # what those of the series end with whose losses are means over rows
PANELS = {
    "finetune_10/top1": "accuracy (%), 10 % of the labels",
    "collapse/variance_raw": "variance of raw embeddings",
    "collapse/variance_unit": "variance of unit embeddings",
    "finetune_50/top1": "accuracy (%), 50 % of the labels",
    "finetune_100/top1": "accuracy (%), all labels",
}
SUMMED = "losses and anchors as sums over rows, as printed"
AVERAGED = "the same as means over rows (ours)"
SHIFT = (
    "Of InfoNCE a mean is the sum's training at a rate 2N times as low (N: the batch size); beside BT and VICReg it "
    "makes the anchors 2N times as weak."
)
LOST = "A training that diverged counts 0 as accuracy and has no variance."


def against_rate(frame: pd.DataFrame, notes: Notes) -> Figure:
    """A panel a score, a row of panels a reduction; a colour a loss, solid without and dotted with anchors.

    Losses that are no sums over rows stand in both rows, as what their anchored forms are compared with.
    """
    scores = [name for name in PANELS if name in set(frame["statistic"])]
    series = list(dict.fromkeys(frame["series"]))
    averaged = [name for name in series if name.endswith(MEAN)]
    same = [name for name in series if f"{ANCHORED}{name}{MEAN}" in averaged and f"{name}{MEAN}" not in averaged]
    readings = {SUMMED: [name for name in series if name not in averaged], AVERAGED: [*same, *averaged]}
    readings = {title: names for title, names in readings.items() if names}
    figure, panels = plotting.new(max(1, len(readings)), max(1, len(scores)), width=3.1, height=2.7)
    looks = lines.looks(loss_of(name) for name in series)
    for row, (title, names) in zip(panels, readings.items(), strict=False):
        for axis, score in zip(row, scores, strict=False):
            for name in names:
                part = lines.statistic(frame, score, series=name)
                if part.empty:
                    continue
                dotted = {"linestyle": ":", "mfc": "white"} if name.startswith(ANCHORED) else {"linestyle": "-"}
                look = {**looks[loss_of(name)], **dotted, "markevery": 1}
                lines.curve(axis, lines.by_seed(part, "learning_rate"), look, name.removesuffix(MEAN))
            axis.set_xscale("log")
            if score == "collapse/variance_raw":
                axis.set_yscale("symlog", linthresh=1e-3)
                axis.set_ylim(bottom=0)
            axis.set_xlabel("learning rate")
            axis.set_ylabel(PANELS[score])
        if len(readings) > 1:
            row[0].set_title(title)
    for column in panels.T:  # rows compare at a glance
        low, high = (end(axis.get_ylim()[place] for axis in column) for place, end in enumerate((min, max)))
        for axis in column:
            axis.set_ylim(low, high)
    handles: dict[str, Line2D] = {}
    for axis in panels.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside upper left", ncols=4)
    notes.below(figure, "Solid: the loss alone; dotted: with orthonormal anchors.", SHIFT if averaged else "", LOST)
    return figure


def loss_of(name: str) -> str:
    """The loss without anchors that a series is of."""
    return name.removeprefix(ANCHORED).removesuffix(MEAN)
