r"""Batches with given angles: two views of N examples, every one of them an anchor in the same situation.

    h_i  = cos(t_i / 2) b_i + sin(t_i / 2) v_i,     h'_i = cos(t_i / 2) b_i - sin(t_i / 2) v_i
    b_i  = sqrt(m) e + sqrt(1 - m) g_i / ||g_i||,   m = cos(mu_neg) / cos^2(mu_pos / 2),   t_i ~ N(mu_pos, 0.05^2)
with normal g_i and random directions v_i orthogonal to b_i. So s_ii = cos t_i exactly, and all negatives, of either
view, lie at angles around mu_neg. The variances of g's coordinates decay so that these angles spread by about 0.10
rad; by less towards the unreachable corner, where all b_i are one vector. Both spreads are those of Li et al. 2024,
section 3.1; unlike angles drawn one by one, these belong to vectors that exist. No batch has all its angles above 90
degrees, or its negatives much closer to an anchor than half its positive's angle: such pairs are unreachable.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

POSITIVE_SPREAD = 0.05
NEGATIVE_SPREAD = 0.10
CONE = 200  # dimensions of g
ROOM = 64  # dimensions that no vector uses: a part of the gradient that fits nothing has where to show
CLOSEST = 0.995  # m beyond which a batch is a point
FLOOR = 0.1  # share of g's variance that all dimensions have alike: it keeps the vectors independent


@dataclass(frozen=True)
class Draws:
    """The random numbers of a batch; all pairs of angles use the same, so that maps are smooth."""

    directions: Tensor  # g: (N, CONE) standard normal
    differences: Tensor  # v before it is made orthogonal to b: (N, CONE + 1) standard normal
    positives: Tensor  # (N,) standard normal
    frame: Tensor  # (D, CONE + 1) orthonormal columns: no coordinate axis is special


def draws(batch: int, seed: int = 0) -> Draws:
    """The random numbers for N = batch examples, 2 <= N <= CONE / 2."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    frame, _ = torch.linalg.qr(normal(CONE + 1 + ROOM, CONE + 1))
    return Draws(normal(batch, CONE), normal(batch, CONE + 1), normal(batch), frame)


def cone_cosine(positive_angle: float, negative_angle: float) -> float:
    """m, the mean cosine of the b_i."""
    return math.cos(negative_angle) / math.cos(positive_angle / 2) ** 2


def reachable(positive_angle: float, negative_angle: float) -> bool:
    """Whether a batch exists in which every anchor has these mean angles."""
    return -1e-12 <= cone_cosine(positive_angle, negative_angle) <= CLOSEST


def spectrum(cosine: float, positive_angle: float, negative_angle: float) -> Tensor:
    """The variances of g's coordinates, (CONE,), summing to 1, for b_i of this mean cosine.

    The negatives' angles spread by cos^2(mu_pos / 2) (1 - m) / sin(mu_neg) times the root of the sum of the squared
    variances; variances q^d that sum to 1 have squares that sum to (1 - q) / (1 + q).
    """
    slope = math.cos(positive_angle / 2) ** 2 * (1 - cosine) / math.sin(negative_angle)
    squares = min((NEGATIVE_SPREAD / slope) ** 2, 0.25)
    decaying = (squares - FLOOR * (2 - FLOOR) / CONE) / (1 - FLOOR) ** 2
    variances = torch.logspace(0, CONE - 1, CONE, base=(1 - decaying) / (1 + decaying), dtype=torch.float64)
    return (1 - FLOOR) * variances / variances.sum() + FLOOR / CONE


def views(positive_angle: float, negative_angle: float, numbers: Draws) -> tuple[Tensor, Tensor]:
    """Two views, (N, D) unit rows each, with these mean angles in radians; they must be reachable."""
    cosine = max(cone_cosine(positive_angle, negative_angle), 0.0)
    scattered = torch.nn.functional.normalize(
        numbers.directions * spectrum(cosine, positive_angle, negative_angle).sqrt(), dim=1
    )
    cone = torch.nn.functional.pad(math.sqrt(1 - cosine) * scattered, (1, 0), value=math.sqrt(cosine))
    differences = numbers.differences - (numbers.differences * cone).sum(1, keepdim=True) * cone
    differences = torch.nn.functional.normalize(differences, dim=1)
    half = (positive_angle + POSITIVE_SPREAD * numbers.positives).abs().unsqueeze(1) / 2
    return tuple((half.cos() * cone + sign * half.sin() * differences) @ numbers.frame.T for sign in (1, -1))
