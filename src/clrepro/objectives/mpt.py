r"""MPT: hardest-negative triplet loss on the dot product, margin m.

written, Nie et al. 2023, equation (13) with primed negatives (also Li et al. 2024, gradient (3)):
    L = mean_i max( 0, m - s_ii + max_{j != i} s_ij ),   s_ij = h_i . h'_j
released, Nie's code: anchors are the columns (view 2), and the maximum is floored at 0:
    L = mean_j max( 0, m - s_jj + max(0, max_{i != j} s_ij) )
released_li2024, Li's code: as written.

Siblings: `met` and `mat` measure distance and angle instead.
Negatives: the hardest only, across the views.
When: a margin in cosine decides when an anchor is done.
Cites: nie2023, li2024.
"""

from torch import Tensor

from clrepro.objectives._pairs import hardest
from clrepro.objectives._similarity import normalise, paired_cosines


def written(view1: Tensor, view2: Tensor, *, margin: float = 0.23) -> Tensor:
    """Hardest negative along the row; margin in cosine. Returns a scalar >= 0."""
    anchors, keys = normalise(view1), normalise(view2)
    negatives = paired_cosines(anchors, keys[hardest(anchors, keys)])
    return (margin - paired_cosines(anchors, keys) + negatives).relu().mean()


def released(view1: Tensor, view2: Tensor, *, margin: float = 0.23) -> Tensor:
    """Hardest negative down the column, never below 0; margin in cosine. Returns a scalar >= 0."""
    anchors, keys = normalise(view2), normalise(view1)
    # the code zeroes the diagonal instead of leaving it out: that is the floor
    negatives = paired_cosines(anchors, keys[hardest(anchors, keys)]).relu()
    return (margin - paired_cosines(anchors, keys) + negatives).relu().mean()


VARIANTS = {"written": written, "released": released, "released_li2024": written}
