r"""The paradigm loss: gradient dissipation, weight and ratio as three knobs.

written, Li et al. 2024, equation (5), whose gradient at h_i is their equation (4):
    L = mean_i GD_i ( sum_{j != i} W_ij s_ij - r s_ii ),   s_ij = h_i . h'_j
    GD_i = sg[ 1 if s_ii - max_{j != i} s_ij < m else 0 ]           margin None: GD = 1
    W_ij = sg[ exp(s_ij / tau) / sum_{k != i} exp(s_ik / tau) ]     or max(s_ij, 1e-4)^p, normalised alike

released, Li's code (`sg`): negatives are constants, the positive is not, and both directions are added,
    L = L_0 + L_1,   L_0 = 1 / (M_0 N) sum_{i active} ( sum_{j != i} W_ij h_i . sg[h'_j] - r h_i . h'_i )
    and L_1 alike with the views exchanged; M is the number of active anchors.
  So the positive's gradient comes from both directions: the ratio at h_i is 2 r where all anchors are active. The
  scale is 1 / N smaller than a mean over anchors. With no active anchor the code gives NaN with gradient 0; here
  that direction is 0.

Siblings: `infonce`, `arccon`, `mpt` and `met` are cases of equation (4) with their own GD, W and r.
Negatives: all other examples, across the views, detached (released).
When: to vary dissipation, weight or ratio one at a time.
Cites: li2024.
"""

import torch
from torch import Tensor

from clrepro.objectives._pairs import attend, hardest, pair_weights
from clrepro.objectives._similarity import normalise, paired_cosines, with_gradient_of


@torch.no_grad()
def dissipation(anchors: Tensor, keys: Tensor, margin: float | None) -> Tensor:
    """GD: (N,) bool, whether the positive leads the hardest negative by less than the margin."""
    if margin is None:
        return torch.ones(len(anchors), dtype=torch.bool, device=anchors.device)
    negatives = paired_cosines(anchors, keys[hardest(anchors, keys)])
    return paired_cosines(anchors, keys) - negatives < margin


def written(
    view1: Tensor,
    view2: Tensor,
    *,
    margin: float | None = 0.30,
    temperature: float = 0.05,
    power: int | None = None,
    ratio: float = 1.0,
) -> Tensor:
    """Mean over all anchors of view 1. margin in cosine, tau > 0, power (instead of tau) >= 0. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    active = dissipation(unit1, unit2, margin).unsqueeze(1)
    with torch.no_grad():
        weights = torch.cat(pair_weights(unit1, unit2, temperature, power)[1])
        # sum_ij GD_i W_ij s_ij is bilinear: its gradients at h and h'
        to_view1, to_view2 = active * (weights @ unit2), weights.T @ (active * unit1)
        value = (unit1 * to_view1).sum()
    negatives = with_gradient_of(value, (unit1 * to_view1).sum() + (unit2 * to_view2).sum())
    return (negatives - ratio * (paired_cosines(unit1, unit2) * active.squeeze(1)).sum()) / len(unit1)


def released(
    view1: Tensor,
    view2: Tensor,
    *,
    margin: float | None = 0.30,
    temperature: float = 0.05,
    power: int | None = None,
    ratio: float = 1.0,
) -> Tensor:
    """Sum of both directions. margin in cosine, tau > 0, power (instead of tau) >= 0. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    positives = paired_cosines(unit1, unit2)
    loss = positives.new_zeros(())
    for anchors, keys in ((unit1, unit2), (unit2, unit1)):
        active = dissipation(anchors, keys, margin)
        _, negatives = attend(anchors, keys, keys, temperature, power)
        targets = (anchors * negatives).sum(1) - ratio * positives
        loss = loss + (targets * active).sum() / (active.sum().clamp(min=1) * len(anchors))
    return loss


VARIANTS = {"written": written, "released": released}
