"""Draws the tables of points, arrows and numbers that the sketches compute."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from clrepro import plotting
from clrepro.simulation import _maps

DOTS = {"anchor": "black", "moved": "#888888", "positive": "#009e73", "point": "black"}
SIZES = {"positive": 9, "negative": 7, "anchor": 5}  # the anchor may lie on its positive
PLACES = {"hᵢ": (-14, 4), "c": (-3, -13), "b": (-3, -13), "hᵢⁿ": (-3, -14), "upper hᵢⁿ": (-16, -14)}  # in points
SHORTEST = 0.02  # arrows below that would be all head
REDS = matplotlib.colormaps["Reds"]
REMARKS = {
    "lemma_1": "Tangent plane at hᵢ. Arrows: −λ hⱼ′ to c, then λ r hᵢ′ to hᵢⁿ with the lower r. On the circle the "
    "distance to hᵢ′ is that before the step; between the two roots, inside, it is smaller.",
    "components": "Black: anchor, grey: anchor after the step, green: positive, red: negatives, lighter if harder. "
    "(a) on a circle, after training. (b), (c) on the tangent plane at the anchor; orange: what each negative pushes, "
    "blue: their sum (b), the step (c); on the circle of (c) the distance to the positive is that before the step.",
}


def panels(frame: pd.DataFrame, settings: dict) -> Figure:
    """Two panels a row, with what they count below."""
    names = list(frame["panel"].unique())
    figure, axes = plotting.new(len(names) // 2, 2, width=3.6, height=2.9)
    for axis, name in zip(axes.ravel(), names, strict=True):
        part = frame[frame["panel"] == name]
        sketch(axis, part)
        axis.set_title(name)
        numbers = part[part["kind"] == "number"]
        text = [f"{label}: {value:.2f}" for label, value in zip(numbers["name"], numbers["value"], strict=True)]
        axis.set_xlabel("\n".join(text), fontsize=8)
    _maps.footnote(figure, settings, REMARKS[settings["subject"]])
    return figure


def sketch(axis: Axes, part: pd.DataFrame) -> None:
    """Everything of one panel, in the order of its lines."""
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xticks([])
    axis.set_yticks([])
    for side in axis.spines.values():
        side.set_visible(False)
    for line in part.itertuples():
        start, end = (line.x, line.y), (line.x_end, line.y_end)
        if line.kind == "circle":
            radius = np.hypot(end[0] - start[0], end[1] - start[1])
            axis.add_patch(Circle(start, radius, fill=False, color="#bbbbbb", linewidth=0.8))
        elif line.kind in ("edge", "dashed"):
            style = "-" if line.kind == "edge" else "--"
            axis.plot([start[0], end[0]], [start[1], end[1]], style, color="#888888", linewidth=1, zorder=1)
        elif line.kind in ("arrow", "thin arrow"):
            if np.hypot(end[0] - start[0], end[1] - start[1]) < SHORTEST:
                continue
            width, colour = (1.8, "#0072b2") if line.kind == "arrow" else (1, "#d55e00")
            look = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
            axis.annotate("", xy=end, xytext=start, arrowprops=look, zorder=2)
        elif line.kind != "number":
            colour = REDS(0.35 + 0.6 * line.value) if line.kind == "negative" else DOTS[line.kind]
            axis.plot(*start, "o", color=colour, markersize=SIZES.get(line.kind, 6), zorder=3)
            if line.kind == "point":
                axis.annotate(line.name, start, xytext=PLACES.get(line.name, (4, 4)), textcoords="offset points")
    axis.margins(0.12)
