r"""MET: hardest-negative triplet loss on the Euclidean distance, margin m.

written, Nie et al. 2023, equation (14):
    L = mean_i max( 0, m + d_ii - min_{j != i} d_ij ),   d_ij = ||h_i - h'_j||
released, Nie's code: the same down the columns, anchors in view 2.
released_li2024, Li's code: rows, d_ij = sqrt(max(2 - 2 s_ij, 1e-4)), no gradient below that floor.
Where Nie's code gives NaN (a cosine rounded above 1), the distance and its gradient are 0 here.

Siblings: `mpt` and `mat` measure the dot product and the angle instead.
Negatives: the hardest only, across the views.
When: a margin in distance decides when an anchor is done; the best STS average of nie2023 on BERT_base.
Cites: nie2023, li2024.
"""

from torch import Tensor

from clrepro.objectives._pairs import hardest
from clrepro.objectives._similarity import normalise, paired_cosines, paired_distances


def hinge(anchors: Tensor, keys: Tensor, margin: float) -> Tensor:
    negatives = paired_distances(anchors, keys[hardest(anchors, keys)])
    return (margin + paired_distances(anchors, keys) - negatives).relu().mean()


def written(view1: Tensor, view2: Tensor, *, margin: float = 0.45) -> Tensor:
    """Nearest negative along the row; margin in units of distance. Returns a scalar >= 0."""
    return hinge(normalise(view1), normalise(view2), margin)


def released(view1: Tensor, view2: Tensor, *, margin: float = 0.45) -> Tensor:
    """Nearest negative down the column; margin in units of distance. Returns a scalar >= 0."""
    return hinge(normalise(view2), normalise(view1), margin)


def floored_distances(anchors: Tensor, keys: Tensor) -> Tensor:
    return (2 - 2 * paired_cosines(anchors, keys)).clamp(min=1e-4).sqrt()


def released_li2024(view1: Tensor, view2: Tensor, *, margin: float = 0.45) -> Tensor:
    """Rows, squared distances floored at 1e-4; margin in units of distance. Returns a scalar >= 0."""
    anchors, keys = normalise(view1), normalise(view2)
    negatives = floored_distances(anchors, keys[hardest(anchors, keys)])
    return (margin + floored_distances(anchors, keys) - negatives).relu().mean()


VARIANTS = {"written": written, "released": released, "released_li2024": released_li2024}
