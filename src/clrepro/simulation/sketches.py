"""Sketches of li2024, computed: the proof of lemma 1, and what each component of the gradient does to an anchor.

lemma_1     The tangent plane at the anchor h (appendix C): h' lies at distance sin(theta_ii') along x, h_j' at
            sin(theta_ij') under the angle alpha. The step lambda (r h' - h_j') leads from h over c = -lambda h_j' to
            h_new, and |h_new - h'| = |h - h'| at the two ratios

                r = 1 / lambda + sin(theta_ij') cos(alpha) / sin(theta_ii')
                    -+ sqrt(1 / lambda^2 - sin^2(theta_ij') sin^2(alpha) / sin^2(theta_ii'))

            The lemma states the lower one; the anchor approaches h' between the two. b completes the rhombus b, h_new,
            h', h for the lower one: left of c in situation 1, right of it in situation 2.
components  (a) sentences on a circle, both views moved along equation 5's gradient, without and with dissipation;
            (b) the negatives' push on the tangent plane with equal and with exponential weights;
            (c) a step on the tangent plane with a ratio outside and one inside the bounds of lemma 1.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro.errors import UserError, unknown
from clrepro.simulation import _drawing
from clrepro.simulation._sampling import distance

ANCHOR, POSITIVE, NEGATIVE = "hᵢ", "hᵢ′", "hⱼ′"


class Plane:
    """Points, arrows and numbers of one panel, collected as lines of a table."""

    def __init__(self, panel: str):
        self.panel, self.lines = panel, []

    def add(self, kind: str, name: str, start=(np.nan, np.nan), end=(np.nan, np.nan), value: float = np.nan) -> None:
        """A point has a start; an arrow, line or circle (centre, a point on it) also an end; a number only a value."""
        x, y, x_end, y_end = *start, *end
        row = {"panel": self.panel, "kind": kind, "name": name, "x": x, "y": y, "x_end": x_end, "y_end": y_end}
        self.lines.append({**row, "value": value})


def ratio_bounds(theta_positive: float, theta_negative: float, alpha: float, step: float) -> tuple[float, float]:
    """The two ratios at which a step keeps the distance to the positive; angles in radians, step = lambda."""
    positive, negative = np.sin(theta_positive), np.sin(theta_negative)
    radicand = 1 / step**2 - (negative * np.sin(alpha) / positive) ** 2
    if radicand < 0:
        raise UserError(
            f"theta_positive {theta_positive}, theta_negative {theta_negative}, alpha {alpha}, step {step}: no ratio "
            "keeps the distance; take a smaller step in experiments.yaml"
        )
    middle = 1 / step + negative * np.cos(alpha) / positive
    return middle - np.sqrt(radicand), middle + np.sqrt(radicand)


def on_tangent_plane(theta: float, azimuth: float) -> np.ndarray:
    """A unit vector at the angle theta to the anchor, projected onto the tangent plane at the anchor, (2,)."""
    return np.sin(theta) * np.array([np.cos(azimuth), np.sin(azimuth)])


def lemma_1(settings: dict) -> list[dict]:
    """Every point of the proof's sketch, in each situation."""
    lines = []
    for name, angles in settings["situations"].items():
        plane, step = Plane(name), angles["step"]
        anchor, positive = np.zeros(2), on_tangent_plane(angles["theta_positive"], 0)
        negative = on_tangent_plane(angles["theta_negative"], angles["alpha"])
        corner = -step * negative
        lower, upper = ratio_bounds(**angles)
        moved, moved_upper = (corner + step * ratio * positive for ratio in (lower, upper))
        rhombus = moved - positive
        plane.add("circle", "distance kept", positive, anchor)
        for start, end in ((anchor, positive), (positive, moved), (moved, rhombus), (rhombus, anchor)):
            plane.add("edge", "rhombus", start, end)
        plane.add("arrow", f"−λ {NEGATIVE}", anchor, corner)
        plane.add("arrow", f"λ r {POSITIVE}, lower r", corner, moved)
        plane.add("dashed", f"λ r {POSITIVE}, upper r", moved, moved_upper)
        plane.add("dashed", f"to {NEGATIVE}", anchor, negative)
        points = {ANCHOR: anchor, POSITIVE: positive, NEGATIVE: negative, "c": corner, "b": rhombus}
        for label, place in {**points, "hᵢⁿ": moved, "upper hᵢⁿ": moved_upper}.items():
            plane.add("point", label, place)
        plane.add("number", "lower r", value=lower)
        plane.add("number", "upper r", value=upper)
        lines += plane.lines
    return lines


def train_on_circle(
    angles: list[float], offset: float, temperature: float, ratio: float, margin: float, step: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Descend equation 5 of N sentences on the unit circle; returns the angles of both views, (N,) each, radians.

    Views start at angles and angles + offset. The loss is the mean of GD_i sum_j W_ij (s_ij - r s_ii), GD_i = 1 while
    s_ii - max_j s_ij < margin, W_ij the softmax of s_ij / tau over j != i; GD and W take no gradient.
    """
    first = np.array(angles, float)
    second = first + offset
    own = np.eye(len(first), dtype=bool)
    for _ in range(steps):
        apart = first[:, None] - second[None, :]  # (N, N)
        others = np.where(own, -np.inf, np.cos(apart))
        active = np.cos(apart).diagonal() - others.max(axis=1) < margin
        weight = np.exp((others - others.max(axis=1, keepdims=True)) / temperature)
        weight /= weight.sum(axis=1, keepdims=True)
        slope = active[:, None] * np.sin(apart) * (ratio * own - weight) / len(first)  # d loss / d apart
        first = first - step * slope.sum(axis=1)
        second = second + step * slope.sum(axis=0)
    return first, second


def dissipation_panels(settings: dict) -> list[dict]:
    """(a) where the sentences come to rest; the drawn anchor is the first sentence."""
    lines = []
    for name, margin in (("a: without dissipation", np.inf), ("a: with dissipation", settings["margin"])):
        shared = {key: value for key, value in settings.items() if key != "margin"}
        first, second = train_on_circle(**shared, margin=margin)
        apart = np.abs((first[0] - second + np.pi) % (2 * np.pi) - np.pi)
        place = [np.array([np.cos(angle), np.sin(angle)]) for angle in (first[0], *second)]
        plane = Plane(name)
        plane.add("circle", "unit circle", (0, 0), (1, 0))
        order = 1 + np.argsort(apart[1:])
        plane.add("edge", "to the positive", place[0], place[1])
        plane.add("edge", "to the hardest negative", place[0], place[1 + order[0]])
        for rank, index in enumerate(order):
            plane.add("negative", f"negative {rank + 1}", place[1 + index], value=rank / max(len(order) - 1, 1))
        plane.add("positive", "positive", place[1])
        plane.add("anchor", "anchor", place[0])
        plane.add("number", "to positive", value=distance(apart[0]))
        plane.add("number", "to hardest negative", value=distance(apart[order[0]]))
        plane.add("number", "gap", value=distance(apart[order[0]]) - distance(apart[0]))
        lines += plane.lines
    return lines


def weight_panels(settings: dict) -> list[dict]:
    """(b) one step of the anchor; negatives are [theta_ij', azimuth] in radians."""
    negatives = sorted(settings["negatives"])
    places = np.array([on_tangent_plane(*negative) for negative in negatives])  # (K, 2)
    positive = on_tangent_plane(settings["theta_positive"], settings["azimuth_positive"])
    cosines = np.cos([theta for theta, _ in negatives])
    exponential = np.exp((cosines - cosines.max()) / settings["temperature"])
    equal = np.ones(len(negatives))
    lines = []
    for name, weight in (("b: equal weights", equal), ("b: exponential weights", exponential)):
        weight = weight / weight.sum()
        plane, push = Plane(name), -settings["step"] * weight[:, None] * places
        total = push.sum(axis=0)
        for rank, (place, part) in enumerate(zip(places, push, strict=True)):
            plane.add("thin arrow", f"push of negative {rank + 1}", (0, 0), part, weight[rank])
            plane.add("negative", f"negative {rank + 1}", place, value=rank / (len(negatives) - 1))
        plane.add("arrow", "push of all negatives", (0, 0), total)
        plane.add("positive", "positive", positive)
        plane.add("anchor", "anchor", (0, 0))
        plane.add("moved", "moved anchor", total + settings["step"] * settings["ratio"] * positive)
        away = -places[0] / np.linalg.norm(places[0])
        plane.add("number", "weight of hardest negative", value=weight[0])
        plane.add("number", "total push to the hardest's (rad)", value=np.arccos(away @ total / np.linalg.norm(total)))
        lines += plane.lines
    return lines


def ratio_panels(settings: dict) -> list[dict]:
    """(c) a step with each of two ratios."""
    angles = {key: settings[key] for key in ("theta_positive", "theta_negative", "alpha", "step")}
    lower, upper = ratio_bounds(**angles)
    positive = on_tangent_plane(angles["theta_positive"], 0)
    negative = on_tangent_plane(angles["theta_negative"], angles["alpha"])
    lines = []
    for ratio in settings["ratios"]:
        met = lower < ratio < upper
        plane = Plane(f"c: r = {ratio:g}, condition {'met' if met else 'not met'}")
        moved = angles["step"] * (ratio * positive - negative)
        plane.add("circle", "distance kept", positive, (0, 0))
        plane.add("arrow", f"λ (r {POSITIVE} − {NEGATIVE})", (0, 0), moved)
        plane.add("edge", "to the positive, after", moved, positive)
        plane.add("positive", "positive", positive)
        plane.add("negative", "negative 1", negative, value=0)
        plane.add("anchor", "anchor", (0, 0))
        plane.add("moved", "moved anchor", moved)
        plane.add("number", "to positive before", value=np.linalg.norm(positive))
        plane.add("number", "to positive after", value=np.linalg.norm(moved - positive))
        plane.add("number", "lower bound of r", value=lower)
        lines += plane.lines
    return lines


def components(settings: dict) -> list[dict]:
    """The three illustrations, without and with the component."""
    parts = {"dissipation": dissipation_panels, "weight": weight_panels, "ratio": ratio_panels}
    return [line for part, panels in parts.items() for line in panels(settings[part])]


SUBJECTS = {"lemma_1": lemma_1, "components": components}


def compute(settings: dict) -> pd.DataFrame:
    """Columns panel, kind, name, x, y, x_end, y_end (on the tangent plane or the circle), value."""
    if settings["subject"] not in SUBJECTS:
        raise unknown("subject", settings["subject"], SUBJECTS)
    return pd.DataFrame(SUBJECTS[settings["subject"]](settings))


def draw(frame: pd.DataFrame, settings: dict) -> Figure:
    """Two panels a row, all to the same scale within a panel."""
    return _drawing.panels(frame, settings)
