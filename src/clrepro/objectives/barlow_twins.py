r"""Barlow Twins: the cross-correlation of the two views pulled to the identity.

original, Zbontar et al. 2021 (and their code), columns of the raw views standardised over the batch:
    C = z^T z' / N  (D, D),   L = sum_k (1 - C_kk)^2 + lam sum_{k != l} C_kl^2
written, Li et al. 2024, section 4: the same of l2-normalised rows, C = h^T h' / N, no batch norm.
released, Li's code: a surrogate with the gradient (10) of the written loss and another value, B(h, h') + B(h', h),
    B(x, y) = sum_i x_i . sg[ lam 2 / N^2 sum_j (y_i . y_j) x_j - p y_i ],   p_k = 2 / N (1 - (1 - lam) C_kk)

Siblings: `vicreg` decorrelates each view by itself; `modified_barlow_twins` is Li's repair.
Negatives: none: the views' cross-correlation.
When: no negatives wanted; raw outputs and wide projectors (original), sentences (released).
Cites: zbontar2021, li2024.
"""

import torch
from torch import Tensor

from clrepro.objectives._similarity import normalise, with_gradients


def redundancy(correlation: Tensor, lam: float) -> Tensor:
    """sum_k (1 - C_kk)^2 + lam sum_{k != l} C_kl^2 of a (D, D) matrix, whose diagonal is set to 0."""
    diagonal = correlation.diagonal().clone()
    others = correlation.fill_diagonal_(0.0).flatten()
    return (1 - diagonal).square().sum() + lam * others.dot(others)


def original(view1: Tensor, view2: Tensor, *, lam: float = 0.0051) -> Tensor:
    """Raw views, standardised by the batch (biased variance, eps 1e-5); lam >= 0. Returns a scalar >= 0."""
    count = len(view1)
    with torch.no_grad():
        # columns of mean 0 and variance 1, (N, D), and the inverse deviations, (D,)
        (columns1, _, inverse1), (columns2, _, inverse2) = (
            torch.native_batch_norm(view, None, None, None, None, True, 0.0, 1e-5) for view in (view1, view2)
        )
        correlation = columns1.T @ columns2 / count
        diagonal = correlation.diagonal().clone()
        value = redundancy(correlation, lam)
        # the gradient by C, and its products with C, which standardising takes from the columns' gradients
        own = -2 * (1 - diagonal)
        squares = correlation.square()
        radial1, radial2 = (2 * lam * squares.sum(side) + own * diagonal for side in (1, 0))
        slope = correlation.mul_(2 * lam)
        slope.diagonal().copy_(own)
        scale1, scale2 = inverse1 / count, inverse2 / count
        gradient1 = (columns2 @ (slope.T * scale1)).addcmul_(columns1, -radial1 * scale1)
        # in place of view 1's columns, which nothing needs after their own block
        gradient2, slope, radial2 = columns1, slope * scale2, -radial2 * scale2
        for rows, others in zip(gradient2.split(512), columns2.split(512), strict=True):
            torch.addcmul(rows @ slope, others, radial2, out=rows)
    return with_gradients(value, (view1, gradient1), (view2, gradient2))


def written(view1: Tensor, view2: Tensor, *, lam: float = 30.0) -> Tensor:
    """Unit rows; lam (the paper's nu) >= 0. Returns a scalar >= 0."""
    unit1, unit2 = normalise(view1), normalise(view2)
    return redundancy(unit1.T @ unit2 / len(unit1), lam)


@torch.no_grad()
def positive_weights(correlation_diagonal: Tensor, count: int, lam: float) -> Tensor:
    """p_k = 2 / N (1 - (1 - lam) C_kk): (D,)."""
    return 2 / count * (1 - (1 - lam) * correlation_diagonal)


def released(view1: Tensor, view2: Tensor, *, lam: float = 30.0) -> Tensor:
    """The surrogate; lam >= 0. Returns a scalar whose value is not that of the written loss."""
    unit1, unit2 = normalise(view1), normalise(view2)
    count = len(unit1)
    with torch.no_grad():
        correlation = unit1.T @ unit2 / count
        weights = positive_weights(correlation.diagonal(), count, lam)
        # sum_j (y_i . y_j) x_j / N is a (D, D) product: C y_i, with no N x N matrix
        target1 = lam * 2 / count * (unit2 @ correlation.T) - weights * unit2
        target2 = lam * 2 / count * (unit1 @ correlation) - weights * unit1
    return (unit1 * target1).sum() + (unit2 * target2).sum()


VARIANTS = {"released": released, "written": written, "original": original}
