r"""Dual temperature (SimCo): InfoNCE at one temperature, its anchors weighted as by another.

    L = 1/2 sum over both directions of mean_i sg[ W_i(tau_inter) / W_i(tau) ] (-log P_i(tau))

P_i(tau) is the softmax probability of the positive among h_i . h'_j / tau over all N columns, W_i = 1 - P_i.
Source: Zhang et al. 2022 and their code (tau 0.1, tau_inter ten times that); the comparator `Dual` of Huang et al.
2023, which does not state the second temperature. The code divides 1 - P by 1 - P, which rounds to 0 / 0 near P = 1;
here the gradient W_i(tau_inter) times that of v_i = log sum_{j != i} exp(s_ij / tau) - s_ii / tau is taken directly.

Siblings: tau_inter = tau is the symmetric `infonce`.
Negatives: all other examples, across the views, both directions.
When: few negatives without a queue.
Cites: zhang2022dual, huang2023.
"""

import torch
from torch import Tensor

from clrepro.objectives._pairs import decoupled
from clrepro.objectives._similarity import normalise, with_gradient_of
from clrepro.objectives.macl import reweighted


def direction(anchors: Tensor, keys: Tensor, temperature: float, inter_temperature: float) -> Tensor:
    v = decoupled(anchors, keys, temperature)
    with torch.no_grad():
        inter = decoupled(anchors, keys, inter_temperature).sigmoid()
    return with_gradient_of((inter * reweighted(v)).mean(), (inter * v).mean())


def dual_temperature(
    view1: Tensor, view2: Tensor, *, temperature: float = 0.1, inter_temperature: float = 1.0
) -> Tensor:
    """Mean of the two directions, gradient to both views; both temperatures > 0. Returns a scalar >= 0."""
    unit1, unit2 = normalise(view1), normalise(view2)
    forwards = direction(unit1, unit2, temperature, inter_temperature)
    return (forwards + direction(unit2, unit1, temperature, inter_temperature)) / 2


VARIANTS = {"released": dual_temperature}
