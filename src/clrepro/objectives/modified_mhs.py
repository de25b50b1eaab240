r"""mMHS, alignment and maximum hyperspherical separation modified by Li et al.: dissipation and a static ratio.

h~ are the rows, inactive anchors (d_i = 0) without gradient.

written, Li et al. 2024, appendix E with min for max (gradient (15)), separations within each view, partners constant:
    L = mean_i [ r / 2 ||h~_i - sg[h'_i]||^2 / sg[g_i] - lam g_i ] + the same with the views exchanged
    g_i = min_{j != i} ||h~_i - sg[h_j]||,   d_i = 1 where s_ii - max_{k != i} s_ik < m
released, Li's code: separations across the views, D_i = min_{j != i} sqrt(||h~_i - sg[h'_j]||^2 + 1e-4), partners with
gradient (so the ratio at an anchor is about 2 r), and the mask compares the hardest negative within the view with 1:
    L = mean_i r / 2 (1 / D_i + 1 / D'_i) ||h~_i - h~'_i||^2 - lam mean_i D_i - lam mean_i D'_i

Step of their table 5: ratio None leaves the alignment of `mhs`, mean_i ||h_i - h'_i||^2; the weight was on the hardest
negative already. In the written form a separation below 0.01 counts as 0.01 in the coefficient.

Siblings: `mhs` before the modification; `modified_mhe` weighs all negatives.
Negatives: the nearest only, within the view (written) or across (released).
When: MHS that works on STS.
Cites: li2024.
"""

from torch import Tensor

from clrepro.objectives._modified import anchors_and_partners
from clrepro.objectives._pairs import hardest
from clrepro.objectives._similarity import paired_distances, paired_squares, with_gradient_of
from clrepro.objectives.mhs import separations


def written(
    view1: Tensor, view2: Tensor, *, margin: float | None = 0.30, ratio: float | None = 1.75, lam: float = 1.0
) -> Tensor:
    """The paper's mask, partners constant. margin in cosine, ratio r, lam >= 0. Returns a scalar."""
    (unit1, unit2), (live1, live2), partners = anchors_and_partners(view1, view2, margin, as_written=True)
    gaps1, gaps2 = (
        paired_distances(live, unit.detach()[hardest(unit, unit)]) for live, unit in ((live1, unit1), (live2, unit2))
    )
    squares1, squares2 = paired_squares(live1, partners[0]), paired_squares(live2, partners[1])
    spread = lam * (gaps1.mean() + gaps2.mean())
    if ratio is None:
        return with_gradient_of(squares1.mean(), squares1.mean() + squares2.mean()) - spread
    nearest1, nearest2 = gaps1.detach().clamp(min=0.01), gaps2.detach().clamp(min=0.01)
    return ratio / 2 * (squares1 / nearest1 + squares2 / nearest2).mean() - spread


def released(
    view1: Tensor, view2: Tensor, *, margin: float | None = 0.30, ratio: float | None = 1.75, lam: float = 1.0
) -> Tensor:
    """The code's mask, partners with gradient. margin in cosine, ratio r, lam >= 0. Returns a scalar."""
    (unit1, unit2), (live1, live2), _ = anchors_and_partners(view1, view2, margin, as_written=False)
    gaps1, gaps2 = separations(live1, unit2), separations(live2, unit1)
    squares = paired_squares(live1, live2)
    spread = lam * (gaps1.mean() + gaps2.mean())
    if ratio is None:
        return squares.mean() - spread
    return ratio / 2 * ((1 / gaps1.detach() + 1 / gaps2.detach()) * squares).mean() - spread


VARIANTS = {"released": released, "written": written}
