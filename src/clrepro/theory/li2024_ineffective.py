"""Li et al. 2024: gradients of alignment, uniformity, Barlow Twins and VICReg, and of their modifications.

In these equations the other rows are constants and h_i is a unit vector; terms along h_i are mostly left out.
`printed` is the readable first version of the paper; the second has some of the corrections.
"""

from functools import partial

import torch
from torch import Tensor

from clrepro.theory._common import (
    BOTH,
    CORRECTED,
    PRINTED,
    Check,
    batches,
    described,
    diagonal,
    equal_gradients,
    gradient,
    others,
    unit,
)
from clrepro.theory.li2024 import one_hot

__all__ = ["CHECKS"]
NU, MARGIN = 3.0, 0.3
COUNT, WIDTH = 8, 16


def views() -> tuple[Tensor, Tensor]:
    """h, h', (100, N, D)."""
    one, two = batches(100, COUNT, WIDTH)
    return unit(one), unit(two)


HOW = f"autograd at free unit rows, {described(100, COUNT, WIDTH)}"


def alignment(h: Tensor, unit2: Tensor) -> Tensor:
    """L^a, one number per batch."""
    return (h - unit2).square().sum(-1).mean(-1)


def squares(h: Tensor) -> Tensor:
    """||h_i - h_j||^2 without using the rows' length."""
    return (h.unsqueeze(2) - h.unsqueeze(1)).square().sum(-1)


def energy(h: Tensor, scale: float = 1.0) -> Tensor:
    """L^{u,MHE}: log mean_{k<l} exp(-scale ||h_k - h_l||^2), but for its constant; each pair counted twice."""
    return others(-scale * squares(h)).flatten(1).logsumexp(1)


def per_anchor(h: Tensor, constants: Tensor) -> Tensor:
    """||h_i - h_j||^2 with h_j constant: what a loss of anchor i alone sees."""
    return (h.unsqueeze(2) - constants.unsqueeze(1)).square().sum(-1)


def nearest_distance(h: Tensor, constants: Tensor) -> Tensor:
    """min_j ||h_i - h_j||."""
    return others(per_anchor(h, constants), torch.inf).amin(-1).sqrt()


def hardest(h: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest row h_j of each anchor, and its distance with a last axis of 1."""
    a = others(h @ h.mT)
    return one_hot(a.argmax(-1), COUNT) @ h, (2 - 2 * a.amax(-1, keepdim=True)).sqrt()


def equations_7_to_9() -> list[Check]:
    """(7): -2/N h_i'; (8): sum_j 2 e^{2a_ij} h_j / sum_{k<l} e^{2a_kl}; (9): h_j / ||h_i - h_j||, j the nearest."""
    h, keys = views()
    potential = others(2 * h @ h.mT).exp()
    repulsion = 2 * potential @ h / (potential.sum((1, 2), keepdim=True) / 2)
    near, distance = hardest(h)
    cases = (
        (7, "the alignment's gradient", -2 / COUNT * keys, lambda x: alignment(x, keys)),
        (8, "the minimum hyperspherical energy's gradient", repulsion, energy),
        (9, "the maximum hyperspherical separation's gradient", near / distance, lambda x: -nearest_distance(x, h)),
    )
    return [
        Check(f"equation ({number})", said, BOTH, HOW, equal_gradients(claimed, gradient(loss, h), h))
        for number, said, claimed, loss in cases
    ]


def barlow_twins(h: Tensor, keys: Tensor) -> Tensor:
    """L^B of C = sum_i h_i keys_i^T / N."""
    c = h.mT @ keys / COUNT
    on = (diagonal(c) - 1).square().sum(-1)
    return on + NU * (c.square().sum((1, 2)) - diagonal(c).square().sum(-1))


def barlow_gradient(h: Tensor, keys: Tensor, weights: Tensor, correlation: Tensor) -> Tensor:
    """(10): 2/N (-A h_i' + nu sum_{j != i} weights_ij / N h_j), A = I - (1 - nu) C_diag."""
    a = 1 - (1 - NU) * diagonal(correlation).unsqueeze(1)
    return 2 / COUNT * (-a * keys + NU / COUNT * others(weights, 0.0) @ h)


def equation_10() -> list[Check]:
    """(10) with C of h h^T (version 1) or h h'^T (version 2), and weights h_i . h_j' (1) or h_i' . h_j' (2)."""
    h, keys = views()
    across, within = h.mT @ keys / COUNT, h.mT @ h / COUNT
    right = gradient(lambda x: barlow_twins(x, keys), h)
    same = gradient(lambda x: barlow_twins(x, x), h)
    said = "the gradient of Barlow Twins, {}"
    cases = (
        ("C of one view (version 1)", PRINTED, keys @ keys.mT, within, same),
        ("C across the views (version 2)", CORRECTED, keys @ keys.mT, across, right),
        ("weights h_i . h_j' (version 1)", PRINTED, h @ keys.mT, across, right),
        ("weights h_i' . h_j' (version 2)", CORRECTED, keys @ keys.mT, across, right),
    )
    return [
        Check(
            "equation (10)",
            said.format(name),
            form,
            f"{HOW}, nu {NU:g}",
            equal_gradients(barlow_gradient(h, keys, weights, correlation), actual, h),
        )
        for name, form, weights, correlation, actual in cases
    ]


def vicreg(h: Tensor, keys: Tensor, whole: bool, centred: bool, hinge: float = 0.0) -> Tensor:
    """L^V's alignment and covariance penalty with nu^{V,1} = NU, and the hinge with weight `hinge`, gamma 1."""
    x = h - h.mean(1, keepdim=True) if centred else h
    c = x.mT @ x / (COUNT - 1)
    penalty = c.square().sum((1, 2)) - (0.0 if whole else diagonal(c).square().sum(-1))
    deviation = (1 - h.std(1)).relu().mean(-1) if hinge else 0.0
    return alignment(h, keys) + NU * penalty / WIDTH + hinge * deviation


def equation_11() -> list[Check]:
    """(11): 2/N (-h_i' + nu^V sum_{j != i} a_ij / N h_j), nu^V = 2 nu^{V,1} N^2 / (D (N-1)^2)."""
    h, keys = views()
    nu = 2 * NU * COUNT**2 / (WIDTH * (COUNT - 1) ** 2)
    claimed = 2 / COUNT * (-keys + nu / COUNT * others(h @ h.mT, 0.0) @ h)
    cases = (
        ("off-diagonal covariance, centred, with the hinge", PRINTED, False, True, 1.0),
        ("off-diagonal covariance, centred, without the hinge", PRINTED, False, True, 0.0),
        ("off-diagonal covariance, not centred, without the hinge", PRINTED, False, False, 0.0),
        ("all entries of the covariance, centred", PRINTED, True, True, 0.0),
        ("all entries of the covariance, not centred, without the hinge", CORRECTED, True, False, 0.0),
    )
    return [
        Check(
            "equation (11)",
            f"the gradient of VICReg with {name}",
            form,
            f"{HOW}, nu {NU:g}",
            equal_gradients(
                claimed, gradient(partial(vicreg, keys=keys, whole=whole, centred=centred, hinge=hinge), h), h
            ),
        )
        for name, form, whole, centred, hinge in cases
    ]


def table_2() -> list[Check]:
    """Weights and ratios of the four losses; sum_j W_ij (h_j - R_i h_i') against autograd, on the tangent plane."""
    h, keys = views()
    a, b = others(h @ h.mT, 0.0), others(keys @ keys.mT, 0.0)
    potential = others(2 * h @ h.mT).exp()
    pairs = potential.sum((1, 2), keepdim=True) / 2
    _, distance = hardest(h)
    sharp = one_hot(others(h @ h.mT).argmax(-1), COUNT)
    matrix = 1 - (1 - NU) * diagonal(h.mT @ keys / COUNT).unsqueeze(1)
    scale = WIDTH * (COUNT - 1) ** 2
    cases = (
        (
            "alignment and MHE",
            2 * NU * potential / pairs,
            pairs / (NU * COUNT * potential.sum(-1, keepdim=True)),
            lambda x: alignment(x, keys) + NU * energy(x),
        ),
        (
            "alignment and MHS",
            NU * sharp / distance,
            2 * distance / (NU * COUNT),
            lambda x: (x - keys).square().sum(-1) / COUNT - NU * nearest_distance(x, h),
        ),
        (
            "Barlow Twins",
            2 * NU * b / COUNT**2,
            COUNT * matrix / (NU * b.sum(-1, keepdim=True)),
            lambda x: barlow_twins(x, keys),
        ),
        (
            "VICReg",
            4 * NU * a / scale,
            scale / COUNT / (2 * NU * a.sum(-1, keepdim=True)),
            lambda x: vicreg(x, keys, True, False),
        ),
    )
    rows = []
    for name, weights, ratio, loss in cases:
        claimed = weights @ h - weights.sum(-1, keepdim=True) * ratio * keys
        rows.append(
            Check(
                "table 2",
                f"weight and ratio of {name} give its gradient",
                BOTH,
                f"{HOW}, nu {NU:g}",
                equal_gradients(claimed, gradient(loss, h), h),
            )
        )
    return rows


def surrogates() -> list[Check]:
    """L^eB_i, L^eV_i: -h_i . w_p h_i' + nu sum_{j != i} w_n,ij h_i . h_j, other rows and weights constant."""
    h, keys = views()
    matrix = 1 - (1 - NU) * diagonal(h.mT @ keys / COUNT).unsqueeze(1)
    nu = 2 * NU * COUNT**2 / (WIDTH * (COUNT - 1) ** 2)

    def gradients(positive: Tensor | float, weights: Tensor, factor: float) -> Tensor:
        def loss(x: Tensor) -> Tensor:
            repel = (others(weights, 0.0) * (x @ h.mT)).sum(-1)
            return -(x * positive * keys).sum(-1) + factor * repel

        return gradient(loss, h)

    right = gradient(lambda x: barlow_twins(x, keys), h)
    form = "has the gradient of Barlow Twins (C across the views)"
    rows = [
        Check(
            "section 4, L^eB",
            form,
            name,
            f"{HOW}, nu {NU:g}, weights h_i{prime} . h_j'",
            equal_gradients(gradients(2 * matrix / COUNT, 2 * weights / COUNT**2, NU), right, h),
        )
        for name, prime, weights in ((PRINTED, "", h @ keys.mT), (CORRECTED, "'", keys @ keys.mT))
    ]
    actual = gradient(lambda x: vicreg(x, keys, True, False), h)
    rows.append(
        Check(
            "appendix E, L^eV",
            "has the gradient of VICReg (all entries, not centred, no hinge)",
            BOTH,
            f"{HOW}, nu {NU:g}",
            equal_gradients(gradients(2 / COUNT, 2 * (h @ h.mT) / COUNT**2, nu), actual, h),
        )
    )
    return rows


CHECKS = (
    equations_7_to_9,
    equation_10,
    equation_11,
    table_2,
    surrogates,
)
