r"""MACL, the model-aware contrastive loss: a temperature that follows alignment, and weights against dilution.

    A     = sg[ mean_i s_ii ]
    tau_a = tau0 max(0.1, 1 + alpha (A - A0))
    P_i   = exp(s_ii / tau_a) / [ exp(s_ii / tau_a) + sum_k exp(s_ik / tau_a) ]
    L     = mean_i sg[ 1 / (1 - P_i) ] (-log P_i)

k runs over the negatives: those of the other view ("cross", N anchors) or of both ("both", 2N anchors). Without
reweight the factor 1 / (1 - P_i) is left out, as in the paper's sentence experiments.
Source: Huang et al. 2023, equations (7) and (11), algorithm 1; their code agrees. The floor 0.1 is ours, and changes
nothing as long as A > A0 - 0.9 / alpha: for alpha = 2, A0 = 0.8 above 0.35, and without it the temperature would be
negative below 0.3. With reweight the gradient is exactly that of `dcl` at tau_a, and is computed so: 1 / (1 - P) times
the gradient of -log P is 0 times infinity near P = 1.

Queue: as in `infonce`.

Siblings: alpha = 0 without reweight is `infonce` (cross) or `nt_xent` (both); `flatnce`.
Negatives: all other examples, across the views, or within and across; or a queue.
When: a temperature that follows training, and weights for small batches.
Cites: huang2023.
"""

from typing import Literal

import torch
from torch import Tensor

from clrepro.objectives._pairs import decoupled, decoupled_both, softplus
from clrepro.objectives._similarity import normalise, paired_cosines, with_gradient_of

FLOOR = 0.1


def adaptive_temperature(
    unit1: Tensor, unit2: Tensor, base_temperature: float, alpha: float, alignment_threshold: float
) -> Tensor:
    """tau_a, a scalar without gradient; equation (7)."""
    with torch.no_grad():
        alignment = paired_cosines(unit1, unit2).mean()
        return base_temperature * (1 + alpha * (alignment - alignment_threshold)).clamp(min=FLOOR)


def reweighted(v: Tensor) -> Tensor:
    """softplus(v) / sigmoid(v), the value of -log P / (1 - P) for P = sigmoid(-v); it tends to 1 where P does."""
    far = v < -20
    inside = v.where(~far, 0.0)
    return torch.where(far, 1 + v.exp() / 2, softplus(inside) / inside.sigmoid())


def macl(
    view1: Tensor,
    view2: Tensor,
    *,
    base_temperature: float = 0.1,
    alpha: float = 0.5,
    alignment_threshold: float = 0.0,
    reweight: bool = True,
    negatives: Literal["cross", "both"] = "cross",
    queue: Tensor | None = None,
) -> Tensor:
    """Mean over the anchors; tau0 > 0, alpha >= 0, A0 = alignment_threshold in [-1, 1]. Returns a scalar >= 0."""
    if queue is not None and negatives == "both":
        raise ValueError("macl: a queue takes the place of the other view's rows; it goes with negatives='cross'")
    unit1, unit2 = normalise(view1), normalise(view2)
    temperature = adaptive_temperature(unit1, unit2, base_temperature, alpha, alignment_threshold)
    if queue is not None:
        v = decoupled(unit1, unit2, temperature, normalise(queue))
    else:
        v = (decoupled if negatives == "cross" else decoupled_both)(unit1, unit2, temperature)
    return with_gradient_of(reweighted(v).mean(), v.mean()) if reweight else softplus(v).mean()


VARIANTS = {"released": macl}
