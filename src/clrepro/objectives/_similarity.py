"""What the objectives share: cosines, distances and angles whose gradients stay finite."""

import torch
from torch import Tensor


def normalise(view: Tensor) -> Tensor:
    """Rows scaled to unit length; a row shorter than 1e-12 (the released codes' eps) is 0 and gets no gradient."""
    length = safe_sqrt(view.square().sum(1, keepdim=True))
    long_enough = length > 1e-12
    return view / length.where(long_enough, 1.0) * long_enough


def cosines(view1: Tensor, view2: Tensor) -> Tensor:
    """s_ij = h_i . h'_j: the (N, N) cross-view cosines; rows are anchors of view 1."""
    return normalise(view1) @ normalise(view2).T


def diagonal_mask(matrix: Tensor) -> Tensor:
    return torch.eye(len(matrix), dtype=torch.bool, device=matrix.device)


def safe_sqrt(squares: Tensor) -> Tensor:
    """Square root with gradient 0 instead of infinity at 0 (and below, where rounding leads)."""
    positive = squares > 0
    return torch.where(positive, squares, 1.0).sqrt() * positive


def positive_distances(view1: Tensor, view2: Tensor) -> Tensor:
    """d_ii = ||h_i - h'_i||: (N,), from the difference, hence exact for nearly equal views."""
    return safe_sqrt((normalise(view1) - normalise(view2)).square().sum(1))


def angles_of_cosines(cosine: Tensor) -> Tensor:
    """arccos with the argument kept one rounding step inside (-1, 1), where its gradient is finite."""
    limit = 1 - torch.finfo(cosine.dtype).eps
    return torch.arccos(cosine.clamp(-limit, limit))


def angles_of_distances(distance: Tensor) -> Tensor:
    """The angle of two unit vectors from their distance: 2 arcsin(d / 2), accurate for small angles."""
    limit = 1 - torch.finfo(distance.dtype).eps
    return 2 * torch.arcsin((distance / 2).clamp(max=limit))
