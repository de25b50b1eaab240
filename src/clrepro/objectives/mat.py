r"""MAT: hardest-negative triplet loss on the angle, margin m in radians (0.15 pi is 0.471).

written, Nie et al. 2023, equation (15), the minimum over j only:
    L = mean_i max( 0, m + theta_ii - min_{j != i} theta_ij ),   theta_ij = arccos(h_i . h'_j)
released, Nie's code: down the columns, and the smallest negative angle capped at pi / 2.
released_li2024, Li's code: as written (it has no clamp either; here gradients stay finite at 0 and pi).
"""

import math

from torch import Tensor

from clrepro.objectives._similarity import (
    angles_of_cosines,
    angles_of_distances,
    cosines,
    diagonal_mask,
    positive_distances,
)


def hinge(view1: Tensor, view2: Tensor, margin: float, dim: int, cap: float) -> Tensor:
    positive = angles_of_distances(positive_distances(view1, view2))
    similarity = cosines(view1, view2)
    # the nearest negative has the largest cosine; one arccos per anchor is enough
    hardest = similarity.masked_fill(diagonal_mask(similarity), -1.0).amax(dim)
    return (margin + positive - angles_of_cosines(hardest).clamp(max=cap)).relu().mean()


def written(view1: Tensor, view2: Tensor, *, margin: float = 0.4712388980384690) -> Tensor:
    """Nearest negative along the row; margin in radians. Returns a scalar >= 0."""
    return hinge(view1, view2, margin, dim=1, cap=math.pi)


def released(view1: Tensor, view2: Tensor, *, margin: float = 0.4712388980384690) -> Tensor:
    """Nearest negative down the column, at most pi / 2; margin in radians. Returns a scalar >= 0."""
    return hinge(view1, view2, margin, dim=0, cap=math.pi / 2)


VARIANTS = {"written": written, "released": released, "released_li2024": written}
