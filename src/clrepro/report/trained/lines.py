"""Curves over seeds, and labels that keep their distance; shared by the drawings."""

from collections.abc import Iterable
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#444444")
DASHES = ("-", "--", "-.", ":")


def looks(names: Iterable[Any]) -> dict[Any, dict[str, Any]]:
    """A colour and a marker for each name, in order: no two of nine names look alike without colour."""
    return {
        name: {"color": colour, "marker": marker}
        for name, colour, marker in zip(dict.fromkeys(names), cycle(COLOURS), cycle(MARKERS), strict=False)
    }


def by_seed(part: pd.DataFrame, along: str = "step") -> pd.DataFrame:
    """Values of one curve: a line for each value of `along`, a column for each seed."""
    return part.assign(seed=part["seed"].fillna(-1)).pivot(index=along, columns="seed", values="value").sort_index()


def mean_of(table: pd.DataFrame) -> pd.Series:
    """Mean over the seeds, where all seeds of the table have a value: a mean of changing seeds would jump."""
    return table.dropna().mean(axis=1)


def curve(axis: Axes, table: pd.DataFrame, look: dict[str, Any], label: str, *, width: float = 1.6) -> pd.Series:
    """The mean over seeds, with a thin line for each seed where there are several; returns the mean."""
    mean = mean_of(table)
    if table.shape[1] > 1:
        for seed in table:
            single = table[seed].dropna()
            axis.plot(
                single.index, single, linestyle=look.get("linestyle", "-"), color=look["color"], lw=0.6, alpha=0.5
            )
    settings = {"markersize": 4, "markevery": max(1, len(mean) // 8), **look}
    axis.plot(mean.index, mean, linewidth=width, label=label, **settings)
    return mean


def statistic(frame: pd.DataFrame, name: str, **places: Any) -> pd.DataFrame:
    """The lines of one statistic, and of one series or one value of a varied parameter."""
    part = frame[frame["statistic"] == name]
    for column, value in places.items():
        part = part[part[column] == value]
    return part


def spread(places: Iterable[float], gap: float, low: float, high: float) -> np.ndarray:
    """Places moved apart to at least `gap`, in their order, as near as that allows, within low..high if they fit.

    Least squares under an order: places less their rank times the gap, made non-decreasing by pooling neighbours.
    """
    places = np.asarray(list(places), dtype=float)
    order = np.argsort(places, kind="stable")
    blocks: list[list[float]] = []  # (sum, count) of pooled neighbours
    for rank, place in enumerate(places[order]):
        blocks.append([place - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    level = np.concatenate([np.full(int(count), total / count) for total, count in blocks]) if blocks else places
    top = max(low, high - (len(places) - 1) * gap)
    moved = np.empty_like(places)
    moved[order] = np.clip(level, low, top) + np.arange(len(places)) * gap
    return moved


def name_ends(axis: Axes, ends: list[tuple[float, float, str, str]], gap: float = 0.075) -> None:
    """Labels right of the panel, each with a thin line to its curve's end: (x, y, text, colour)."""
    if not ends:
        return
    axis.set_ylim(axis.get_ylim())
    to_share = axis.transScale + axis.transLimits
    shares = [to_share.transform((x, y))[1] for x, y, _, _ in ends]
    for (x, y, text, colour), share in zip(ends, spread(shares, gap, 0.0, 1.0), strict=True):
        axis.annotate(
            text, (x, y), (1.04, share), textcoords="axes fraction", color=colour, va="center", fontsize=8,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5, "shrinkA": 1, "shrinkB": 2},
        )  # fmt: skip


def over_steps(axis: Axes, label: str, title: str = "") -> None:
    """Labels of a panel over training steps."""
    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axis.set_xlabel("training step")
    axis.set_ylabel(label)
    axis.set_title(title)
