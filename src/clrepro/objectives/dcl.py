r"""Decoupled contrastive loss (DCL): InfoNCE without the positive in the denominator.

released, Nie's code (and GraphCL's loss), cross-view negatives, one direction:
    L = mean_i [ -s_ii / tau + log sum_{j != i} exp(s_ij / tau) ],   s_ij = h_i . h'_j
  negatives "both": the mean over the 2N rows of both views as anchors, each against the 2N - 2 rows that are not
  of its example. With reduction "sum" the mean is a sum over the anchors, as oar2024 prints it.
original, Yeh et al. 2022 as their public code (not the authors') computes it: negatives "both", the two views'
means added, hence twice the above. With sigma (DCLW) the positive term is weighted by
    w_i = 2 - N softmax_i(s_ii / sigma),
through which the gradient flows (lightly detaches it).

Source: Nie et al. 2023, equation (5) with tau inside the exponent. Their code sums exponentials without a shift and
overflows float32 for s_ij / tau > 88; log-sum-exp does not.

Siblings: `dcl_plus` cuts it off at 0; `macl` with reweighting and `flatnce` have its gradient.
Negatives: all other examples, across the views; or within and across.
When: small batches: the gradient does not fade as the positive wins; on sentences it overfits (no dissipation).
Cites: nie2023, yeh2022, you2020, oar2024.
"""

from typing import Literal

from torch import Tensor

from clrepro.objectives._pairs import decoupled, decoupled_both, reduced
from clrepro.objectives._similarity import normalise, paired_cosines


def dcl(
    view1: Tensor,
    view2: Tensor,
    *,
    temperature: float = 0.05,
    negatives: Literal["cross", "both"] = "cross",
    reduction: Literal["mean", "sum"] = "mean",
) -> Tensor:
    """Over the anchors; temperature tau > 0. Returns a scalar, unbounded below."""
    per_anchor = decoupled if negatives == "cross" else decoupled_both
    return reduced(per_anchor(normalise(view1), normalise(view2), temperature), reduction)


def original(view1: Tensor, view2: Tensor, *, temperature: float = 0.1, sigma: float | None = None) -> Tensor:
    """Sum of the two views' means; temperature tau > 0, sigma > 0 of the positive's weight. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    loss = 2 * decoupled_both(unit1, unit2, temperature).mean()
    if sigma is None:
        return loss
    positives = paired_cosines(unit1, unit2)
    weights = 2 - len(positives) * (positives / sigma).softmax(0)
    return loss + 2 * ((1 - weights) * positives).mean() / temperature


VARIANTS = {"released": dcl, "original": original}
