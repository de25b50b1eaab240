r"""mV, VICReg modified by Li et al.: gradient dissipation, exponential weights, a static ratio.

written, Li et al. 2024, equations (13) and (19), for both views as anchors,
    L = mV(h, h') + mV(h', h)
    mV(x, y) = lam sum_i d_i [ sum_{j != i} w_ij x_i . sg[x_j] - r W_i x_i . sg[y_i] ]
    w_ij = sg[ exp(x_i . x_j / tau) / sum_{k != l} exp(x_k . x_l / tau) ],   W_i = sum_{j != i} w_ij
    d_i = 1 where s_ii - max_{k != i} s_ik < m
released, Li's code: differs from it as `modified_barlow_twins` does.

Steps of their table 5: margin, temperature, ratio None leave the part as in `vicreg` (weights 2 / N^2 x_i . x_j;
positives -2 / N x_i . sg[y_i], without lam); power replaces the exponential where temperature is None.

Siblings: `modified_barlow_twins` takes the weights from the other view.
Negatives: all other examples, within the views.
When: VICReg that works on STS.
Cites: li2024.
"""

from torch import Tensor

from clrepro.objectives._modified import anchors_and_partners, surrogate


def both_directions(unit, live, partners, lam: float, **settings) -> Tensor:
    """mV(h, h') + mV(h', h); of each pair the first belongs to view 1's anchors."""
    keys1, keys2 = unit[0].detach(), unit[1].detach()
    plain = 2 / len(keys1)
    first = surrogate(live[0], partners[0], keys1, keys1, plain, lam=lam, **settings)
    return first + surrogate(live[1], partners[1], keys2, keys2, plain, lam=lam, **settings)


def written(
    view1: Tensor,
    view2: Tensor,
    *,
    margin: float | None = 0.30,
    temperature: float | None = 0.05,
    ratio: float | None = 1.50,
    lam: float = 1.0,
    power: int | None = None,
) -> Tensor:
    """The paper's mask, positives constant. margin in cosine, tau > 0, ratio r, lam >= 0. Returns a scalar."""
    parts = anchors_and_partners(view1, view2, margin, as_written=True)
    return both_directions(*parts, lam, temperature=temperature, power=power, ratio=ratio)


def released(
    view1: Tensor,
    view2: Tensor,
    *,
    margin: float | None = 0.30,
    temperature: float | None = 0.05,
    ratio: float | None = 1.50,
    lam: float = 1.0,
    power: int | None = None,
) -> Tensor:
    """The code's mask, positives with gradient. margin in cosine, tau > 0, ratio r, lam >= 0. Returns a scalar."""
    parts = anchors_and_partners(view1, view2, margin, as_written=False)
    return both_directions(*parts, lam, temperature=temperature, power=power, ratio=ratio)


VARIANTS = {"released": released, "written": written}
