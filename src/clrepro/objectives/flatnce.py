r"""FlatNCE: the value of NT-Xent with a gradient that does not vanish when the positive is found.

    v_a = log sum_k exp((s_ak - s_ap) / tau)
    L   = mean_a exp(v_a - sg[v_a]) - 1 + sg[ NT-Xent ]

a runs over the 2N rows of both views, p is a's positive, k the 2N - 2 rows of other examples. The gradient is that
of mean_a v_a. Source: Chen et al. 2021 and their code; the comparator of Huang et al. 2023, section 5.2.

Siblings: the gradient is that of `dcl` with negatives "both"; the value that of `nt_xent`.
Negatives: all other examples, within and across the views.
When: small batches, low precision: the logarithm's saturation is avoided.
Cites: chen2021flatnce, huang2023.
"""

from torch import Tensor

from clrepro.objectives._pairs import decoupled_both, softplus
from clrepro.objectives._similarity import normalise, with_gradient_of


def flatnce(view1: Tensor, view2: Tensor, *, temperature: float = 0.1) -> Tensor:
    """Mean over the 2N anchors; temperature tau > 0. Returns a scalar >= 0."""
    v = decoupled_both(normalise(view1), normalise(view2), temperature)
    return with_gradient_of(softplus(v).mean(), v.mean())


VARIANTS = {"released": flatnce}
