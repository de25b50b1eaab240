r"""VICReg: alignment, and covariances of each view pulled to zero.

original, Bardes et al. 2022 (and their code), on raw views x, x':
    L = a mean_ik (x_ik - x'_ik)^2 + b / 2 [ V(x) + V(x') ] + c [ S(x) + S(x') ]
    V(x) = mean_k max(0, 1 - sqrt(var_k + 1e-4)),   S(x) = 1 / D sum_{k != l} cov_kl^2
    with unbiased var and cov, a = b = 25, c = 1.
written, Li et al. 2024: the loss whose gradient is their equation (11), of unit rows, all entries of the uncentred
covariance and no variance term (their section 4 prints the centred off-diagonal one and a hinge, which have not
that gradient):
    L = mean_i ||h_i - h'_i||^2 + lam / 2 [ ||h^T h / N||^2 + ||h'^T h' / N||^2 ]   (Frobenius norms)
released, Li's code: a surrogate with the same gradient and another value, V(h, h') + V(h', h),
    V(x, y) = sum_i x_i . sg[ lam 2 / N^2 sum_j (x_i . x_j) x_j - 2 / N y_i ]

Siblings: `barlow_twins` decorrelates across the views; `modified_vicreg` is Li's repair.
Negatives: none: each view's covariance.
When: no negatives wanted, and views that may come from two encoders (original); sentences (released).
Cites: bardes2022, li2024.
"""

import torch
from torch import Tensor

from clrepro.objectives._similarity import normalise, with_gradients
from clrepro.objectives.align_uniform import alignment


@torch.no_grad()
def decorrelation(view: Tensor, variance: float, covariance: float) -> tuple[Tensor, Tensor]:
    """b / 2 V(x) + c S(x) of one view, a scalar, and its gradient, (N, D)."""
    count, width = view.shape
    centred = view - view.mean(0)
    products = centred.T @ centred / (count - 1)
    variances = products.diagonal().clone()
    deviations = (variances + 1e-4).sqrt()
    value = variance / 2 * (1 - deviations).relu().mean()
    products.diagonal().zero_()
    value += covariance * torch.linalg.vector_norm(products) ** 2 / width
    # both terms pass through x^T x: the derivative by its entries, then one product back to x
    scale = 1 / (width * (count - 1))
    products.mul_(4 * covariance * scale)
    products.diagonal().copy_(-variance / 2 * scale * (deviations < 1) / deviations)
    return value, centred @ products


def original(
    view1: Tensor, view2: Tensor, *, invariance: float = 25.0, variance: float = 25.0, covariance: float = 1.0
) -> Tensor:
    """Raw views; the weights a, b, c of the three terms, each >= 0. Returns a scalar >= 0."""
    value1, gradient1 = decorrelation(view1, variance, covariance)
    value2, gradient2 = decorrelation(view2, variance, covariance)
    with torch.no_grad():
        gap = view1 - view2
        value = invariance * gap.square().mean() + value1 + value2
        pull = 2 * invariance / gap.numel()
        gradient1.add_(gap, alpha=pull)
        gradient2.sub_(gap, alpha=pull)
    return with_gradients(value, (view1, gradient1), (view2, gradient2))


def written(view1: Tensor, view2: Tensor, *, lam: float = 30.0) -> Tensor:
    """Unit rows; lam (the paper's nu) >= 0. Returns a scalar >= 0."""
    units = normalise(view1), normalise(view2)
    covariances = sum((unit.T @ unit / len(unit)).square().sum() for unit in units)
    return alignment(*units) + lam / 2 * covariances


def released(view1: Tensor, view2: Tensor, *, lam: float = 30.0) -> Tensor:
    """The surrogate; lam >= 0. Returns a scalar whose value is not that of the written loss."""
    unit1, unit2 = normalise(view1), normalise(view2)
    count = len(unit1)
    with torch.no_grad():
        # sum_j (x_i . x_j) x_j is a (D, D) product, with no N x N matrix
        target1 = lam * 2 / count**2 * (unit1 @ (unit1.T @ unit1)) - 2 / count * unit2
        target2 = lam * 2 / count**2 * (unit2 @ (unit2.T @ unit2)) - 2 / count * unit1
    return (unit1 * target1).sum() + (unit2 * target2).sum()


VARIANTS = {"released": released, "written": written, "original": original}
