r"""DCL+: the decoupled contrastive loss cut off at zero, which gives it gradient dissipation.

    L = mean_i max( 0, -s_ii / tau + log sum_{j != i} exp(s_ij / tau) ),   s_ij = h_i . h'_j

Source: Nie et al. 2023, equation (10) with tau inside the exponent. The mean counts the zeros, as released.

Siblings: `dcl` without the cut; `infonce`, whose softplus is the smooth form of this cut.
Negatives: all other examples, across the views.
When: to see what dissipation alone repairs in DCL.
Cites: nie2023.
"""

from torch import Tensor

from clrepro.objectives._pairs import decoupled
from clrepro.objectives._similarity import normalise


def dcl_plus(view1: Tensor, view2: Tensor, *, temperature: float = 0.17) -> Tensor:
    """Mean over all N anchors; temperature tau > 0. Returns a scalar >= 0."""
    return decoupled(normalise(view1), normalise(view2), temperature).relu().mean()


VARIANTS = {"released": dcl_plus}
