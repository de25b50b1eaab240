"""Scores beside geometry: a point a run."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from clrepro.report import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

STS, TRANSFER = "sts/Avg", "transfer/Avg"
DEFINITIONS = {
    "dev_alignment": "as written: pairs with gold > 4",
    "dev_alignment_released": "as released: pairs with gold = 5",
}


def alignment_and_uniformity(frame: pd.DataFrame, notes: Notes) -> Figure:
    """nie2023, figure 1a: where the selected checkpoints lie, coloured by their STS; faint: the whole training."""
    figure, panels = plotting.new(1, 2, width=3.7, height=3.3)
    scores = lines.statistic(frame, STS)["value"]
    norm = Normalize(*(scores.min(), scores.max()) if scores.nunique() > 1 else (None, None))
    looks, far, drawn = lines.looks(frame["series"]), 0, None
    for axis, (statistic, title) in zip(panels[0], DEFINITIONS.items(), strict=True):
        for (series, _), run in frame.groupby(["series", "seed"], sort=False):
            way = places(run, statistic)
            if way.empty:
                continue
            axis.plot(way["x"], way["y"], color="#bbbbbb", linewidth=0.5, marker=".", markersize=2, zorder=1)
            score = lines.statistic(run, STS)
            if score.empty:
                continue
            selected = score["step"].iloc[0]
            nearest = way.index[np.abs(way.index - selected).argmin()]
            far = max(far, abs(int(nearest - selected)))
            drawn = axis.scatter(
                *way.loc[nearest, ["x", "y"]], c=[score["value"].iloc[0]], marker=looks[series]["marker"], s=40,
                norm=norm, cmap=plotting.COLOURS, alpha=0.9, edgecolors="black", linewidths=0.6, zorder=3,
            )  # fmt: skip
        start = frame[frame["step"] == 0].drop_duplicates("statistic").assign(seed=0)
        for place in places(start, statistic).itertuples():
            axis.plot(place.x, place.y, "+", color="black", markersize=8, zorder=2)
        axis.set_xlabel("L_uniform (t = 2), STS-B dev")
        axis.set_ylabel("L_align (α = 2), STS-B dev")
        axis.set_title(title)
    marks = [
        matplotlib.lines.Line2D([], [], linestyle="", marker=look["marker"], color="#cccccc", mec="black", label=name)
        for name, look in looks.items()
    ]
    marks.append(matplotlib.lines.Line2D([], [], linestyle="", marker="+", color="black", label="before training"))
    figure.legend(handles=marks, loc="outside upper left", ncols=len(marks))
    if drawn is not None:
        figure.colorbar(drawn, ax=panels[0, -1], label="STS average (Spearman × 100)", shrink=0.9)
    said = "Points: the checkpoint that STS-B dev selected, one a seed; grey: the whole training."
    if far:
        said += f" Statistics are those of the probe nearest to the selected step, at most {far} steps away."
    notes.below(figure, said)
    return figure


def places(run: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """x: uniformity, y: alignment of one run by steps, where both were measured."""
    columns = {"x": "dev_uniformity", "y": statistic}
    found = {axis: lines.statistic(run, name).set_index("step")["value"] for axis, name in columns.items()}
    return pd.DataFrame(found).dropna().sort_index()


def scores_against_gap(frame: pd.DataFrame, notes: Notes) -> Figure:
    """nie2023, figure 3a: both averages against the last distance gap; means over seeds, named by their margins."""
    points = final_points(frame)
    figure, panels = plotting.new(1, 1, width=6.0, height=3.6)
    axis = panels[0, 0]
    means = points.groupby("margin")[["gap", STS, TRANSFER]].mean()
    means = means.dropna(subset="gap").dropna(subset=[STS, TRANSFER], how="all")
    looks = {
        STS: ("STS (Spearman × 100)", {"color": "#0072b2", "marker": "o", "linestyle": "-"}),
        TRANSFER: ("transfer (accuracy, %)", {"color": "#d55e00", "marker": "s", "linestyle": "--", "mfc": "white"}),
    }
    for score, (label, look) in looks.items():
        mean = means.dropna(subset=score)
        if points["seed"].nunique() > 1:
            axis.plot(points["gap"], points[score], look["marker"], color=look["color"], ms=2.5, alpha=0.5, mew=0)
        axis.plot(mean["gap"], mean[score], linewidth=0.8, markersize=6, label=label, **look)
    axis.set_xlabel("distance gap d of the last batch measured (between unit vectors)")
    axis.set_ylabel("average of seven tasks")
    axis.margins(x=0.06, y=0.08)
    name_above(axis, means)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    said = (
        "Line: order of the margins m, which stand above. d: mean distance to the negatives less that to the positive, "
        "one training batch at the last probe; scores: of the checkpoint that STS-B dev selected. "
    )
    said += "Large: means over seeds, small: single seeds." if points["seed"].nunique() > 1 else ""
    notes.below(figure, said)
    return figure


def final_points(frame: pd.DataFrame) -> pd.DataFrame:
    """margin, seed, gap (of the last step) and both scores of every run; what is missing is NaN."""
    rows = []
    for (margin, seed), run in frame.groupby(["margin", "seed"], sort=True):
        gaps = lines.statistic(run, "train_distance_gap").sort_values("step")["value"]
        row = {"margin": margin, "seed": seed, "gap": gaps.iloc[-1] if len(gaps) else np.nan}
        for score in (STS, TRANSFER):
            found = lines.statistic(run, score)["value"]
            row[score] = found.iloc[0] if len(found) else np.nan
        rows.append(row)
    return pd.DataFrame(rows, columns=["margin", "seed", "gap", STS, TRANSFER])


def name_above(axis: Axes, means: pd.DataFrame) -> None:
    """The margins in a row above the panel, each with a line down to its gap."""
    low, high = axis.get_xlim()
    shares = ((means["gap"] - low) / (high - low)).tolist()
    for margin, share, place in zip(means.index, shares, lines.spread(shares, 0.085, 0.0, 1.0), strict=True):
        axis.annotate(
            f"{margin:g}", (share, 1.0), (place, 1.06), xycoords="axes fraction", ha="center", va="bottom", fontsize=8,
            arrowprops={"arrowstyle": "-", "color": "#999999", "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        axis.axvline(low + share * (high - low), color="#dddddd", linewidth=0.5, zorder=0)
    axis.annotate("m =", (0, 1.06), xycoords="axes fraction", xytext=(-18, 0), textcoords="offset points",
                  ha="right", va="bottom", fontsize=8)  # fmt: skip
    axis.set_xlim(low, high)
