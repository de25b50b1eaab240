r"""NT-Xent, the contrastive loss of SimCLR: both views are anchors, all other rows of both views are keys.

    L = mean_a [ -s_{a p(a)} / tau + log sum_{b != a} exp(s_ab / tau) ]

a runs over the 2N unit rows of both views, p(a) is the other view of the same example, s_ab the cosine.
Source: Chen et al. 2020, equation (1) and algorithm 1; the baseline of Huang et al. 2023. The mean is over the
2N anchors; google-research/simclr returns the sum of the two views' means, twice as much, which doubles an SGD
step and changes nothing for Adam or LARS. With reduction "sum" the mean is a sum over the 2N anchors, as oar2024
prints its equation (1): an SGD step 2N times as long.

Siblings: `infonce` has one direction and cross-view negatives only; `flatnce` has the same value and another
gradient.
Negatives: all other examples, within and across the views.
When: images with a batch's own negatives; the baseline of MACL.
Cites: chen2020, huang2023, oar2024.
"""

from typing import Literal

from torch import Tensor

from clrepro.objectives._pairs import decoupled_both, reduced, softplus
from clrepro.objectives._similarity import normalise


def nt_xent(
    view1: Tensor, view2: Tensor, *, temperature: float = 0.1, reduction: Literal["mean", "sum"] = "mean"
) -> Tensor:
    """Over the 2N anchors; temperature tau > 0. Returns a scalar >= 0."""
    return reduced(softplus(decoupled_both(normalise(view1), normalise(view2), temperature)), reduction)


VARIANTS = {"written": nt_xent}
