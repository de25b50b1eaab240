"""Pictures of embeddings: in the plane, by their singular values, by the cosines of all pairs."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.evaluation.plane import MIN_DISTANCE, NEIGHBOURS
from clrepro.report.common import number
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

SEEDS = 3  # rows of panels, at most
RANK = "collapse/rank_of_squares_raw"
PLAIN_RANK = "collapse/rank_of_values_raw"
SAID = {"linear": "linear/top1", "centre": "places/central_separability"}  # above a picture of the plane
LOWEST = 1e-4  # of the largest singular value: below, the axis ends
LOST = "no embeddings: the training diverged"


def numbers(frame: pd.DataFrame, name: str, **places) -> np.ndarray:
    """The values of one picture's statistic, in their order."""
    return lines.statistic(frame, name, **places).sort_values("bin")["value"].to_numpy()


def planes(frame: pd.DataFrame, notes: Notes) -> Figure | None:
    """huang2023, figure 4: test images in the plane, a colour a class; a column a model, a row a seed."""
    shown = frame[frame["statistic"].isin(("x", "y", "class"))]
    models = list(dict.fromkeys(zip(shown["backbone"], shown["series"], strict=True)))
    if not models:
        return None
    seeds = list(dict.fromkeys(shown["seed"]))[:SEEDS]
    several = len({backbone for backbone, _ in models}) > 1
    figure, panels = plotting.new(len(seeds), len(models), width=3.4, height=3.2)
    for row, seed in zip(panels, seeds, strict=True):
        for axis, (backbone, series) in zip(row, models, strict=True):
            place = dict(backbone=backbone, series=series, seed=seed)
            x, y, classes = (numbers(shown, name, **place) for name in ("x", "y", "class"))
            loss = series.split(",")[0]
            said = [f"{loss}, {backbone}" if several else loss]
            for name, statistic in SAID.items():
                score = lines.statistic(frame, statistic, **place)["value"]
                said += [f"{name} {number(score.iloc[0], 2)} %"] if len(score) else []
            axis.set_title(": ".join(filter(None, [said[0], ", ".join(said[1:])])))
            if len(x):
                axis.scatter(x, y, c=colours(classes), s=9 if len(x) < 1000 else 3, linewidths=0, rasterized=True)
            else:
                axis.text(0.5, 0.5, LOST, transform=axis.transAxes, ha="center", color="#a00000")
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_aspect("equal", adjustable="datalim")
        row[0].set_ylabel(f"seed {seed}: UMAP 2")
    for axis in panels[-1]:
        axis.set_xlabel("UMAP 1")
    counts = lines.statistic(shown, "class").groupby(["backbone", "series", "seed"])["value"].agg(["size", "nunique"])
    images, more = counts["size"].max(), frame["seed"].nunique() - len(seeds)
    notes.below(
        figure,
        f"UMAP of the unit rows of {images:,} test images, {min(NEIGHBOURS, images - 1)} neighbours, least distance "
        f"{MIN_DISTANCE:g}. A colour a class ({counts['nunique'].max()}); axes have no unit, and distances between "
        "clusters mean little. Linear: accuracy of the linear probe. Centre: of the half of the images nearest to the "
        f"middle, the share of the {min(NEIGHBOURS, images - 1)} nearest in the plane that are of their class (ours).",
        f"Of {more} more seeds the csv has the places." if more else "",
    )
    return figure


def colours(classes: np.ndarray) -> np.ndarray:
    """A colour a class number, the same in every panel; neighbouring numbers lie far apart on the circle of hues."""
    if classes.max() < 10:
        return colormaps["tab10"](classes.astype(int))
    return colormaps["hsv"](classes * 0.618034 % 1)


def spectra(frame: pd.DataFrame, notes: Notes) -> Figure | None:
    """oar2024, figure 3: a row a learning rate; singular values, then the affinities of every series' first seed."""
    rates, series = sorted(frame["learning_rate"].dropna().unique()), list(dict.fromkeys(frame["series"]))
    shown = frame[frame["statistic"].isin(("singular_value", "affinity"))]
    if shown.empty:
        return None
    dashes = zip(lines.looks(series).items(), ("-", ":", "--", "-."), strict=False)
    looks = {name: {**look, "linestyle": dash, "markevery": 0.12} for (name, look), dash in dashes}
    seed = shown["seed"].iloc[0]
    figure, panels = plotting.new(len(rates), 1 + len(series), width=3.0, height=2.7)
    # encoders that end in ReLU have no negative cosines
    low = -1 if (lines.statistic(shown, "affinity")["value"] < 0).any() else 0
    drawn = None
    for row, rate in zip(panels, rates, strict=True):
        part = frame[frame["learning_rate"] == rate]
        for name in series:
            falling(row[0], part, name, looks[name])
        row[0].set_yscale("log")
        row[0].set_ylim(max(LOWEST, row[0].get_ylim()[0]), 1.5)
        row[0].set_xlabel("singular value, by rank")
        row[0].set_ylabel("share of the largest")
        row[0].set_title(f"learning rate {rate:g}")
        if row[0].lines:
            row[0].legend(fontsize=7.5, loc="upper right")
        for axis, name in zip(row[1:], series, strict=True):
            drawn = square(axis, numbers(part, "affinity", series=name, seed=seed), low) or drawn
            axis.set_title(name)
            axis.set_xlabel(f"test images by class, seed {seed}")
    if drawn:
        figure.colorbar(drawn, ax=panels[:, 1:], shrink=0.8, pad=0.02, label="cosine")
    several = " Thick: mean over seeds; thin: single seeds." if frame["seed"].nunique() > 1 else ""
    notes.below(
        figure,
        "Raw embeddings of at most 1,000 drawn test images, not centred; affinities: cosines of all pairs, as means "
        "over blocks. r: effective rank, how many singular values hold 95 % of the sum of squares (in brackets: of the "
        f"plain sum), mean over seeds.{several}",
    )
    return figure


def falling(axis: Axes, part: pd.DataFrame, name: str, look: dict) -> None:
    """One series' singular values as shares of the largest, every seed, with the effective rank in the legend."""
    own = lines.statistic(part, "singular_value", series=name)
    if own.empty:
        axis.plot([], [], color=look["color"], label=f"{name}: none, diverged")
        return
    shares = own.assign(value=own["value"] / own.groupby("seed")["value"].transform("max"), rank=own["bin"] + 1)
    ranks = [lines.statistic(part, score, series=name)["value"].mean() for score in (RANK, PLAIN_RANK)]
    label = f"{name}: r = {ranks[0]:.3g} ({ranks[1]:.3g})" if np.isfinite(ranks).all() else name
    lines.curve(axis, lines.by_seed(shares, "rank"), look, label)


def square(axis: Axes, values: np.ndarray, low: int):
    """A square matrix of cosines, given row by row, on a scale from low to 1; or why there is none."""
    axis.set_xticks([])
    axis.set_yticks([])
    if not len(values):
        axis.text(0.5, 0.5, LOST, transform=axis.transAxes, ha="center", color="#a00000", fontsize=8)
        return None
    side = round(len(values) ** 0.5)
    return axis.imshow(
        values.reshape(side, side),
        cmap=plotting.COLOURS if low == 0 else "RdBu_r",
        vmin=low,
        vmax=1,
        interpolation="nearest",
    )
