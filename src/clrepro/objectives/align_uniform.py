r"""Alignment and uniformity (a&u).

    L = (1 - lam) * A + lam * U
    A = mean_i ||h_i - h'_i||^alpha

written, Nie et al. 2023, equations (2)-(4), negatives across the views:
    U = log mean_{i != j} exp(-t ||h_i - h'_j||^2)
released, their code (and Wang & Isola's form), within each view and averaged after the logarithm:
    U = 2t + 1/2 [ log mean_{i<j} exp(-t ||h_i - h_j||^2) + log mean_{i<j} exp(-t ||h'_i - h'_j||^2) ]
where the constant 2t has no gradient.
"""

import math

from torch import Tensor

from clrepro.objectives._similarity import cosines, diagonal_mask, normalise


def alignment(view1: Tensor, view2: Tensor, alpha: float) -> Tensor:
    """mean_i ||h_i - h'_i||^alpha; the gradient of equal views is 0."""
    squares = (normalise(view1) - normalise(view2)).square().sum(1)
    positive = squares > 0
    return (squares.where(positive, 1.0) ** (alpha / 2) * positive).mean()


def uniformity(view1: Tensor, view2: Tensor, t: float) -> Tensor:
    """log mean_{i != j} exp(-t ||h_i - h'_j||^2); with view1 = view2 the same as the mean over i < j."""
    # exponents: (N, N), -t ||h_i - h'_j||^2 = -2t (1 - s_ij)
    exponents = -2 * t * (1 - cosines(view1, view2))
    exponents = exponents.masked_fill(diagonal_mask(exponents), float("-inf"))
    return exponents.flatten().logsumexp(0) - math.log(len(view1) * (len(view1) - 1))


def written(view1: Tensor, view2: Tensor, *, alpha: float = 2.0, t: float = 6.0, lam: float = 0.1) -> Tensor:
    """Uniformity across the views. alpha > 0, t > 0, 0 <= lam <= 1. Returns a scalar."""
    return (1 - lam) * alignment(view1, view2, alpha) + lam * uniformity(view1, view2, t)


def released(view1: Tensor, view2: Tensor, *, alpha: float = 2.0, t: float = 6.0, lam: float = 0.1) -> Tensor:
    """Uniformity within each view, plus the constant 2t. alpha > 0, t > 0, 0 <= lam <= 1. Returns a scalar."""
    spread = 2 * t + (uniformity(view1, view1, t) + uniformity(view2, view2, t)) / 2
    return (1 - lam) * alignment(view1, view2, alpha) + lam * spread


VARIANTS = {"written": written, "released": released}
