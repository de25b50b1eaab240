"""Li et al. 2024: the effective losses' gradients, table 1, and the loss of the paradigm.

Gradients are with respect to the unit row h_i, left free (equations 1 to 5 are so meant); where an equation drops
terms along h_i the verdict says that it holds on the tangent plane.
"""

import math

import torch
from torch import Tensor

from clrepro.objectives import make
from clrepro.theory._common import (
    BOTH,
    CORRECTED,
    PRINTED,
    Check,
    batches,
    bounded,
    decides,
    described,
    diagonal,
    equal,
    equal_gradients,
    gradient,
    others,
    softplus,
    tangent,
    unit,
)

TAU, ANGLE = 0.05, math.radians(10)
MPT_MARGIN, MET_MARGIN = 0.23, 0.45


def views() -> tuple[Tensor, Tensor, Tensor]:
    """h, h', (batches, N, D), and their cosines s_ij."""
    unit1, unit2 = (unit(view) for view in batches())
    return unit1, unit2, unit1 @ unit2.mT


def distances(s: Tensor) -> Tensor:
    return (2 - 2 * s).sqrt()


def arc(s: Tensor) -> Tensor:
    """cos(theta_ii' + u)."""
    return (diagonal(s).arccos() + ANGLE).cos()


def free_distances(anchors: Tensor, keys: Tensor) -> Tensor:
    """||h_i - h_j'|| without using that rows have length 1."""
    return (anchors.unsqueeze(2) - keys.unsqueeze(1)).norm(dim=-1)


def hinge(d: Tensor, margin: float, largest: bool = False) -> Tensor:
    """max(0, d_ii - min_j d_ij + m), or as printed with the largest d_ij."""
    rest = others(d).amax(-1) if largest else others(d, math.inf).amin(-1)
    return (diagonal(d) - rest + margin).relu()


def one_hot(index: Tensor, width: int) -> Tensor:
    return torch.nn.functional.one_hot(index, width).double()


def paradigm(active: Tensor, weights: Tensor, ratio: Tensor, unit2: Tensor) -> Tensor:
    """(4): GD_i sum_{j != i} W_ij (h_j' - R_ij h_i')."""
    pull = (weights * ratio).sum(-1, keepdim=True)
    return active.unsqueeze(-1) * (weights @ unit2 - pull * unit2)


def table_1() -> list[Check]:
    """GD, W and R of InfoNCE, ArcCon, MPT and MET in angles; equation (4) with them against autograd."""
    unit1, unit2, s = views()
    theta = s.arccos()
    exponentials = others(s / TAU).exp()
    total = exponentials.sum(-1)
    shares = exponentials / (TAU * total.unsqueeze(-1))
    ones = torch.ones_like(s)
    hardest = one_hot(others(s).argmax(-1), s.shape[-1])
    nearest = others(distances(s), math.inf).amin(-1)
    sines = ((diagonal(theta) + ANGLE).sin() / diagonal(theta).sin()).unsqueeze(-1)
    mpt = diagonal(s) - others(s).amax(-1) < MPT_MARGIN
    met = nearest - distances(diagonal(s)) < MET_MARGIN
    components = {
        "InfoNCE": (1 / (1 + (diagonal(s) / TAU).exp() / total), shares, ones),
        "ArcCon": (1 / (1 + (arc(s) / TAU).exp() / total), shares, sines * ones),
        "MPT": (mpt, hardest, ones),
        "MET": (met, hardest / distances(s), (distances(s) / distances(diagonal(s)).unsqueeze(-1))),
    }

    def arccon(s: Tensor) -> Tensor:
        return softplus(others(s / TAU).logsumexp(-1) - arc(s) / TAU)

    def infonce(s: Tensor) -> Tensor:
        return softplus(others(s / TAU).logsumexp(-1) - diagonal(s) / TAU)

    losses = {
        "InfoNCE": lambda h: infonce(h @ unit2.mT),
        "ArcCon": lambda h: arccon(h @ unit2.mT),
        "MPT": lambda h: hinge(-h @ unit2.mT, MPT_MARGIN),
        "MET": lambda h: hinge(free_distances(h, unit2), MET_MARGIN),
    }
    where = {"InfoNCE": "equation (1)", "ArcCon": "equation (2)", "MPT": "equation (3)", "MET": "equation (3)"}
    rows = []
    for name, (active, weights, ratio) in components.items():
        outcome = equal_gradients(paradigm(active, weights, ratio, unit2), gradient(losses[name], unit1), unit1)
        rows.append(
            Check(
                f"table 1, {where[name]}",
                f"dissipation, weight and ratio of {name} give its gradient",
                BOTH,
                f"autograd at free unit rows, {described()}",
                outcome,
            )
        )
    return rows


def triplet_form() -> list[Check]:
    """Section 2.2: max(0, d_ii - max_j d_ij + m) is printed; equation (3) is the gradient with the min."""
    unit1, unit2, s = views()
    rows = []
    for name, margin in (("MPT", MPT_MARGIN), ("MET", MET_MARGIN)):
        closest = one_hot(others(s).argmax(-1), s.shape[-1])
        if name == "MPT":
            active, whole = diagonal(s) - others(s).amax(-1) < margin, closest @ unit2 - unit2
        else:
            d = distances(s)
            active = others(d, math.inf).amin(-1) - diagonal(d) < margin
            whole = (closest / d) @ unit2 - unit2 / diagonal(d).unsqueeze(-1)
        for form, largest in ((PRINTED, True), (CORRECTED, False)):

            def loss(h: Tensor, name: str = name, margin: float = margin, largest: bool = largest) -> Tensor:
                return hinge(-h @ unit2.mT if name == "MPT" else free_distances(h, unit2), margin, largest)

            outcome = equal_gradients(active.unsqueeze(-1) * whole, gradient(loss, unit1), unit1)
            rows.append(
                Check(
                    "section 2.2, triplet form",
                    f"equation (3) is the gradient of the triplet loss, {name}",
                    form,
                    f"autograd of the {'max' if largest else 'min'} over the negatives, {described()}",
                    outcome,
                )
            )
    return rows


def met_indicator() -> list[Check]:
    """Appendix D.1: MET is active where the nearest negative's distance minus the positive's is below m."""
    _, _, s = views()
    lead = others(distances(s), math.inf).amin(-1) - distances(diagonal(s))
    active = hinge(distances(s), MET_MARGIN) > 0
    said = "the condition under which MET has a gradient"
    how = f"sign of the hinge, margin {MET_MARGIN}, {described()}"
    return [
        Check("appendix D.1", said, PRINTED, how, decides(-lead < MET_MARGIN, active)),
        Check("appendix D.1", said, CORRECTED, how, decides(lead < MET_MARGIN, active)),
    ]


def equation_5() -> list[Check]:
    """(5): GD sum_j W (h_i . h_j' - R h_i . h_i') with constant GD, W, R and keys has the gradient (4)."""
    unit1, unit2, s = views()
    active = diagonal(s) - others(s).amax(-1) < 0.3
    weights = others(s / TAU).softmax(-1)
    ratio = 1 + torch.rand(s.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    def loss(h: Tensor) -> Tensor:
        cosines = h @ unit2.mT
        return active * (weights * (cosines - ratio * diagonal(cosines).unsqueeze(-1))).sum(-1)

    outcome = equal_gradients(paradigm(active, weights, ratio, unit2), gradient(loss, unit1), unit1)
    how = f"autograd, m 0.3, tau {TAU}, random ratios in 1 to 2, {described()}"
    return [Check("equation (5)", "its gradient at the anchor is the paradigm, equation (4)", BOTH, how, outcome)]


def effective_ratio(gradients: Tensor, view1: Tensor, view2: Tensor) -> Tensor:
    """The R, (N,), for which each row of the gradient is along sum_j W_ij h_j' - R h_i' on the tangent plane."""
    pull = tangent(view2, view1)
    push = tangent(others(view1 @ view2.T / TAU).softmax(-1) @ view2, view1)
    found = torch.linalg.lstsq(torch.stack([push, pull], -1), gradients.unsqueeze(-1)).solution.squeeze(-1)
    return -found[:, 1] / found[:, 0]


def released_ratio() -> list[Check]:
    """The released loss adds both directions and does not detach the positive: sum_j W_ij h_j' - 2 r h_i'."""
    view1, view2 = (unit(view) for view in batches(20))
    rows = []
    for variant in ("released", "written"):
        for margin in (None, 0.3):
            asked, found = [], []
            for ratio in (0.5, 1.0, 1.5):
                loss = make("paradigm", variant=variant, ratio=ratio, margin=margin, temperature=TAU)
                for one, two in zip(view1, view2, strict=True):
                    leaf = one.clone().requires_grad_()
                    value = loss(leaf, two if variant == "released" else two.clone())
                    slope = torch.autograd.grad(value, leaf)[0]
                    seen = slope.norm(dim=1) > 1e-12
                    s = one @ two.T
                    # anchors that are off get the positive of the other direction only, no negatives
                    seen &= diagonal(s) - others(s).amax(-1) < (math.inf if margin is None else margin)
                    found.append(effective_ratio(slope, one, two)[seen])
                    asked.append(torch.full_like(found[-1], ratio))
            claimed, actual = torch.cat(asked), torch.cat(found)
            over = actual / claimed
            outcome = equal(claimed, actual, 1e-8).adding(
                f"actual over claimed: {float(over.min()):.4g} to {float(over.max()):.4g}"
            )
            how = f"gradients solved for their two coefficients (1e-8 relative), r 0.5, 1, 1.5, {described(20)}"
            said = f"the {variant} loss has ratio r at the anchor, {'no mask' if margin is None else f'm = {margin}'}"
            rows.append(Check("equation (5), as code", said, BOTH, how, outcome))
    return rows


def conjecture_2() -> list[Check]:
    """The softmax share of the hardest negative, max_j W_ij, against the triplet's 1, as tau falls to 0."""
    _, _, s = views()
    temperatures = torch.tensor([1.0, 0.3, 0.1, 0.05, 0.03, 0.01, 1e-3], dtype=torch.float64)
    shares = torch.stack([others(s / tau).softmax(-1).amax(-1) for tau in temperatures])
    steps = shares.diff(dim=0)
    outcome = bounded(torch.zeros_like(steps), steps)
    averages = ", ".join(
        f"{tau:g}: {value:.3f}" for tau, value in zip(temperatures.tolist(), shares.mean((1, 2)), strict=True)
    )
    how = f"shares at 7 temperatures, {described()}"
    said = "the hardest negative's share of the exponential weights grows as tau falls"
    return [Check("section 3.1.2", said, BOTH, how, outcome.adding(f"mean share at tau {averages}"))]


CHECKS = (table_1, triplet_form, met_indicator, equation_5, released_ratio, conjecture_2)
