r"""Alignment and uniformity (a&u).

    L = (1 - lam) * A + lam * U
    A = mean_i ||h_i - h'_i||^alpha

written, Nie et al. 2023, equations (2)-(4), negatives across the views:
    U = log mean_{i != j} exp(-t ||h_i - h'_j||^2)
released, their code (and Wang & Isola's form), within each view and averaged after the logarithm:
    U = 2t + 1/2 [ log mean_{i<j} exp(-t ||h_i - h_j||^2) + log mean_{i<j} exp(-t ||h'_i - h'_j||^2) ]
where the constant 2t has no gradient.

Siblings: `mhe` has the same uniformity at t = 1 (written) with another weight.
Negatives: all other examples, within the views (released) or across (written).
When: alignment and uniformity optimised directly; on sentences worse than InfoNCE.
Cites: nie2023, wang2020.
"""

import math

import torch
from torch import Tensor

from clrepro.objectives._pairs import energy, log_sum_exp
from clrepro.objectives._similarity import normalise, paired_squares


def alignment(unit1: Tensor, unit2: Tensor, alpha: float = 2.0) -> Tensor:
    """mean_i ||h_i - h'_i||^alpha; the gradient of equal views is 0."""
    squares = paired_squares(unit1, unit2)
    if alpha == 2:
        return squares.mean()
    positive = squares > 0
    return (torch.where(positive, squares, 1.0) ** (alpha / 2) * positive).mean()


def log_mean_potential(exponents: Tensor, count: int, t: float) -> Tensor:
    """log mean_{i != j} exp(-t d_ij^2) from log sum_{i != j} exp(2t s_ij), since d_ij^2 = 2 - 2 s_ij."""
    return exponents - 2 * t - math.log(count * (count - 1))


def written(view1: Tensor, view2: Tensor, *, alpha: float = 2.0, t: float = 6.0, lam: float = 0.1) -> Tensor:
    """Uniformity across the views. alpha > 0, t > 0, 0 <= lam <= 1. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    across = log_sum_exp(unit1, unit2, 1 / (2 * t)).logsumexp(0)
    return (1 - lam) * alignment(unit1, unit2, alpha) + lam * log_mean_potential(across, len(unit1), t)


def released(view1: Tensor, view2: Tensor, *, alpha: float = 2.0, t: float = 6.0, lam: float = 0.1) -> Tensor:
    """Uniformity within each view, plus the constant 2t. alpha > 0, t > 0, 0 <= lam <= 1. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    within = (energy(unit1, 1 / (2 * t)) + energy(unit2, 1 / (2 * t))) / 2
    return (1 - lam) * alignment(unit1, unit2, alpha) + lam * (2 * t + log_mean_potential(within, len(unit1), t))


VARIANTS = {"written": written, "released": released}
