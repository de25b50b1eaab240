r"""InfoNCE, the contrastive loss of SimCSE.

    L = mean_i -log( exp(s_ii / tau) / sum_j exp(s_ij / tau) ),   s_ij = h_i . h'_j

h, h': (N, D) unit rows of the two views; j runs over all N columns; one direction, no same-view negatives.
Source: Nie et al. 2023, equation (1) with tau inside the exponent; Li et al. 2024, gradient (1). The released
codes of SimCSE, Nie and Li agree.
"""

import torch
from torch import Tensor

from clrepro.objectives._similarity import cosines


def infonce(view1: Tensor, view2: Tensor, *, temperature: float = 0.05) -> Tensor:
    """Cross entropy over the rows of the cosine matrix; temperature tau > 0. Returns a scalar."""
    logits = cosines(view1, view2) / temperature
    # logits: (N, N), the positives on the diagonal
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


VARIANTS = {"released": infonce}
