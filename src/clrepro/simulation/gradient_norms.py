"""Norms of the two parts of an anchor's gradient over the two angles: nie2023, figures 2a, 2b and 4.

All K angles to negatives are equal (theta_n; theta_p is the positive's), the factor 1 / norm(h) is dropped, and the
equations are corrected where the paper misprints them. With c = cos(theta), d = sqrt(2 - 2 c):

    objective      alignment part                    uniformity part, of one negative             equations
    infonce        sin(theta_p) / tau * p            sin(theta_n) / tau * p / K                   7, 16
    align_uniform  alpha d_p^(alpha-2) sin(theta_p)  2 t sin(theta_n) / (K (K + 1))               8, 17
    dcl            sin(theta_p) / tau                sin(theta_n) / (tau K)                       9, 18
    dcl_plus       the same where log K + (c_n - c_p) / tau > 0, else 0                           11, 19
    mpt            sin(theta_p) and sin(theta_n) where c_p - c_n < m, else 0                      39, 20
    met            cos(theta_p / 2) and cos(theta_n / 2) where d_n - d_p < m, else 0              39, 21
    mat            1 and 1 where theta_n - theta_p < m, else 0                                    39, 22

with p = K exp(c_n / tau) / (exp(c_p / tau) + K exp(c_n / tau)). L_uniform is one logarithm over the whole batch:
equation 17 sums over N = K + 1 anchors of K negatives each, hence its further factor 1 / (K + 1).
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.errors import UserError, unknown
from clrepro.simulation import _maps
from clrepro.simulation._sampling import distance

Norms = tuple[np.ndarray, np.ndarray]  # alignment, uniformity


def infonce(positive: np.ndarray, negative: np.ndarray, temperature: float, negatives: int) -> Norms:
    """Equations 7 and 16."""
    gap = (np.cos(positive) - np.cos(negative)) / temperature
    probability = 1 / (1 + np.exp(gap) / negatives)
    alignment, uniformity = dcl(positive, negative, temperature, negatives)
    return probability * alignment, probability * uniformity


def align_uniform(
    positive: np.ndarray, negative: np.ndarray, alpha: float = 2.0, t: float = 2.0, negatives: int = 1
) -> Norms:
    """Equations 8 and 17: one part each of the two losses, without the weights 1 - lambda and lambda."""
    alignment = alpha * distance(positive) ** (alpha - 2) * np.sin(positive)
    return alignment, 2 * t * np.sin(negative) / (negatives * (negatives + 1))


def dcl(positive: np.ndarray, negative: np.ndarray, temperature: float, negatives: int) -> Norms:
    """Equations 9 and 18."""
    return np.sin(positive) / temperature, np.sin(negative) / (temperature * negatives)


def dcl_plus(positive: np.ndarray, negative: np.ndarray, temperature: float, negatives: int) -> Norms:
    """Equations 11 and 19."""
    active = np.log(negatives) + (np.cos(negative) - np.cos(positive)) / temperature > 0
    return tuple(part * active for part in dcl(positive, negative, temperature, negatives))


def mpt(positive: np.ndarray, negative: np.ndarray, margin: float) -> Norms:
    """Equations 39 (first case) and 20."""
    active = np.cos(positive) - np.cos(negative) < margin
    return np.sin(positive) * active, np.sin(negative) * active


def met(positive: np.ndarray, negative: np.ndarray, margin: float) -> Norms:
    """Equations 39 (second case) and 21."""
    active = distance(negative) - distance(positive) < margin
    return np.cos(positive / 2) * active, np.cos(negative / 2) * active


def mat(positive: np.ndarray, negative: np.ndarray, margin: float) -> Norms:
    """Equations 39 (third case) and 22."""
    active = negative - positive < margin
    return 1.0 * active, 1.0 * active


NORMS: dict[str, Callable[..., Norms]] = {
    "infonce": infonce,
    "align_uniform": align_uniform,
    "dcl": dcl,
    "dcl_plus": dcl_plus,
    "mpt": mpt,
    "met": met,
    "mat": mat,
}
PARTS = ("alignment", "uniformity")
TITLES = {
    "infonce": ("L_cl", "L_cl"),
    "align_uniform": ("L_align", "L_uniform"),
    "dcl": ("L_dcl", "L_dcl"),
    "dcl_plus": ("L_dcl+", "L_dcl+"),
    "mpt": ("L_mpt", "L_mpt"),
    "met": ("L_met", "L_met"),
    "mat": ("L_mat", "L_mat"),
}

TICKS = {place: text for place, text in plotting.PI_TICKS.items() if place >= np.pi / 4}


def title(panel: dict, part: str) -> str:
    """What a panel shows, for instance "L_cl, 64 negatives"."""
    name = TITLES[panel["objective"]][PARTS.index(part)]
    return f"{name}, {panel['negatives']:,} negatives" if "negatives" in panel else name


def compute(settings: dict) -> pd.DataFrame:
    """Columns panel, theta_positive and theta_negative (radians), norm."""
    part = settings["part"]
    if part not in PARTS:
        raise unknown("part", part, PARTS)
    angle = np.pi * np.arange(1, settings["points"] + 1) / settings["points"]
    maps = []
    for panel in settings["panels"]:
        parameters = {name: value for name, value in panel.items() if name != "objective"}
        if panel["objective"] not in NORMS:
            raise unknown("objective", panel["objective"], NORMS)
        try:
            norms = NORMS[panel["objective"]](angle[:, None], angle[None, :], **parameters)
        except TypeError as error:
            raise UserError(f"panel {panel}: {error}; mend the figure's settings in experiments.yaml") from None
        axes = ("theta_positive", angle), ("theta_negative", angle)
        maps.append(_maps.long_form(*axes, panel=title(panel, part), norm=norms[PARTS.index(part)]))
    return pd.concat(maps, ignore_index=True)[["panel", "theta_positive", "theta_negative", "norm"]]


def draw(frame: pd.DataFrame, settings: dict) -> Figure:
    """A heat map a panel, each with its own colours, because the norms differ by orders of magnitude."""
    names = list(frame["panel"].unique())
    columns = -(-len(names) // 2) if len(names) > 4 else len(names)
    figure, panels = plotting.new(-(-len(names) // columns), columns, width=2.6, height=2.2)
    for panel, name in zip(panels.ravel(), names, strict=False):
        x, y, norm = _maps.grid(frame[frame["panel"] == name], "theta_positive", "theta_negative", "norm")
        plotting.heat(panel, x, y, norm, low=0)
        panel.set_xticks(list(TICKS), list(TICKS.values()))
        panel.set_yticks(list(TICKS), list(TICKS.values()))
        panel.set_title(name)
    for panel in panels.ravel()[len(names) :]:
        panel.set_axis_off()
    for panel in panels[-1]:
        panel.set_xlabel("θ⁻, to the negatives (rad)")
    for panel in panels[:, 0]:
        panel.set_ylabel("θ⁺, to the positive (rad)")
    what = {"alignment": "Alignment part", "uniformity": "Uniformity part, of a single negative,"}[settings["part"]]
    _maps.footnote(
        figure,
        settings,
        f"{what} of the norm of the anchor's gradient; all angles to negatives equal, factor 1/‖h‖ dropped. "
        "Each panel has its own colours.",
    )
    return figure
