"""Distributions from histograms."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.curves import anchors, held_out
from clrepro.report.trained.notes import Notes
from clrepro.report.trained.sweeps import STATES

SIDES = {
    "heldout_within_cosine": ("negatives", "heldout_negative_cosine_mean"),
    "heldout_positive_cosine": ("positives", "heldout_positive_cosine_mean"),
}
SHOWN = 1e-3  # of the highest bin: below, the axis ends
LOWER, KEPT = "heldout_ratio_lower@", "heldout_ratio_kept@"
RATIO_SHOWN = 2.5
FEW = 0.1  # of the anchors; a density of fewer would be noise


def density(frame: pd.DataFrame, histogram: str, series: str) -> pd.DataFrame:
    """Density by the middle of the bins, a column a seed; a histogram without counts is left out."""
    part = lines.statistic(frame, histogram, series=series)
    table = lines.by_seed(part[part["bin"].notna()], "bin")
    table = table.loc[:, table.sum() > 0]
    return table / (table.index[1] - table.index[0]) if len(table) > 1 else table


def cosines(frame: pd.DataFrame, notes: Notes) -> Figure:
    """li2024, figure 5: cosines of negatives and positives with and without gradient dissipation."""
    figure, panels = plotting.new(1, 2, width=3.8, height=2.9)
    names = {"baseline": "with dissipation (baseline)", "without dissipation": "without dissipation"}
    dashes = dict(zip(names, lines.DASHES, strict=False))
    for axis, (histogram, (title, mean_name)) in zip(panels[0], SIDES.items(), strict=True):
        shown: list[float] = []
        for (series, label), look in zip(names.items(), lines.looks(names).values(), strict=True):
            table = density(frame, histogram, series)
            if table.empty:
                continue
            look = {"color": look["color"], "linestyle": dashes[series]}
            mean = lines.curve(axis, table, look, label)
            axis.fill_between(mean.index, mean, color=look["color"], alpha=0.12, linewidth=0)
            shown += mean.index[mean > SHOWN * mean.max()].tolist()
            last = lines.statistic(frame, mean_name, series=series).sort_values("step")
            across = last.drop_duplicates("seed", keep="last")["value"]
            if len(across):
                axis.plot(across.mean(), 0, "^", color=look["color"], markersize=7, clip_on=False, zorder=4,
                          mfc=look["color"] if series == "baseline" else "white")  # fmt: skip
        if shown:
            axis.set_xlim(max(-1, min(shown) - 0.02), min(1, max(shown) + 0.02))
        axis.set_ylim(bottom=0)
        axis.set_xlabel("cosine similarity")
        axis.set_ylabel("density")
        axis.set_title(title)
    figure.legend(*panels[0, 1].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    said = (
        f"{held_out(notes)}, last step; bins of 0.01. Negatives: pairs within one view, as the released code plots; "
        "triangles: means of positives, and of negatives across views as written."
    )
    seeds = "Thin: single seeds." if frame["seed"].nunique() > 1 else ""
    notes.below(figure, seeds, said)
    return figure


def smallest_ratios(frame: pd.DataFrame, notes: Notes) -> Figure:
    """li2024, figure 8a: the smallest ratio that lemma 1 allows; above its density, below how many a ratio serves."""
    figure, panels = plotting.new(2, 2, width=4.1, height=2.2)
    names = [name for name in dict.fromkeys(frame["statistic"]) if name.startswith(LOWER)]
    looks = lines.looks(names)
    for column, (series, title) in enumerate(STATES.items()):
        for number, name in enumerate(names):
            lam = name.removeprefix(LOWER)
            table = density(frame, name, series)
            kept = last_mean(lines.statistic(frame, f"{KEPT}{lam}", series=series))
            look = {**looks[name], "linestyle": lines.DASHES[number % 4], "markevery": 12}
            label = f"λ = {lam}" + (f": {percent(kept)} kept" if np.isfinite(kept) else "")
            if not table.empty and not kept < FEW:
                lines.curve(panels[0, column], table, look, label)
            if not table.empty:
                cumulative(panels[1, column], table, look, label)
            elif name in set(frame[frame["series"] == series]["statistic"]):
                panels[1, column].plot([], [], label=label, **look)
        if panels[1, column].get_legend_handles_labels()[1]:
            panels[1, column].legend(fontsize=7.5, loc="lower right", markerscale=0.7)
        else:
            panels[0, column].text(0.5, 0.5, "missing", transform=panels[0, column].transAxes, color="#a00000")
        panels[0, column].set_title(title)
        panels[0, column].set_ylabel("density")
        panels[0, column].set_ylim(bottom=0)
        panels[0, column].set_xlabel("smallest ratio by lemma 1")
        panels[1, column].set_ylabel("share that r satisfies")
        panels[1, column].set_ylim(0, 1.02)
        panels[1, column].set_xlabel("ratio r")
        for axis in panels[:, column]:
            axis.set_xlim(0, RATIO_SHOWN)
            axis.axvline(1, color="black", linewidth=0.8, linestyle=":", zorder=0)
    said = (
        f"{held_out(notes)}; {anchors(notes)}. Kept, as released: share of these with acute angles and a real root. "
        f"Of less than {percent(FEW)} no density is drawn. Below: share of the kept whose smallest ratio is under r. "
        "Dotted: r = 1."
    )
    notes.below(figure, said)
    return figure


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def last_mean(part: pd.DataFrame) -> float:
    """Mean over seeds of the last value of each; NaN of nothing."""
    return float(part.sort_values("step").drop_duplicates("seed", keep="last")["value"].mean())


def cumulative(axis: Axes, table: pd.DataFrame, look: dict, label: str) -> None:
    """The share of values below the upper edge of each bin, mean over seeds."""
    width = table.index[1] - table.index[0]
    share = lines.mean_of(table).cumsum() * width
    axis.plot([0, *(share.index + width / 2)], [0, *share], markersize=4, linewidth=1.6, label=label, **look)
