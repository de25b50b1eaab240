"""Scores beside geometry: a point a run."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.ledger.clouds import THIRDS, along_diagonal
from clrepro.report.common import number
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

STS, TRANSFER, DEV = "sts/Avg", "transfer/Avg", "stsb_dev"
DEFINITIONS = {
    "dev_alignment": "as written: pairs with gold > 4",
    "dev_alignment_released": "as released: pairs with gold = 5",
}


def alignment_and_uniformity(frame: pd.DataFrame, notes: Notes) -> Figure:
    """nie2023, figure 1a: every checkpoint in the colour of its STS-B dev score, ringed the selected ones."""
    figure, panels = plotting.new(1, 2, width=3.7, height=3.3)
    scored = frame[(frame["statistic"] == DEV) & (frame["step"] > 0)]["value"] * 100
    norm = Normalize(*(scored.min(), scored.max()) if scored.nunique() > 1 else (None, None))
    looks, far, drawn, thirds = lines.looks(frame["series"]), 0, None, ""
    for axis, (statistic, title) in zip(panels[0], DEFINITIONS.items(), strict=True):
        image = []
        for (series, _), run in frame.groupby(["series", "seed"], sort=False):
            way = places(run, statistic)
            if way.empty:
                continue
            look = {"marker": looks[series]["marker"], "norm": norm, "cmap": plotting.COLOURS}
            axis.plot(way["x"], way["y"], color="#bbbbbb", linewidth=0.5, zorder=1)
            trained = way[way.index > 0].dropna()
            image.append(trained)
            drawn = axis.scatter(trained["x"], trained["y"], c=trained["score"] * 100, s=12, zorder=2, **look)
            selected = lines.statistic(run, STS)["step"]
            if trained.empty or selected.empty:
                continue
            nearest = trained.index[np.abs(trained.index - selected.iloc[0]).argmin()]
            far = max(far, abs(int(nearest - selected.iloc[0])))
            best = trained.loc[nearest]
            axis.scatter(
                best["x"], best["y"], c=[best["score"] * 100], s=60, edgecolors="black", linewidths=1.1, zorder=4,
                gid="selected", **look,
            )  # fmt: skip
        start = frame[frame["step"] == 0].drop_duplicates("statistic").assign(seed=0)
        for place in places(start, statistic).itertuples():
            axis.plot(place.x, place.y, "+", color="black", markersize=8, zorder=2)
        means = cut_in_thirds(axis, pd.concat(image)) if image else ""
        thirds = thirds or means
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
        figure.colorbar(drawn, ax=panels[0, -1], label="STS-B dev (Spearman × 100)", shrink=0.9)
    said = "Points: checkpoints of all seeds; large: the one that STS-B dev selected."
    if far:
        said += f" Statistics are those of the probe nearest to the selected step, at most {far} steps away."
    averages = frame[frame["statistic"] == STS].groupby("series", sort=False)["value"].mean()
    if len(averages):
        said += f" Its STS average: {', '.join(f'{name} {number(value, 2)}' for name, value in averages.items())}."
    notes.below(figure, said, thirds)
    return figure


def cut_in_thirds(axis: Axes, points: pd.DataFrame) -> str:
    """Dotted lines between the thirds of an image from its bottom right to its top left; their mean scores in words."""
    if len(points) < 2 or points["x"].nunique() < 2 or points["y"].nunique() < 2:
        return ""
    axis.set_xlim(axis.get_xlim())
    axis.set_ylim(axis.get_ylim())
    x, y = (points[name].to_numpy() for name in ("x", "y"))
    wide, high = np.ptp(x), np.ptp(y)
    way = y / high - x / wide
    ends = np.array(axis.get_xlim())
    for cut in np.linspace(way.min(), way.max(), 4)[1:3]:
        axis.plot(ends, high * (cut + ends / wide), ":", color="#999999", linewidth=0.8, zorder=0)
    third = along_diagonal(x, y)
    means = [100 * points["score"].to_numpy()[third == number].mean() for number in range(3) if (third == number).any()]
    names = [name.replace("_", " ") for number, name in enumerate(THIRDS) if (third == number).any()]
    listed = ", ".join(f"{name} {mean:.1f}" for name, mean in zip(names, means, strict=True))
    return f"Dotted: thirds of the way along the diagonal; mean STS-B dev, L_align as written: {listed}."


def places(run: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """x: uniformity, y: alignment of one run by steps, where both were measured; score: STS-B dev, NaN if not known."""
    columns = {"x": "dev_uniformity", "y": statistic, "score": DEV}
    found = {axis: lines.statistic(run, name).set_index("step")["value"] for axis, name in columns.items()}
    return pd.DataFrame(found).dropna(subset=["x", "y"]).sort_index()


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
