"""Mean gradient dissipation of sampled batches over the means of the two angles: li2024, figures 2 and 10.

For each pair of means, B batches of one theta_ii' ~ N(mu_pos, sigma_pos^2) and K theta_ij' ~ N(mu_neg, sigma_neg^2),
fresh for every pair and objective. GD is that of li2024, table 1:

    infonce  1 / (1 + exp(cos(theta_ii') / tau) / sum_j exp(cos(theta_ij') / tau))
    arccon   the same with theta_ii' + u
    mpt      [cos(theta_ii') - max_j cos(theta_ij') < m]
    met      [min_j d(theta_ij') - d(theta_ii') < m],  d(theta) = sqrt(2 - 2 cos(theta))

The released script adds 1e-8 under the roots of d; that moves the margin by less than 1e-8 / d, so there is one form.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.random import Generator

from clrepro import plotting
from clrepro.errors import UserError, unknown
from clrepro.simulation import _maps
from clrepro.simulation._sampling import by_rows, distance, draw_angles, hardest

TITLES = {"infonce": "InfoNCE", "arccon": "ArcCon", "mpt": "MPT", "met": "MET"}


def infonce(positive: np.ndarray, negatives: np.ndarray, temperature: float, angle: float = 0.0) -> np.ndarray:
    """GD of InfoNCE, or of ArcCon with the angle u; positive (B,), negatives (K, B), overwritten. Returns (B,)."""
    np.cos(negatives, out=negatives)
    negatives -= np.cos(positive + negatives.dtype.type(angle))
    negatives *= negatives.dtype.type(1 / temperature)
    with np.errstate(over="ignore", divide="ignore"):  # a sum of inf or 0 is a GD of 1 or 0
        np.exp(negatives, out=negatives)
        return 1 / (1 + 1 / negatives.sum(axis=0))


def mpt(positive: np.ndarray, negatives: np.ndarray, margin: float) -> np.ndarray:
    """GD of MPT, 0 or 1; shapes as above."""
    return np.cos(positive.astype(np.float64)) - np.cos(hardest(negatives)) < margin


def met(positive: np.ndarray, negatives: np.ndarray, margin: float) -> np.ndarray:
    """GD of MET, 0 or 1; shapes as above."""
    return distance(hardest(negatives)) - distance(positive.astype(np.float64)) < margin


DISSIPATIONS = {"infonce": infonce, "arccon": infonce, "mpt": mpt, "met": met}


def mean_dissipation(objective: str, parameters: dict, settings: dict) -> np.ndarray:
    """The map of one objective, (points, points): rows are mu_pos, columns mu_neg."""
    if objective not in DISSIPATIONS:
        raise unknown("objective", objective, DISSIPATIONS)
    mu_positive, mu_negative = means(settings)
    dissipation = DISSIPATIONS[objective]

    def row(index: int, generator: Generator) -> np.ndarray:
        positive = np.empty(settings["batches"], np.float32)
        negatives = np.empty((settings["negatives"], settings["batches"]), np.float32)  # at full size it fits the cache
        values = np.empty(len(mu_negative))
        for column, mean in enumerate(mu_negative):
            draw_angles(generator, mu_positive[index], settings["sigma_positive"], positive)
            draw_angles(generator, mean, settings["sigma_negative"], negatives)
            values[column] = dissipation(positive, negatives, **parameters).mean(dtype=np.float64)
        return values

    return by_rows(row, len(mu_positive), settings["seed"], objective)


def means(settings: dict) -> tuple[np.ndarray, np.ndarray]:
    """The means of the two angles, each (points,), in radians."""
    if settings["sigma_negative"] > 0.3:
        raise UserError(
            f"sigma_negative: {settings['sigma_negative']} rad lets angles pass 2π, where the fold of the hardest "
            "negative ends; use at most 0.3"
        )
    return _maps.axis(settings, "mu_positive_over_pi"), _maps.axis(settings, "mu_negative_over_pi")


def compute(settings: dict) -> pd.DataFrame:
    """Columns objective, mu_positive and mu_negative (radians), dissipation (mean over the batches, 0 to 1)."""
    mu_positive, mu_negative = means(settings)
    maps = [
        _maps.long_form(
            ("mu_positive", mu_positive),
            ("mu_negative", mu_negative),
            objective=objective,
            dissipation=mean_dissipation(objective, parameters, settings),
        )
        for objective, parameters in settings["objectives"].items()
    ]
    return pd.concat(maps, ignore_index=True)[["objective", "mu_positive", "mu_negative", "dissipation"]]


def draw(frame: pd.DataFrame, settings: dict) -> Figure:
    """One heat map an objective."""
    figure, panels = plotting.new(1, frame["objective"].nunique(), width=3.6, height=2.8)
    for panel, (objective, part) in zip(panels[0], frame.groupby("objective", sort=False), strict=True):
        plotting.heat(panel, *_maps.grid(part, "mu_positive", "mu_negative", "dissipation"), low=0, high=1)
        panel.set_title(f"{TITLES[objective]}: mean gradient dissipation")
        panel.set_xlabel("μ⁻ = mean angle to the negatives (rad)")
    panels[0, 0].set_ylabel("μ⁺ = mean angle to the positive (rad)")
    _maps.footnote(
        figure,
        settings,
        f"Each cell: mean over {settings['batches']:,} batches of 1 positive and {settings['negatives']} negatives.",
    )
    return figure
