r"""InfoNCE, the contrastive loss of SimCSE (and of MoCo, with its queue).

    L = mean_i -log( exp(s_ii / tau) / sum_j exp(s_ij / tau) ),   s_ij = h_i . h'_j

h, h': (N, D) unit rows of the two views; j runs over all N columns; one direction, no same-view negatives.
Source: Nie et al. 2023, equation (1) with tau inside the exponent; Li et al. 2024, gradient (1). The released
codes of SimCSE, Nie and Li agree.

Queue: (K, D) keys of earlier batches, kept outside (`clrepro.objectives.memory`). They replace the other columns as
negatives, and view 2, the momentum encoder's keys, gets no gradient, as in MoCo (He et al. 2020).

Siblings: `dcl` drops the positive from the denominator; `nt_xent` has both views as anchors and negatives;
`arccon` adds an angle to the positive; `macl` adapts tau.
Negatives: all other examples, across the views; or a queue.
When: the standard choice, and the baseline of every table.
Cites: oord2018, gao2021, nie2023, li2024, he2020.
"""

from torch import Tensor

from clrepro.objectives._pairs import decoupled, softplus
from clrepro.objectives._similarity import normalise


def infonce(view1: Tensor, view2: Tensor, *, temperature: float = 0.05, queue: Tensor | None = None) -> Tensor:
    """Mean over the anchors of view 1; temperature tau > 0. Returns a scalar >= 0."""
    keys = None if queue is None else normalise(queue)
    return softplus(decoupled(normalise(view1), normalise(view2), temperature, keys)).mean()


VARIANTS = {"released": infonce}
