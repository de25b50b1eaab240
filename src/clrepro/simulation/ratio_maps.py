"""The dynamic ratio of ArcCon and MET over the means of the two angles: li2024, figure 4.

    arccon  sin(theta_ii' + u) / sin(theta_ii')
    met     d(theta_ij') / d(theta_ii'),  d(theta) = sqrt(2 - 2 cos(theta)), j the hardest negative

    written   mean over sampled batches, as in figure 2; the median is kept beside it, because with normal angles the
              mean does not exist: the ratio has a pole at theta_ii' = 0, and a few draws near it decide small mu_pos
    released  no sampling: evaluated at the two means (met with 1e-8 under both roots)

Shaded are pairs of means that training does not visit: mu_pos > mu_neg, or a dissipation that has set in when all
angles equal their means (arccon: GD < smallest_dissipation with K negatives; met: the margin is reached).
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.random import Generator

from clrepro import plotting
from clrepro.errors import unknown
from clrepro.simulation import _maps
from clrepro.simulation._sampling import by_rows, distance, draw_angles, hardest
from clrepro.simulation.dissipation_maps import means

TITLES = {"arccon": "ArcCon", "met": "MET"}
FORMS = {"written": "mean over batches (written)", "released": "at the means (released)"}
ROOT_FLOOR = 1e-8  # added under the roots of the released script
SHOWN = 5.0  # upper end of the colours, as released


def sampled(objective: str, parameters: dict, settings: dict) -> tuple[np.ndarray, np.ndarray]:
    """Mean and median of the ratio over the batches, each (points, points): rows are mu_pos, columns mu_neg."""
    mu_positive, mu_negative = means(settings)

    def row(index: int, generator: Generator) -> np.ndarray:
        positive = np.empty(settings["batches"], np.float32)
        negatives = np.empty((settings["negatives"], settings["batches"]), np.float32)
        cells = np.empty((2, len(mu_negative)))
        for column, mean in enumerate(mu_negative):
            draw_angles(generator, mu_positive[index], settings["sigma_positive"], positive)
            angle = positive.astype(np.float64)
            if objective == "arccon":  # its ratio does not see the negatives
                ratio = np.sin(angle + parameters["angle"]) / np.sin(angle)
            else:
                draw_angles(generator, mean, settings["sigma_negative"], negatives)
                ratio = distance(hardest(negatives)) / distance(angle)
            cells[:, column] = ratio.mean(), np.median(ratio)
        return cells

    cells = by_rows(row, len(mu_positive), settings["seed"], f"ratio {objective}")
    return cells[:, 0], cells[:, 1]


def at_means(objective: str, parameters: dict, positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """The released ratio; angles in radians, broadcast."""
    if objective == "arccon":
        return np.sin(positive + parameters["angle"]) / np.sin(positive) + 0 * negative
    return np.sqrt((2 - 2 * np.cos(negative) + ROOT_FLOOR) / (2 - 2 * np.cos(positive) + ROOT_FLOOR))


def unvisited(objective: str, parameters: dict, positive: np.ndarray, negative: np.ndarray, settings: dict):
    """Where training does not go, bool, broadcast."""
    if objective == "arccon":
        gap = (np.cos(positive + parameters["angle"]) - np.cos(negative)) / parameters["temperature"]
        dissipated = 1 / (1 + np.exp(gap) / settings["negatives"]) < settings["smallest_dissipation"]
    else:
        dissipated = distance(negative) - distance(positive) >= parameters["margin"]
    return dissipated | (positive > negative)


def compute(settings: dict) -> pd.DataFrame:
    """Columns form, objective, mu_positive and mu_negative (radians), ratio, median, shaded.

    In the released form nothing is sampled: its median is missing.
    """
    mu_positive, mu_negative = means(settings)
    maps = []
    for objective, parameters in settings["objectives"].items():
        if objective not in TITLES:
            raise unknown("objective with a dynamic ratio", objective, TITLES)
        mean, median = sampled(objective, parameters, settings)
        places = parameters, mu_positive[:, None], mu_negative[None, :]
        shaded = unvisited(objective, *places, settings)
        for form, ratio, middle in (
            ("written", mean, median),
            ("released", at_means(objective, *places), np.nan),
        ):
            labels = {"form": form, "objective": objective}
            values = {"ratio": ratio, "median": middle, "shaded": shaded}
            maps.append(_maps.long_form(("mu_positive", mu_positive), ("mu_negative", mu_negative), **labels, **values))
    columns = ["form", "objective", "mu_positive", "mu_negative", "ratio", "median", "shaded"]
    return pd.concat(maps, ignore_index=True)[columns]


def draw(frame: pd.DataFrame, settings: dict) -> Figure:
    """A row a form, a column an objective."""
    objectives = list(frame["objective"].unique())
    figure, panels = plotting.new(len(FORMS), len(objectives), width=3.7, height=2.7)
    for line, form in zip(panels, FORMS, strict=True):
        for panel, objective in zip(line, objectives, strict=True):
            part = frame[(frame["form"] == form) & (frame["objective"] == objective)]
            x, y, ratio = _maps.grid(part, "mu_positive", "mu_negative", "ratio")
            plotting.heat(panel, x, y, ratio, low=0, high=SHOWN, levels=20)
            plotting.shade(panel, x, y, _maps.grid(part, "mu_positive", "mu_negative", "shaded")[2].astype(bool))
            panel.set_title(f"{TITLES[objective]}: ratio, {FORMS[form]}")
        line[0].set_ylabel("μ⁺ = mean angle to\nthe positive (rad)")
    for panel in panels[-1]:
        panel.set_xlabel("μ⁻ = mean angle to the negatives (rad)")
    visited = frame[(frame["form"] == "written") & ~frame["shaded"].astype(bool)]
    far = visited[np.abs(visited["ratio"] - visited["median"]) > 0.25 * np.abs(visited["median"])]
    _maps.footnote(
        figure,
        settings,
        f"Colours end at {SHOWN:g}. Shaded: μ⁺ > μ⁻, or dissipation has set in at the means. With normal angles "
        "the mean ratio does not exist (pole at θ⁺ = 0): that of the batches is over 25 % off the median (see csv) in "
        f"{len(far):,} of {len(visited):,} unshaded cells.",
    )
    return figure
