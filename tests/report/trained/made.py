"""Numbers of figures as if their runs had been trained, and their drawings."""

from itertools import product

import numpy as np
import pandas as pd

from clrepro.modalities import evaluation_of
from clrepro.report import trained
from clrepro.report.trained.notes import Notes

SEEDS = (42, 43)
STEPS = (0, 20, 40, 60)
RNG = np.random.default_rng(0)
NOTES = Notes(remarks=("Demo scale.",), measured={"examples": 256, "batch_size": 128, "development_batch_size": 38})
TEMPERATURES, LAMBDAS = (0.001, 0.01, 0.05, 0.3, 3.0), (0.1, 1.0)


def names_of(figure):
    """What a run of a figure records, patterns written out."""
    wide = {
        "heldout_positive_cosine_*": ["heldout_positive_cosine_mean"],
        "heldout_negative_cosine_*": ["heldout_negative_cosine_mean"],
        "heldout_hardest_share@*": [f"heldout_hardest_share@{value:g}" for value in TEMPERATURES],
        "heldout_hardest_weight@*": [f"heldout_hardest_weight@{value:g}" for value in TEMPERATURES],
        "heldout_ratio_kept@*": [f"heldout_ratio_kept@{value:g}" for value in LAMBDAS],
        "heldout_ratio_met@*": [f"heldout_ratio_met@{value:g}@1.5" for value in LAMBDAS],
    }
    shapes = ("mean", "std", "skewness", "excess_kurtosis", "normal_distance")
    for side in ("positive", "negative"):
        wide[f"heldout_{side}_angle_*"] = [f"heldout_{side}_angle_{shape}" for shape in shapes]
    return [name for pattern in figure.statistics for name in wide.get(pattern, [pattern])]


def embedded(seed):
    """What pictures show of 40 embeddings of ten classes with 8 singular values."""
    yield "singular_value", np.sort(RNG.uniform(1, 20, 8))[::-1]
    yield "affinity", RNG.uniform(0, 1, 25)
    yield "x", RNG.normal(size=40)
    yield "y", RNG.normal(size=40) + seed
    yield "class", np.arange(40) % 10


def made(figure, seeds=SEEDS):
    """A frame with a number for everything that the figure plots, as if its runs had been trained."""
    rows = []
    for point in figure.points:
        run = point.runs[0]
        settings = {**run.recipe.model_dump(), **run.params}
        place = [point.series, point.backbone, *(settings.get(name) for name in figure.varied)]
        for seed in seeds if run.objective else [None]:
            for step, name in product(STEPS if run.objective else STEPS[:1], names_of(figure)):
                rows.append([*place, seed, step, name, None, RNG.uniform(0.2, 0.9)])
            rows += [[*place, seed, 40, name, None, RNG.uniform(40, 80)] for name in figure.scores]
            for histogram in figure.histograms:
                for full in [f"{histogram[:-1]}{lam:g}" for lam in LAMBDAS] if "*" in histogram else [histogram]:
                    low, high = (0, 4) if "ratio" in full else (-1, 1)
                    shares = RNG.dirichlet(np.ones(50))
                    middles = low + (np.arange(50) + 0.5) * (high - low) / 50
                    rows += [[*place, seed, 60, full, *pair] for pair in zip(middles.round(6), shares, strict=True)]
            for name, values in embedded(seed) if figure.pictures else ():
                kept = any(name in evaluation_of(kind).arrays for kind in figure.pictures)
                rows += [[*place, seed, 60, name, number, value] for number, value in enumerate(values) if kept]
    columns = ["series", "backbone", *figure.varied, "seed", "step", "statistic", "bin", "value"]
    return pd.DataFrame(rows, columns=columns).assign(note="").astype({"seed": "Int64"})


def drawn(demo, name, frame=None, notes=NOTES):
    frame = made(demo.figure(name)) if frame is None else frame
    return trained.draw(name, frame, notes), frame


def labelled(axis, label):
    (line,) = [line for line in axis.lines if line.get_label() == label]
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def footnote(figure):
    return figure.get_supxlabel().replace("\n", " ")


def mean(frame, **places):
    for column, value in places.items():
        frame = frame[frame[column] == value]
    return frame["value"].mean()
