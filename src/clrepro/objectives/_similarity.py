"""What the objectives share on single vectors: unit rows, cosines, distances and angles with finite gradients."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class _UnitRows(torch.autograd.Function):
    """Rows scaled to unit length; the gradient is the tangent part over the length."""

    @staticmethod
    def forward(ctx, view: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(view, dim=1, keepdim=True)
        # a row shorter than 1e-12 (the released codes' eps) becomes 0 and gets no gradient
        inverse = torch.where(length > 1e-12, length.reciprocal(), 0.0)
        unit = view * inverse
        ctx.save_for_backward(unit, inverse)
        return unit

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> Tensor:
        unit, inverse = ctx.saved_tensors
        radial = torch.linalg.vecdot(gradient, unit).unsqueeze(1)
        return torch.addcmul(gradient, unit, radial, value=-1).mul_(inverse)


def normalise(view: Tensor) -> Tensor:
    """h = u / ||u||, (N, D); a row shorter than 1e-12 is 0 and gets no gradient."""
    return _UnitRows.apply(view)


def paired_cosines(unit1: Tensor, unit2: Tensor) -> Tensor:
    """s_ii = h_i . h'_i: (N,)."""
    return torch.linalg.vecdot(unit1, unit2)


def safe_sqrt(squares: Tensor) -> Tensor:
    """Square root with gradient 0 instead of infinity at 0 (and below, where rounding leads)."""
    positive = squares > 0
    return torch.where(positive, squares, 1.0).sqrt() * positive


def paired_squares(unit1: Tensor, unit2: Tensor) -> Tensor:
    """||h_i - h'_i||^2: (N,), from the difference, hence exact for nearly equal rows."""
    return (unit1 - unit2).square().sum(1)


def paired_distances(unit1: Tensor, unit2: Tensor) -> Tensor:
    """||h_i - h'_i||: (N,); the gradient of equal rows is 0."""
    return safe_sqrt(paired_squares(unit1, unit2))


def paired_angles(unit1: Tensor, unit2: Tensor) -> Tensor:
    """The angle of h_i and h'_i in radians, (N,): 2 arcsin(d / 2), accurate and with finite gradient at small angles.

    Near pi the argument is kept one rounding step inside 1.
    """
    limit = 1 - torch.finfo(unit1.dtype).eps
    return 2 * torch.arcsin((paired_distances(unit1, unit2) / 2).clamp(max=limit))


def with_gradient_of(value: Tensor, surrogate: Tensor) -> Tensor:
    """A scalar of this value and that gradient: sg[value] + surrogate - sg[surrogate]."""
    return value.detach() + (surrogate - surrogate.detach())


class _WithGradients(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value: Tensor, *pairs: Tensor) -> Tensor:
        ctx.save_for_backward(*pairs[1::2])
        return value.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, *(part for saved in ctx.saved_tensors for part in (gradient * saved, None))


def with_gradients(value: Tensor, *pairs: tuple[Tensor, Tensor]) -> Tensor:
    """A scalar whose gradient by the first tensor of each pair is the second: for gradients known in closed form."""
    return _WithGradients.apply(value, *(tensor for pair in pairs for tensor in pair))
