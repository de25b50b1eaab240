r"""MHS: alignment plus maximum hyperspherical separation.

written, Li et al. 2024, section 4 (gradients (7) and (9)), separation within view 1, averaged over the anchors:
    L = mean_i ||h_i - h'_i||^2 - lam mean_i min_{j != i} ||h_i - h_j||
released, Li's code: across the views, both directions, the negatives constants,
    L = mean_i ||h_i - h'_i||^2 - lam mean_i min_{j != i} d(h_i, sg[h'_j]) - lam mean_i min_{j != i} d(h'_i, sg[h_j])
    d(x, y) = sqrt(||x - y||^2 + 1e-4)

Li's table 2 gives the ratio 2 ||h_i - h_j|| / (lam N), as if the separations were added; the code averages them.
Siblings: `met` is the triplet form; `modified_mhs` is Li's repair.
Negatives: the nearest only, within the view (written) or across (released).
When: a separation without temperature.
Cites: li2024, liu2021.
"""

from torch import Tensor

from clrepro.objectives._pairs import hardest
from clrepro.objectives._similarity import normalise, paired_cosines, paired_distances
from clrepro.objectives.align_uniform import alignment


def separations(anchors: Tensor, keys: Tensor) -> Tensor:
    """min_{j != i} sqrt(||x_i - sg[y_j]||^2 + 1e-4): (N,); for unit rows ||x - y||^2 = 2 - 2 x . y."""
    nearest = keys.detach()[hardest(anchors, keys)]
    # rounding may lift a cosine of equal rows above 1, never by 5e-5
    return (2 - 2 * paired_cosines(anchors, nearest) + 1e-4).sqrt()


def written(view1: Tensor, view2: Tensor, *, lam: float = 1.0) -> Tensor:
    """Separation within view 1; lam (the paper's nu) >= 0. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    nearest = unit1[hardest(unit1, unit1)]
    return alignment(unit1, unit2) - lam * paired_distances(unit1, nearest).mean()


def released(view1: Tensor, view2: Tensor, *, lam: float = 1.0) -> Tensor:
    """Separation across the views, both directions; lam >= 0. Returns a scalar."""
    unit1, unit2 = normalise(view1), normalise(view2)
    spread = separations(unit1, unit2).mean() + separations(unit2, unit1).mean()
    return alignment(unit1, unit2) - lam * spread


VARIANTS = {"written": written, "released": released}
