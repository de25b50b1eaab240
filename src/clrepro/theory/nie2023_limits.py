"""Nie et al. 2023: gradient norms of the triplet losses, and limits for many negatives."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from clrepro.theory._common import (
    BOTH,
    CORRECTED,
    PRINTED,
    Check,
    decides,
    described,
    diagonal,
    equal,
    equal_vectors,
    gradient,
    off_diagonal,
    others,
    tangent,
    unit,
)
from clrepro.theory.nie2023 import HOW, TAU, Case, T, decoupled

__all__ = ["CHECKS"]
TAU_PLUS = 0.17  # of L_dcl+ on BERT_base, table 2
MARGINS = {"dot product": 0.23, "distance": 0.45, "angle": 0.15 * math.pi}


def rho(name: str, s: Tensor) -> Tensor:
    """The distance of a triplet loss: minus the dot product, the Euclidean distance, the angle."""
    return {"dot product": lambda: -s, "distance": lambda: (2 - 2 * s).sqrt(), "angle": lambda: s.arccos()}[name]()


def gap(name: str, s: Tensor) -> Tensor:
    """Positive's distance minus the nearest negative's; the anchor is active where gap + m > 0."""
    return diagonal(rho(name, s)) - others(rho(name, s), math.inf).amin(-1)


def triplet(name: str) -> Callable[[Tensor], Tensor]:
    """Equations (13) to (15): max(gap + m, 0)."""
    return lambda s: (gap(name, s) + MARGINS[name]).relu()


def equations_20_to_22() -> list[Check]:
    """(20) to (22): sin theta, cos(theta / 2) and 1 over ||h|| for the nearest negative, where the hinge is active."""
    case = Case()
    nearest = others(case.theta, math.inf).amin(-1)
    closest_within = others(case.within).amax(-1)
    heights = {"dot product": nearest.sin(), "distance": (nearest / 2).cos(), "angle": torch.ones_like(nearest)}
    rows = []
    for number, (name, margin) in zip((20, 21, 22), MARGINS.items(), strict=True):
        printed = diagonal(case.s) + closest_within < margin if name == "dot product" else gap(name, case.s) < margin
        actual = off_diagonal(case.norms(triplet(name))).reshape(*case.size.shape, -1)
        for form, condition in ((PRINTED, printed), (CORRECTED, -gap(name, case.s) < margin)):
            outcome = equal(heights[name] / case.size * condition, actual.amax(-1))
            wrong = decides(condition, gap(name, case.s) + margin > 0)
            rows.append(
                Check(
                    f"equation ({number})",
                    f"the norm of the nearest negative's part, triplet loss of the {name}",
                    form,
                    f"{HOW}, margin {margin:.4g}",
                    outcome.adding(f"condition: {wrong.detail}"),
                )
            )
    return rows


def equations_38_to_40() -> list[Check]:
    """(39): sin theta_ii', cos(theta_ii' / 2), 1 where rho_ii - min rho_ij < m; for similarities it must be max."""
    case = Case()
    heights = {
        "dot product": case.positive.sin(),
        "distance": (case.positive / 2).cos(),
        "angle": torch.ones_like(case.positive),
    }
    rows = []
    for name, margin in MARGINS.items():
        similarity = -rho(name, case.s)
        actual = diagonal(case.norms(triplet(name)))
        for form, hardest in (
            (PRINTED, others(similarity, math.inf).amin(-1)),
            (CORRECTED, others(similarity).amax(-1)),
        ):
            condition = diagonal(similarity) - hardest < margin
            outcome = equal(heights[name] / case.size * condition, actual)
            wrong = decides(condition, gap(name, case.s) + margin > 0)
            rows.append(
                Check(
                    "equation (39)",
                    f"the norm of the positive's part, triplet loss of the {name}",
                    form,
                    f"{HOW}, margin {margin:.4g}",
                    outcome.adding(f"condition: {wrong.detail}"),
                )
            )
    raw = gradient(lambda x: (unit(x) * case.unit2).sum(-1), case.raw1)
    free = tangent(case.unit2, case.unit1) / case.size.unsqueeze(-1)
    twice = tangent(raw, case.unit1) / case.size.unsqueeze(-1)
    said = "a similarity's gradient at the raw anchor is its derivative times the Jacobian of the normalisation"
    for form, claimed in ((PRINTED, twice), (CORRECTED, free)):
        what = "raw" if form == PRINTED else "normalised"
        rows.append(
            Check(
                "equation (38)",
                said,
                form,
                f"derivative at the {what} anchor; dot product, {described()}",
                equal_vectors(claimed, raw),
            )
        )
    signs = {PRINTED: 1.0, CORRECTED: -1.0}
    for form, sign in signs.items():
        pull = gradient(lambda s, sign=sign: (sign * (diagonal(s) - others(s).amax(-1)) + 1.0).relu(), case.s)
        outcome = decides(diagonal(pull) < 0, diagonal(pull) != 0)
        rows.append(
            Check(
                "equation (37)",
                "with similarities for rho, descending raises the positive's similarity",
                form,
                f"autograd, dot product, margin 1, {described()}; sign of the derivative",
                outcome,
            )
        )
    return rows


def angles() -> tuple[Tensor, Tensor]:
    """A grid of theta_ii' and theta_ij' as in figure 2, radians, away from the poles."""
    line = torch.linspace(0.05, 0.95, 19, dtype=torch.float64) * math.pi
    return torch.meshgrid(line / 2, line, indexing="ij")


def section_3_2_limit() -> list[Check]:
    """For equal negatives, ||cl pos|| / ||dcl pos|| = (N-1) E / (P + (N-1) E) and ||align|| from (8); N to infinity."""
    positive, negative = angles()
    count = 1e30
    excess = ((positive.cos() - negative.cos()) / TAU).exp()
    scaling = (count - 1) / (excess + count - 1)
    cl, dcl = (factor * positive.sin() / TAU for factor in (scaling, torch.ones_like(scaling)))
    half = float(((torch.tensor(math.pi / 6).cos() - 0.0) / TAU).exp())
    how = f"equations (7) to (9) on a grid of angles, {int(positive.numel())} points, N = 1e30, tau {TAU}"
    said = "as the number of negatives grows, the contrastive alignment part becomes that of {}"
    remark = f"but slowly: at angles pi/6 and pi/2 half of it is reached with {half:.2g} negatives"
    rows = [Check("section 3.2", said.format("the decoupled loss"), BOTH, how, equal(cl, dcl).adding(remark))]
    for alpha in (1.0, 2.0, 3.0):
        align = alpha * (2 * (positive / 2).sin()) ** (alpha - 2) * positive.sin()
        outcome = equal(cl, align)
        ratio = cl / align
        remark = f"ratio {float(ratio.min()):.4g} to {float(ratio.max()):.4g}; 1/(2 tau) = {1 / (2 * TAU):g}"
        name = f"the alignment loss, alpha = {alpha:g}"
        rows.append(Check("section 3.2", said.format(name), BOTH, how, outcome.adding(remark)))
    return rows


def appendix_b_limit() -> list[Check]:
    """(16), (18), (17) of equal negatives: E sin / (tau (P + (N-1) E)), sin / (tau (N-1)), 2t sin / (N (N-1))."""
    positive, negative = angles()
    count = 1e30
    excess = ((positive.cos() - negative.cos()) / TAU).exp()
    cl = negative.sin() / (TAU * (excess + count - 1))
    dcl = negative.sin() / (TAU * (count - 1))
    batch = 2 * T * negative.sin() / (count * (count - 1))
    how = f"equations (16) to (18) on a grid of angles, N = 1e30, tau {TAU}, t {T:g}; compared by ratio"
    said = "as the number of negatives grows, one negative's contrastive part becomes that of {}"
    remark = f"the factor is N / (2 t tau), N times {1 / (2 * T * TAU):.6g}: it grows without bound"
    mean = f"1 / (2 t tau) = {1 / (2 * T * TAU):.6g}, which is 1 for t = 1 / (2 tau)"
    rows = [
        Check("appendix B", said.format("the decoupled loss"), BOTH, how, equal(cl, dcl)),
        Check(
            "appendix B", said.format("the uniformity loss, equation (17)"), BOTH, how, equal(cl, batch).adding(remark)
        ),
        Check(
            "appendix B",
            said.format("the uniformity loss, both as means over the batch"),
            BOTH,
            how,
            equal(cl / count, batch).adding(mean),
        ),
    ]
    spread = torch.linspace(-0.2, 0.8, 64, dtype=torch.float64)
    for t in (T, 1 / (2 * TAU)):
        one, two = (spread / TAU).softmax(0), (2 * t * spread).softmax(0)
        said = f"with many unequal negatives their shares in the two uniformity gradients agree, t = {t:g}"
        rows.append(
            Check(
                "appendix B", said, BOTH, f"softmax shares of 64 cosines from -0.2 to 0.8, tau {TAU}", equal(one, two)
            )
        )
    return rows


def last_pull(loss: Callable[[Tensor], Tensor], rows: int) -> float:
    """The cosine gap from which on a loss has no gradient, its N - 1 negatives being orthogonal to the anchor."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        pulls = bool(gradient(loss, middle * torch.eye(rows, dtype=torch.float64)).any())
        low, high = (middle, high) if pulls else (low, middle)
    return high


def conclusion_4() -> list[Check]:
    """Section 7 (4): that L_dcl+ and the triplet losses dissipate does not depend on the number of negatives."""
    sizes = (16, 64, 256)
    losses = {"the truncated decoupled loss": lambda s: decoupled(s, TAU_PLUS).relu()}
    losses |= {f"the triplet loss of the {name}": triplet(name) for name in MARGINS}
    rows = []
    for name, loss in losses.items():
        gaps = torch.tensor([last_pull(loss, size) for size in sizes], dtype=torch.float64)
        found = ", ".join(f"{gap:.3f}" for gap in gaps.tolist())
        rows.append(
            Check(
                "section 7 (4)",
                f"the cosine gap at which {name} stops pulling is the same for any number of negatives",
                BOTH,
                f"bisection, batches of {', '.join(map(str, sizes))}; table 2, BERT_base (tau {TAU_PLUS}, margins)",
                equal(gaps, gaps[0].expand(len(sizes)), 1e-6).adding(f"gaps {found}"),
            )
        )
    return rows


CHECKS = (
    equations_20_to_22,
    equations_38_to_40,
    section_3_2_limit,
    appendix_b_limit,
    conclusion_4,
)
