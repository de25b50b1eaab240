"""Scores against the number of epochs."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clrepro import plotting
from clrepro.catalogue import papers
from clrepro.report.trained import lines
from clrepro.report.trained.bars import numbers_of
from clrepro.report.trained.notes import Notes

COLUMNS = 3  # of panels
UNTRAINED = "untrained"  # the series that stands at epoch 0 of all others


def by_epoch(frame: pd.DataFrame, notes: Notes, table: str) -> Figure | None:
    """Accuracy after fewer epochs than the papers', a panel a backbone, from the untrained encoder on.

    table: paper/table, whose published numbers are dashed lines, and whose columns name the backbones.
    """
    scores = lines.statistic(frame, "svm/accuracy")
    if scores.empty:
        return None
    scores = scores.assign(epochs=scores["epochs"].where(scores["series"] != UNTRAINED, 0.0))
    named = columns_of(table)
    backbones = list(dict.fromkeys(scores["backbone"]))
    figure, panels = plotting.new(-(-len(backbones) // COLUMNS), min(COLUMNS, len(backbones)), width=2.7, height=2.2)
    series = [name for name in dict.fromkeys(scores["series"]) if name != UNTRAINED]
    looks = lines.looks(series)
    numbers = numbers_of(table)
    for axis in panels.flat[len(backbones) :]:
        axis.set_visible(False)
    for axis, backbone in zip(panels.flat, backbones, strict=False):
        start = lines.statistic(scores, "svm/accuracy", series=UNTRAINED, backbone=backbone)
        for name in series:
            own = lines.statistic(scores, "svm/accuracy", series=name, backbone=backbone)
            curve = lines.by_seed(pd.concat([start, own]), "epochs")
            lines.curve(axis, curve, {**looks[name], "markevery": 1}, name)
            cell = numbers[(numbers["row"] == name) & (numbers["column"] == named.get(backbone))]
            if len(cell) and notes.comparable:
                axis.axhline(cell["value"].iloc[0], color=looks[name]["color"], linestyle="--", linewidth=0.9, zorder=0)
        axis.set_xscale("symlog", linthresh=1)
        ticks = sorted(scores["epochs"].unique())
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.set_title(named.get(backbone, backbone))
        axis.set_xlabel("epochs")
        axis.set_ylabel("accuracy (%)")
    handles = [Line2D([], [], **looks[name], label=name) for name in series]
    if notes.comparable:
        handles.append(Line2D([], [], color="#444444", linestyle="--", linewidth=0.9, label="published"))
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    single = ", thin ones single seeds" if frame["seed"].nunique() > 1 else ""
    notes.below(figure, f"Lines: means over seeds{single}. Epoch 0 is the untrained encoder.")
    return figure


def columns_of(table: str) -> dict[str, str]:
    """Backbone -> the column of a table that it fills."""
    paper, _, name = table.partition("/")
    columns = papers.load(paper, "experiments")["tables"][name]["columns"]
    return {about["backbone"]: column for column, about in columns.items()}
