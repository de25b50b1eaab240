"""An objective's components over the angles of the batch: the anchors that the x-ray's picture and verdict rest on."""

import math
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import torch

from clrepro.xray._decompose import coefficients, components
from clrepro.xray.views import Draws, reachable, views

BATCH = 64
POINTS = 24
POSITIVE_ANGLES = NEGATIVE_ANGLES = np.linspace(math.pi / 20, math.pi / 2, POINTS)
TEMPERATURES = (0.3, 0.1, 0.05, 0.03, 0.01, 0.005)  # those of the released simulation (li2024)
SHARE_AT = math.pi / 6  # the positive angle of li2024's figure 3
STEPS = np.geomspace(0.05, 2, 25)  # lambda of lemma 1


def exchanged(objective: Callable) -> Callable:
    return lambda view1, view2: objective(view2, view1)


def anchor_side(objective: Callable, numbers: Draws) -> int:
    """The view whose rows are the objective's anchors: where fewer of them have a positive and no negatives."""
    orphans = []
    for side in (objective, exchanged(objective)):
        parts = [components(coefficients(side, *views(0.6, angle, numbers))) for angle in (0.8, 1.0, 1.3)]
        orphans.append(sum(int(part.ratio.isinf().sum()) for part in parts))
    return 2 if orphans[1] < orphans[0] else 1


def kinds_used(objective: Callable, numbers: Draws) -> tuple[bool, bool]:
    """Whether the objective has negatives in the other view, and in the anchor's own; both where it has none."""
    weights = [0.0, 0.0]
    for positive, negative in ((0.6, 0.7), (0.6, 1.0), (1.2, 1.4)):
        parts = coefficients(objective, *views(positive, negative, numbers))
        weights = [total + float(part.abs().sum()) for total, part in zip(weights, parts[1:3], strict=True)]
    return weights[0] >= 0.01 * max(weights), weights[1] >= 0.01 * max(weights)


def survey(objective: Callable, numbers: Draws, progress: Callable[[Iterable], Iterable] = iter) -> pd.DataFrame:
    """A line for every anchor of a batch at every reachable pair of angles; angles in radians.

    positive_mean, negative_mean: of the batch. positive_angle, hardest_angle: the anchor's own. gap: s_ii minus the
    hardest negative's cosine. dissipation, ratio, residual: see Components. pull: |a_i|. share: of the hardest negative
    in the weight. turn: the angle alpha of lemma 1 between the planes to the positive and to the hardest negative.
    closer_*: whether a step of size lambda against the gradient (its sum of weights made 1) brings the anchor closer to
    its positive, on the sphere.
    """
    grid = [(p, n) for p in POSITIVE_ANGLES for n in NEGATIVE_ANGLES if reachable(p, n)]
    kinds = kinds_used(objective, numbers)
    frames = []
    for positive, negative in progress(grid):
        frame = anchors(objective, *views(positive, negative, numbers), kinds)
        frames.append(frame.assign(positive_mean=positive, negative_mean=negative))
    return pd.concat(frames, ignore_index=True)


def shares(objective: Callable, numbers: Draws) -> pd.DataFrame:
    """negative_mean, share: of the hardest negative, mean over active anchors whose positive lies at pi / 6."""
    kinds = kinds_used(objective, numbers)
    lines = []
    for negative in NEGATIVE_ANGLES:
        if reachable(SHARE_AT, negative):
            frame = anchors(objective, *views(SHARE_AT, negative, numbers), kinds)
            lines.append((negative, frame.loc[frame["dissipation"] != 0, "share"].mean()))
    return pd.DataFrame(lines, columns=["negative_mean", "share"])


def anchors(objective: Callable, view1: torch.Tensor, view2: torch.Tensor, kinds: tuple[bool, bool]) -> pd.DataFrame:
    """One batch of the survey; kinds: which negatives count, see `kinds_used`."""
    parts = coefficients(objective, view1, view2)
    dissipation, weight, ratio, residual = components(parts)
    cross, within = view1 @ view2.T, view1 @ view1.T
    positive = cross.diagonal().clamp(-1, 1)
    hardest, place, own_view = hardest_negative(cross, within, kinds)
    rows = torch.arange(len(view1))
    key = torch.where(own_view.unsqueeze(1), view1[place], view2[place])
    sines = (1 - positive**2).sqrt() * (1 - hardest**2).sqrt()
    turn = (((key * view2).sum(1) - positive * hardest) / sines).clamp(-1, 1).arccos()
    columns = {
        "positive_angle": positive.arccos(),
        "hardest_angle": hardest.clamp(-1, 1).arccos(),
        "gap": positive - hardest,
        "dissipation": dissipation,
        "ratio": ratio,
        "residual": residual,
        "pull": parts.positive.abs(),
        "share": weight[rows, place],
        "turn": turn,
    }
    direction = -parts.gradient / dissipation.abs().clamp(min=1e-300).unsqueeze(1)
    moving = dissipation != 0
    for number, step in enumerate(STEPS):
        moved = torch.nn.functional.normalize(view1 + step * direction, dim=1)
        columns[f"closer_{number}"] = torch.where(moving, (moved * view2).sum(1) > positive, False)
    return pd.DataFrame({name: values.numpy() for name, values in columns.items()})


def hardest_negative(
    cross: torch.Tensor, within: torch.Tensor, kinds: tuple[bool, bool]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(cosine, row, whether in the anchor's own view) of the most similar negative of the kinds that count."""
    candidates = [
        cosines.clone().fill_diagonal_(-2) if used else torch.full_like(cosines, -2)
        for cosines, used in zip((cross, within), kinds, strict=True)
    ]
    best, place = torch.cat(candidates, dim=1).max(dim=1)
    return best, place % len(cross), place >= len(cross)


def lemma_bounds(frame: pd.DataFrame, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Lemma 1's lower bound on the ratio, and the upper one that it lacks; NaN where no ratio brings the anchor closer.

    1/lambda + q cos(alpha) -+ sqrt(1/lambda^2 - q^2 sin^2(alpha)), q = sin(theta_ij') / sin(theta_ii').
    """
    quotient = np.sin(frame["hardest_angle"]) / np.sin(frame["positive_angle"])
    radicand = 1 / step**2 - (quotient * np.sin(frame["turn"])) ** 2
    root = np.sqrt(radicand.where(radicand >= 0))
    middle = 1 / step + quotient * np.cos(frame["turn"])
    return (middle - root).to_numpy(), (middle + root).to_numpy()
