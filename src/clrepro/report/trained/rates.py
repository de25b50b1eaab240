"""Accuracy and variance of image encoders against the learning rate (oar2024, figures 2 and 4)."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clrepro.report import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

ANCHORED = "OAR-"  # what the names of the series with anchors begin with
PANELS = {
    "finetune_10/top1": "accuracy (%), 10 % of the labels",
    "collapse/variance_raw": "variance of raw embeddings",
    "collapse/variance_unit": "variance of unit embeddings",
    "finetune_50/top1": "accuracy (%), 50 % of the labels",
    "finetune_100/top1": "accuracy (%), all labels",
}
LOST = "A training that diverged counts 0 as accuracy and has no variance."


def against_rate(frame: pd.DataFrame, notes: Notes) -> Figure:
    """A panel a score; a colour a loss, solid without and dotted with anchors."""
    scores = [name for name in PANELS if name in set(frame["statistic"])]
    figure, panels = plotting.new(1, max(1, len(scores)), width=3.1, height=2.8)
    series = list(dict.fromkeys(frame["series"]))
    looks = lines.looks(name.removeprefix(ANCHORED) for name in series)
    for axis, score in zip(panels[0], scores, strict=False):
        for name in series:
            part = lines.statistic(frame, score, series=name)
            if part.empty:
                continue
            dotted = {"linestyle": ":", "mfc": "white"} if name.startswith(ANCHORED) else {"linestyle": "-"}
            look = {**looks[name.removeprefix(ANCHORED)], **dotted, "markevery": 1}
            lines.curve(axis, lines.by_seed(part, "learning_rate"), look, name)
        axis.set_xscale("log")
        if score == "collapse/variance_raw":
            axis.set_yscale("symlog", linthresh=1e-3)
            axis.set_ylim(bottom=0)
        axis.set_xlabel("learning rate")
        axis.set_ylabel(PANELS[score])
    handles: dict[str, Line2D] = {}
    for axis in panels[0]:
        handles = {**dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True)), **handles}
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside upper left", ncols=4)
    notes.below(figure, "Solid: the loss alone; dotted: with orthonormal anchors.", LOST)
    return figure
