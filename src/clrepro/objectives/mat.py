r"""MAT: hardest-negative triplet loss on the angle, margin m in radians (0.15 pi is 0.471).

written, Nie et al. 2023, equation (15), the minimum over j only:
    L = mean_i max( 0, m + theta_ii - min_{j != i} theta_ij ),   theta_ij = arccos(h_i . h'_j)
released, Nie's code: down the columns, and the smallest negative angle capped at pi / 2.
released_li2024, Li's code: as written (it has no clamp either; here gradients stay finite at 0 and pi).

Siblings: `mpt` and `met` measure the dot product and the distance instead.
Negatives: the hardest only, across the views.
When: a margin in angle, which weighs all angles alike.
Cites: nie2023.
"""

import math

from torch import Tensor

from clrepro.objectives._pairs import hardest
from clrepro.objectives._similarity import normalise, paired_angles


def hinge(anchors: Tensor, keys: Tensor, margin: float, cap: float) -> Tensor:
    negatives = paired_angles(anchors, keys[hardest(anchors, keys)]).clamp(max=cap)
    return (margin + paired_angles(anchors, keys) - negatives).relu().mean()


def written(view1: Tensor, view2: Tensor, *, margin: float = 0.4712388980384690) -> Tensor:
    """Nearest negative along the row; margin in radians. Returns a scalar >= 0."""
    return hinge(normalise(view1), normalise(view2), margin, cap=math.pi)


def released(view1: Tensor, view2: Tensor, *, margin: float = 0.4712388980384690) -> Tensor:
    """Nearest negative down the column, at most pi / 2; margin in radians. Returns a scalar >= 0."""
    return hinge(normalise(view2), normalise(view1), margin, cap=math.pi / 2)


VARIANTS = {"written": written, "released": released, "released_li2024": written}
