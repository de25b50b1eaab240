r"""ArcCon, the angular-margin contrastive loss of ArcCSE.

    L = mean_i -log( exp(cos(theta_ii + u) / tau) / [ exp(cos(theta_ii + u) / tau) + sum_{j != i} exp(s_ij / tau) ] )

theta_ii = arccos(h_i . h'_i) is the positive's angle, u the added angle in radians, s_ij = h_i . h'_j.
Source: Zhang et al. 2022; Li et al. 2024, gradient (2); Li's code, which agrees (its arccos is not clamped: the
gradient is infinite at identical and opposite views, where it is finite here). cos(theta + u) falls until
theta = pi - u and rises beyond: an angle over pi - u is pulled the wrong way.

Siblings: u = 0 is `infonce`.
Negatives: all other examples, across the views.
When: the positive should lead by an angle, with InfoNCE's softmax.
Cites: zhang2022arccse, li2024.
"""

from torch import Tensor

from clrepro.objectives._pairs import log_sum_exp, softplus
from clrepro.objectives._similarity import normalise, paired_angles


def arccon(view1: Tensor, view2: Tensor, *, temperature: float = 0.05, angle: float = 0.17453292519943295) -> Tensor:
    """Mean over the anchors of view 1; temperature tau > 0, angle u in radians (10 degrees). Returns a scalar >= 0."""
    unit1, unit2 = normalise(view1), normalise(view2)
    positives = (paired_angles(unit1, unit2) + angle).cos() / temperature
    return softplus(log_sum_exp(unit1, unit2, temperature) - positives).mean()


VARIANTS = {"released": arccon}
