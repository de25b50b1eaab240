r"""MHE: alignment plus minimum hyperspherical energy.

written, Li et al. 2024, section 4 (gradients (7) and (8)), energy of view 1:
    L = mean_i ||h_i - h'_i||^2 + lam log( 2 / (N (N - 1)) sum_{k < l} exp(-||h_k - h_l||^2) )
released, Li's code: half the exponent, the energies of both views added, constants dropped,
    L = mean_i ||h_i - h'_i||^2 + lam [ log sum_{k < l} exp(h_k . h_l) + log sum_{k < l} exp(h'_k . h'_l) ]

Siblings: `align_uniform` is the same idea with other weights; `modified_mhe` is Li's repair.
Negatives: all other examples, within the views.
When: to see why an energy alone fails on STS.
Cites: li2024, liu2018, liu2021.
"""

import math

from torch import Tensor

from clrepro.objectives._pairs import energy
from clrepro.objectives._similarity import normalise
from clrepro.objectives.align_uniform import alignment, log_mean_potential


def written(view1: Tensor, view2: Tensor, *, lam: float = 10.0) -> Tensor:
    """Energy of view 1; lam (the paper's nu) >= 0. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    return alignment(unit1, unit2) + lam * log_mean_potential(energy(unit1, 0.5), len(unit1), t=1)


def released(view1: Tensor, view2: Tensor, *, lam: float = 10.0) -> Tensor:
    """Energies of both views; lam >= 0. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    # every pair once: half of the sum over ordered pairs
    energies = energy(unit1, 1.0) + energy(unit2, 1.0) - 2 * math.log(2)
    return alignment(unit1, unit2) + lam * energies


VARIANTS = {"written": written, "released": released}
