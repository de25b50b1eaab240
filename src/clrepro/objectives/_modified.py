"""What Li's four modified objectives share: anchors that dissipate, and the surrogate of weighted pairs."""

import torch
from torch import Tensor

from clrepro.objectives._pairs import attend, hardest
from clrepro.objectives._similarity import normalise, paired_cosines
from clrepro.objectives.paradigm import dissipation


def active_across(unit1: Tensor, unit2: Tensor, margin: float | None) -> tuple[Tensor, Tensor]:
    """The paper's d_i for both views, (N,) bool each: 1 where s_ii - max_{j != i} s_ij < m (columns for view 2)."""
    return dissipation(unit1, unit2, margin), dissipation(unit2, unit1, margin)


@torch.no_grad()
def active_within(unit1: Tensor, unit2: Tensor, margin: float | None) -> tuple[Tensor, Tensor]:
    """The code's masks: 1 where 1 - max_{j != i} h_i . h_j < m, each view by itself.

    1 stands where the paper has s_ii <= 1, so anchors are switched off earlier.
    """
    if margin is None:
        return active_across(unit1, unit2, None)
    masks = [1 - paired_cosines(unit, unit[hardest(unit, unit)]) < margin for unit in (unit1, unit2)]
    return masks[0], masks[1]


def stop(unit: Tensor, active: Tensor) -> Tensor:
    """The rows, inactive ones without gradient: they still act as constants for the others."""
    return torch.where(active.unsqueeze(1), unit, unit.detach())


def anchors_and_partners(
    view1: Tensor, view2: Tensor, margin: float | None, as_written: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """For both views: unit rows; the same, inactive anchors stopped; and the anchors' positives.

    As written: the paper's masks, positives constant. As released: the code's masks, positives with gradient.
    """
    unit1, unit2 = normalise(view1), normalise(view2)
    active1, active2 = (active_across if as_written else active_within)(unit1, unit2, margin)
    live1, live2 = stop(unit1, active1), stop(unit2, active2)
    return (unit1, unit2), (live1, live2), (unit2.detach(), unit1.detach()) if as_written else (live2, live1)


@torch.no_grad()
def weighted_keys(source: Tensor, keys: Tensor, temperature: float | None, power: int | None) -> tuple[Tensor, Tensor]:
    """W_i = sum_{j != i} w_ij, (N,), and sum_{j != i} w_ij keys_j, (N, D).

    With z the source's rows, w_ij = exp(z_i . z_j / tau) over the sum of all pairs k != l; with a power instead of
    tau, max(z_i . z_j, 1e-4)^power over its sum; with neither, the unmodified 2 / N^2 z_i . z_j.
    """
    if temperature is None and power is None:
        scale = 2 / len(source) ** 2
        own = source.square().sum(1)  # the pair (i, i), 1 unless the row is 0
        totals = scale * (source @ source.sum(0) - own)
        return totals, scale * (source @ (source.T @ keys) - own.unsqueeze(1) * keys)
    sums, means = attend(source, source, keys, temperature, None if temperature is not None else power)
    totals = (sums - sums.logsumexp(0)).exp()
    return totals, totals.unsqueeze(1) * means


def surrogate(
    live: Tensor,
    partner: Tensor,
    keys: Tensor,
    source: Tensor,
    plain_positive: Tensor | float,
    *,
    temperature: float | None,
    power: int | None,
    ratio: float | None,
    lam: float,
) -> Tensor:
    """lam sum_i [ sum_{j != i} w_ij live_i . sg[keys_j] - r W_i live_i . partner_i ], one direction, a scalar.

    live: the anchors, inactive ones stopped; partner: their positives. Without a ratio the positive term is the
    unmodified one, - sum_i live_i . sg[plain_positive * partner_i].
    """
    totals, targets = weighted_keys(source, keys, temperature, power)
    negatives = lam * (live * targets).sum()
    if ratio is None:
        return negatives - (live * (plain_positive * partner.detach())).sum()
    return negatives - lam * ratio * (totals * paired_cosines(live, partner)).sum()
