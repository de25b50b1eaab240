r"""InfoNCE with mixup negatives, the two kinds of Nie et al. 2023, appendix E.

    L = mean_i -log( exp(s_ii / tau) / [ sum_j exp(s_ij / tau) + sum_k exp(h_i . m_ik / tau) ] ),   s_ij = h_i . h'_j

kind "positive", equation (48), as in MixCSE: every negative mixed with the positive,
    m_ik = lam h'_i + (1 - lam) h'_k,   k != i
kind "negatives", equation (47), as in MoCHi: neighbours in the order of hardness n_1, n_2, ... of the negatives,
    m_ik = lam h'_{n_k} + (1 - lam) h'_{n_{k+1}},   k = 1 ... min(mixed, N - 2)

Source: equation (49). The appendix draws the mixed pairs at random and does not say how many; these choices need no
random numbers. Mixed vectors are not normalised again, as printed, and nothing is detached.

Siblings: `infonce` without mixed negatives; `mpt`, to which the appendix relates it.
Negatives: all across the views, and mixtures of them.
When: harder negatives than the batch holds.
Cites: nie2023, kalantidis2020, zhang2022mixcse.
"""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from clrepro.objectives._pairs import log_sum_exp, similarity_blocks, softplus
from clrepro.objectives._similarity import normalise, paired_cosines


def ranked_cosines(unit1: Tensor, unit2: Tensor, count: int) -> list[Tensor]:
    """Cosines of every anchor to its hardest negative, the second hardest, ...: `count` tensors (N,)."""
    with torch.no_grad():
        order = torch.cat([block.topk(count, 1).indices for _, block in similarity_blocks(unit1, unit2, (0,))])
    return [paired_cosines(unit1, unit2[column]) for column in order.T]


def infonce_mixup(
    view1: Tensor,
    view2: Tensor,
    *,
    temperature: float = 0.05,
    lam: float = 0.4,
    kind: Literal["positive", "negatives"] = "positive",
    mixed: int = 1,
) -> Tensor:
    """Mean over the anchors of view 1; temperature tau > 0, 0 <= lam < 1, mixed >= 1. Returns a scalar >= 0."""
    if lam >= 1:
        raise ValueError(f"infonce_mixup: lam must be below 1, not {lam}: the mixture would be the first vector alone")
    unit1, unit2 = normalise(view1), normalise(view2)
    positives = paired_cosines(unit1, unit2)
    terms = [log_sum_exp(unit1, unit2, temperature)]
    if kind == "positive":
        # h_i . m_ik = lam s_ii + (1 - lam) s_ik: the plain sum at the temperature tau / (1 - lam), shifted
        terms.append(log_sum_exp(unit1, unit2, temperature / (1 - lam)) + lam * positives / temperature)
    else:
        ranked = ranked_cosines(unit1, unit2, min(mixed + 1, len(unit1) - 1))
        terms += [(lam * harder + (1 - lam) * easier) / temperature for harder, easier in pairwise(ranked)]
    negatives = torch.stack(terms).logsumexp(0)
    return softplus(negatives - positives / temperature).mean()


VARIANTS = {"written": infonce_mixup}
