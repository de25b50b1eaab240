r"""Decoupled contrastive loss (DCL): InfoNCE without the positive in the denominator.

    L = mean_i [ -s_ii / tau + log sum_{j != i} exp(s_ij / tau) ],   s_ij = h_i . h'_j

Cross-view negatives, one direction. Source: Nie et al. 2023, equation (5) with tau inside the exponent. The
released code sums exponentials without a shift and overflows float32 for s_ij / tau > 88; log-sum-exp does not.
"""

from torch import Tensor

from clrepro.objectives._similarity import cosines, diagonal_mask


def dcl_per_anchor(view1: Tensor, view2: Tensor, temperature: float) -> Tensor:
    """The loss of every anchor, (N,)."""
    logits = cosines(view1, view2) / temperature
    # negatives: (N, N) without its diagonal
    negatives = logits.masked_fill(diagonal_mask(logits), float("-inf"))
    return negatives.logsumexp(1) - logits.diagonal()


def dcl(view1: Tensor, view2: Tensor, *, temperature: float = 0.05) -> Tensor:
    """Mean over the anchors; temperature tau > 0. Returns a scalar, unbounded below."""
    return dcl_per_anchor(view1, view2, temperature).mean()


VARIANTS = {"released": dcl}
