r"""What pulls and what pushes an anchor: the coefficients of its gradient, and their three components.

For an anchor h_i (a unit row of view 1) the tangent part of an objective's gradient is fitted by the other vectors,
    dL/dh_i = a_i h'_i + sum_{j != i} ( b_ij h'_j + c_ij h_j ) + radial part + misfit,
and its coefficients are read as the paradigm of Li et al. 2024, equations (4) and (12),
    GD_i sum_{j != i} W_ij ( h_j - R_i h'_i ),
    GD_i = sum_j (b_ij + c_ij),   W_ij = (b_ij + c_ij) / GD_i,   R_i = -a_i / GD_i.
All scale (a mean's 1 / N, 1 / tau) is in GD. Nothing is assumed of the objective but that it is differentiable.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from clrepro.errors import UserError

INACTIVE = 1e-12  # a row whose gradient is so small against the batch's largest gets none
CANCELLED = 1e-9  # coefficients that sum to so little of their absolute sum have no sum


class Components(NamedTuple):
    """dL/dh_i = dissipation_i sum_j weight_ij (h_j - ratio_i h'_i), tangent parts; j runs over both views' rows.

    dissipation: (N,) the negatives' coefficients summed; with all scale, and 0 where the gradient is 0.
    weight: (N, N) rows sum to 1, diagonal 0; the shares of h_j and h'_j together. Inactive rows are 0.
    ratio: (N,) the positive's coefficient against the negatives'; infinite where there is a positive and the negatives'
        sum is 0, NaN where there is neither.
    residual: (N,) share of the gradient's norm that neither positive nor negatives explain; 1 where no ratio exists.
    """

    dissipation: Tensor
    weight: Tensor
    ratio: Tensor
    residual: Tensor


class Coefficients(NamedTuple):
    """dL/dh_i in the other vectors: positive a (N,), cross b and within c (N, N); residual (N,), gradient (N, D)."""

    positive: Tensor
    cross: Tensor
    within: Tensor
    residual: Tensor
    gradient: Tensor


def unit_rows(view: Tensor, name: str) -> Tensor:
    """The rows in float64 and of unit length; UserError for one that has none."""
    view = torch.as_tensor(view).detach().double()
    lengths = view.norm(dim=1)
    if not (lengths.isfinite() & (lengths > 0)).all():
        row = int((~(lengths.isfinite() & (lengths > 0))).nonzero()[0])
        raise UserError(f"row {row} of {name} has length {lengths[row]:g}: every row must be finite and not zero")
    return view / lengths.unsqueeze(1)


def tangent_gradient(objective: Callable, unit1: Tensor, unit2: Tensor) -> Tensor:
    """The tangent part of dL/dh_i at the unit rows of view 1, (N, D)."""
    anchors = unit1.clone().requires_grad_()
    others = unit2.clone().requires_grad_()  # as in training: a loss may ask for gradients of both
    with torch.enable_grad():
        loss = objective(anchors.clone(), others.clone())  # clones: a loss may change its input, as it may in training
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        found = f"shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
        raise UserError(f"an objective must return one number as a tensor, not {found}; take the mean over anchors")
    if not loss.requires_grad:
        raise UserError("the objective's value does not depend on the views: does it detach them, or call .item()?")
    (gradient,) = torch.autograd.grad(loss.reshape(()), anchors, allow_unused=True)
    if gradient is None:
        return torch.zeros_like(unit1)
    if not gradient.isfinite().all():
        row = int((~gradient.isfinite()).any(1).nonzero()[0])
        raise UserError(
            f"the gradient is not finite at row {row} of view 1 (loss {loss.item():g}); look for a root, an arc cosine "
            "or a logarithm at the edge of its domain"
        )
    return gradient - (gradient * unit1).sum(1, keepdim=True) * unit1


def coefficients(objective: Callable, view1: Tensor, view2: Tensor) -> Coefficients:
    """Least-squares coefficients of every anchor's gradient in the vectors of the batch; see the module's equation.

    One QR factorisation of all 2N vectors serves all anchors: h_i itself is among them and takes the radial part.
    Raises UserError where the vectors are too few dimensions apart to tell their coefficients.
    """
    if view1.ndim != 2 or view1.shape != view2.shape or len(view1) < 2:
        raise UserError(
            f"two views of the same shape (N, D), N >= 2, are needed, got {tuple(view1.shape)} and {tuple(view2.shape)}"
        )
    unit1, unit2 = unit_rows(view1, "view 1"), unit_rows(view2, "view 2")
    number, dimensions = unit1.shape
    if dimensions < 2 * number:
        raise UserError(
            f"{number} examples in two views are {2 * number} vectors; {dimensions} dimensions cannot tell their parts "
            f"of the gradient apart. Decompose at most {dimensions // 2} examples at once, or use at least "
            f"{2 * number} dimensions"
        )
    basis, triangle = torch.linalg.qr(torch.cat([unit2, unit1]).T)
    if triangle.diagonal().abs().min() < 1e-7:
        raise UserError(
            f"rows of the views depend on each other ({_dependent(unit1, unit2)}): no parts can be told apart"
        )
    gradient = tangent_gradient(objective, unit1, unit2)
    projected = gradient @ basis
    found = torch.linalg.solve_triangular(triangle, projected.T, upper=True).T
    norms = gradient.norm(dim=1)
    active = norms > INACTIVE * norms.max()
    misfit = (gradient - projected @ basis.T).norm(dim=1)
    residual = torch.where(active, misfit / norms.clamp(min=torch.finfo(norms.dtype).tiny), 0.0)
    found = torch.where(active.unsqueeze(1), found, 0.0)
    cross, within = found[:, :number], found[:, number:]
    positive = cross.diagonal().clone()
    off_diagonal = 1 - torch.eye(number, dtype=found.dtype, device=found.device)
    return Coefficients(positive, cross * off_diagonal, within * off_diagonal, residual, gradient)


def _dependent(unit1: Tensor, unit2: Tensor) -> str:
    """The two most parallel vectors of the batch, in words."""
    vectors = torch.cat([unit1, unit2])
    cosines = (vectors @ vectors.T).abs().fill_diagonal_(0)
    places = divmod(int(cosines.argmax()), len(vectors))
    words = [f"row {place % len(unit1)} of view {1 + place // len(unit1)}" for place in places]
    return f"closest: {words[0]} and {words[1]}, |cosine| {cosines.max():.9f}"


def components(parts: Coefficients) -> Components:
    """The three components that the coefficients stand for."""
    negatives = parts.cross + parts.within
    sums = negatives.sum(1)
    size = parts.cross.abs().sum(1) + parts.within.abs().sum(1) + parts.positive.abs()
    has_sum = sums.abs() > CANCELLED * size
    dissipation = torch.where(has_sum, sums, 0.0)
    divisor = torch.where(has_sum, sums, 1.0)
    weight = torch.where(has_sum.unsqueeze(1), negatives / divisor.unsqueeze(1), 0.0)
    ratio = torch.where(has_sum, -parts.positive / divisor, 0.0)
    unsummed = (size > 0) & ~has_sum  # a pull without a push, or pushes that cancel: no finite ratio says so
    pulled = parts.positive.abs() > CANCELLED * size
    endless = torch.where(pulled, torch.inf * -parts.positive.sign().where(pulled, torch.ones_like(sums)), torch.nan)
    return Components(
        dissipation, weight, torch.where(unsummed, endless, ratio), torch.where(unsummed, 1.0, parts.residual)
    )


def decompose(objective: Callable, view1: Tensor, view2: Tensor) -> Components:
    """Dissipation, weight, ratio and what fits neither, of an objective's gradient at the unit rows of view 1.

    objective: anything callable as ``objective(view1, view2) -> scalar tensor``; the loss of your own file as well.
    view1, view2: (N, D) embeddings, D >= 2N, no two rows parallel. They are normalised and computed with in float64.
    For anchors in view 2 exchange the views: ``decompose(lambda a, b: objective(b, a), view2, view1)``.

    Source: Li et al. 2024, equations (4) and (12). Raises UserError where the views cannot tell the parts apart, or
    the objective returns no finite scalar.
    """
    return components(coefficients(objective, view1, view2))
