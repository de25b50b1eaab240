r"""mMHE, alignment and minimum hyperspherical energy modified by Li et al.: dissipation, temperature, static ratio.

    E(x) = log sum_{k < l} exp(x_k . x_l / tau),   c_i = sg[ sum_{j != i} exp(h_i . h_j / tau) / (tau sum_{k < l} ...) ]
    and c'_i of view 2; h~ are the rows, inactive anchors (d_i = 0) without gradient

written, Li et al. 2024, appendix E (gradient (14)), for both views as anchors, each with a constant partner:
    L = lam [ E(h~) + E(h~') ] + r / 2 sum_i [ c_i ||h~_i - sg[h'_i]||^2 + c'_i ||h~'_i - sg[h_i]||^2 ]
    d_i = 1 where s_ii - max_{k != i} s_ik < m
released, Li's code: partners are not constants, so the ratio at an anchor is about 2 r, and the mask compares the
hardest negative within the view with 1:
    L = lam [ E(h~) + E(h~') ] + r / 2 sum_i (c_i + c'_i) ||h~_i - h~'_i||^2

Steps of their table 5: margin None leaves all anchors active; temperature None is tau = 1; ratio None is r = 1, and
with both None the alignment is that of `mhe`, mean_i ||h_i - h'_i||^2.

Siblings: `mhe` before the modification; `modified_mhs` keeps the nearest negative only.
Negatives: all other examples, within the views.
When: MHE that works on STS.
Cites: li2024.
"""

import math

from torch import Tensor

from clrepro.objectives._modified import anchors_and_partners
from clrepro.objectives._pairs import energy_and_shares
from clrepro.objectives._similarity import paired_squares, with_gradient_of


def energies(live1: Tensor, live2: Tensor, temperature: float | None, lam: float) -> tuple[Tensor, Tensor, Tensor]:
    """lam [E(h~) + E(h~')], a scalar, and the coefficients c and c', (N,) each."""
    tau = 1.0 if temperature is None else temperature
    total1, shares1 = energy_and_shares(live1, tau)
    total2, shares2 = energy_and_shares(live2, tau)
    # every pair once: half of the sum over ordered pairs, of which a row's share therefore counts twice
    return lam * (total1 + total2 - 2 * math.log(2)), 2 / tau * shares1, 2 / tau * shares2


def written(
    view1: Tensor,
    view2: Tensor,
    *,
    margin: float | None = 0.30,
    temperature: float | None = 0.05,
    ratio: float | None = 1.75,
    lam: float = 1.0,
) -> Tensor:
    """The paper's mask, partners constant. margin in cosine, tau > 0, ratio r, lam >= 0. Returns a scalar."""
    _, (live1, live2), partners = anchors_and_partners(view1, view2, margin, as_written=True)
    energy, coefficients1, coefficients2 = energies(live1, live2, temperature, lam)
    squares1, squares2 = paired_squares(live1, partners[0]), paired_squares(live2, partners[1])
    if temperature is None and ratio is None:
        return energy + with_gradient_of(squares1.mean(), squares1.mean() + squares2.mean())
    factor = 0.5 if ratio is None else ratio / 2
    return energy + factor * (coefficients1 * squares1 + coefficients2 * squares2).sum()


def released(
    view1: Tensor,
    view2: Tensor,
    *,
    margin: float | None = 0.30,
    temperature: float | None = 0.05,
    ratio: float | None = 1.75,
    lam: float = 1.0,
) -> Tensor:
    """The code's mask, partners with gradient. margin in cosine, tau > 0, ratio r, lam >= 0. Returns a scalar."""
    _, (live1, live2), _ = anchors_and_partners(view1, view2, margin, as_written=False)
    energy, coefficients1, coefficients2 = energies(live1, live2, temperature, lam)
    squares = paired_squares(live1, live2)
    if temperature is None and ratio is None:
        return energy + squares.mean()
    factor = 0.5 if ratio is None else ratio / 2
    return energy + factor * ((coefficients1 + coefficients2) * squares).sum()


VARIANTS = {"released": released, "written": written}
