r"""MET: hardest-negative triplet loss on the Euclidean distance, margin m.

written, Nie et al. 2023, equation (14):
    L = mean_i max( 0, m + d_ii - min_{j != i} d_ij ),   d_ij = ||h_i - h'_j||
released, Nie's code: the same down the columns, anchors in view 2.
released_li2024, Li's code: rows, d_ij = sqrt(max(2 - 2 s_ij, 1e-4)), no gradient below that floor.
Where Nie's code gives NaN (a cosine rounded above 1), the distance and its gradient are 0 here.
"""

from torch import Tensor

from clrepro.objectives._similarity import cosines, diagonal_mask, positive_distances, safe_sqrt


def hinge(view1: Tensor, view2: Tensor, margin: float, dim: int) -> Tensor:
    similarity = cosines(view1, view2)
    distances = safe_sqrt(2 - 2 * similarity)
    nearest = distances.masked_fill(diagonal_mask(distances), float("inf")).amin(dim)
    return (margin + positive_distances(view1, view2) - nearest).relu().mean()


def written(view1: Tensor, view2: Tensor, *, margin: float = 0.45) -> Tensor:
    """Nearest negative along the row; margin in units of distance. Returns a scalar >= 0."""
    return hinge(view1, view2, margin, dim=1)


def released(view1: Tensor, view2: Tensor, *, margin: float = 0.45) -> Tensor:
    """Nearest negative down the column; margin in units of distance. Returns a scalar >= 0."""
    return hinge(view1, view2, margin, dim=0)


def released_li2024(view1: Tensor, view2: Tensor, *, margin: float = 0.45) -> Tensor:
    """Rows, squared distances floored at 1e-4; margin in units of distance. Returns a scalar >= 0."""
    distances = (2 - 2 * cosines(view1, view2)).clamp(min=1e-4).sqrt()
    nearest = distances.masked_fill(diagonal_mask(distances), float("inf")).amin(1)
    return (margin + distances.diagonal() - nearest).relu().mean()


VARIANTS = {"written": written, "released": released, "released_li2024": released_li2024}
