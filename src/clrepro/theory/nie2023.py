"""Nie et al. 2023: gradient norms of the losses, split into alignment (positive) and uniformity (each negative).

Notation: s_ij = h_i . h_j' of unit rows, theta = arccos s, P = exp(s_ii / tau), E_ij = exp(s_ij / tau),
D_i = sum_{j != i} E_ij. All norms are with respect to the raw anchor, hence the factor 1 / ||raw anchor||.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from clrepro.theory._common import (
    BOTH,
    CORRECTED,
    PRINTED,
    Check,
    batches,
    decides,
    described,
    diagonal,
    equal,
    equal_vectors,
    gradient,
    off_diagonal,
    others,
    parts,
    softplus,
    tangent,
    unit,
)

TAU, TAU_PLUS, T, ALPHA = 0.05, 0.17, 6.0, 2.0  # table 2, BERT base
HOW = f"autograd, one leaf per pair, {described()}"


def contrastive(s: Tensor, tau: float = TAU) -> Tensor:
    """Equation (1), tau inside: -s_ii / tau + log(P + D)."""
    return softplus(others(s / tau).logsumexp(-1) - diagonal(s) / tau)


def contrastive_printed(s: Tensor) -> Tensor:
    """Equation (1) as printed: the negatives' sum is of exp(s_ij) / tau."""
    positive = diagonal(s).exp().log() / TAU
    return -positive + torch.logaddexp(positive, others(s).logsumexp(-1) - math.log(TAU))


def decoupled(s: Tensor, tau: float = TAU) -> Tensor:
    """Equation (5), tau inside: -s_ii / tau + log D."""
    return -diagonal(s) / tau + others(s / tau).logsumexp(-1)


def decoupled_printed(s: Tensor, tau: float = TAU) -> Tensor:
    """Equation (5) as printed: log sum of exp(s_ij) / tau."""
    return -diagonal(s) / tau + others(s).logsumexp(-1) - math.log(tau)


def uniformity(s: Tensor) -> Tensor:
    """Equation (29): log mean_{i, j != i} exp(-t ||h_i - h_j'||^2), one number per batch."""
    return others(-T * (2 - 2 * s)).flatten(1).logsumexp(1)


class Case:
    """Views, cosines, angles, and norms of raw anchors of the random batches."""

    def __init__(self) -> None:
        self.raw1, self.raw2 = batches()
        self.unit1, self.unit2 = unit(self.raw1), unit(self.raw2)
        self.s = self.unit1 @ self.unit2.mT
        self.within = self.unit1 @ self.unit1.mT
        self.size = self.raw1.norm(dim=-1)
        self.theta = self.s.arccos()
        self.positive = diagonal(self.theta)

    def norms(self, loss: Callable[[Tensor], Tensor]) -> Tensor:
        """Gradient norms (batches, N, N): the positive's on the diagonal, the negatives' beside it."""
        return parts(loss, self.raw1, self.raw2).norm(dim=-1)

    def best(self, claims: Tensor, actual: Tensor) -> Tensor:
        """Of claims with a free index j != i, (batches, N, N), the one that comes nearest."""
        return claims.gather(-1, others((claims - actual.unsqueeze(-1)).abs(), math.inf).argmin(-1, True)).squeeze(-1)


def equation_1_and_6() -> list[Check]:
    """(6): dL/dh_i = -[sum_j E_ij (h_i' - h_i) + sum_j E_ij (h_i - h_j')] (I - M) / (tau (P + D) ||h_i||)."""
    case = Case()
    weights = others(case.s / TAU).exp() / (case.s / TAU).exp().sum(-1, keepdim=True)
    whole = weights.sum(-1, keepdim=True) * case.unit2 - weights @ case.unit2
    claimed = -tangent(whole, case.unit1) / (TAU * case.size.unsqueeze(-1))
    rows = []
    for form, loss in ((PRINTED, contrastive_printed), (CORRECTED, contrastive)):
        actual = gradient(lambda raw, loss=loss: loss(unit(raw) @ case.unit2.mT), case.raw1)
        rows.append(
            Check(
                "equations (1), (6)",
                "equation (6) is the contrastive loss's gradient at the anchor",
                form,
                f"autograd of equation (1), tau {TAU}, {described()}",
                equal_vectors(claimed, actual),
            )
        )
    return rows


def equation_5() -> list[Check]:
    """(5): its parts at the anchor have the norms (9) and (18) only with tau inside the exponent."""
    case = Case()
    claimed = others(case.s / TAU).softmax(-1) * case.theta.sin() / (TAU * case.size.unsqueeze(-1))
    warm = others(case.s).softmax(-1) * case.theta.sin() / case.size.unsqueeze(-1)
    printed = off_diagonal(case.norms(decoupled_printed))
    said = "the negatives' parts of the decoupled loss's gradient have temperature tau, as in equation (18)"
    remark = f"with temperature 1 in equation (18): {equal(off_diagonal(warm), printed).detail}"
    right = equal(off_diagonal(claimed), off_diagonal(case.norms(decoupled)))
    wrong = equal(off_diagonal(claimed), printed).adding(remark)
    return [Check("equation (5)", said, PRINTED, HOW, wrong), Check("equation (5)", said, CORRECTED, HOW, right)]


def alignment_norms() -> list[Check]:
    """(7): D sin theta_ii' / (tau (P + D)); (8): alpha (2 sin(theta_ii'/2))^(alpha-2) sin theta_ii'; (9): no D, P."""
    case = Case()
    exponentials = (case.s / TAU).exp()
    negatives = others(exponentials, 0.0).sum(-1)
    actual = diagonal(case.norms(contrastive))
    common = negatives * case.positive.sin() / (TAU * case.size)
    printed = common.unsqueeze(-1) / (exponentials + negatives.unsqueeze(-1))
    said = "the norm of the positive's part of the contrastive gradient"
    rows = [
        Check(
            "equation (7)",
            said,
            PRINTED,
            f"{HOW}, tau {TAU}; of all j the one that fits best",
            equal(case.best(printed, actual), actual),
        ),
        Check(
            "equation (7)",
            said,
            CORRECTED,
            f"{HOW}, tau {TAU}",
            equal(common / (diagonal(exponentials) + negatives), actual),
        ),
    ]
    for alpha in (1.0, 2.0, 3.0):
        claimed = alpha * (2 * (case.positive / 2).sin()) ** (alpha - 2) * case.positive.sin() / case.size
        found = diagonal(case.norms(lambda s, alpha=alpha: (2 - 2 * diagonal(s)) ** (alpha / 2)))
        said = f"the norm of the alignment loss's gradient, alpha = {alpha:g}"
        rows.append(Check("equation (8)", said, BOTH, HOW, equal(claimed, found)))
    claimed = case.positive.sin() / (TAU * case.size)
    said = "the norm of the positive's part of the decoupled loss's gradient"
    rows.append(Check("equation (9)", said, BOTH, HOW, equal(claimed, diagonal(case.norms(decoupled)))))
    return rows


def equation_11() -> list[Check]:
    """(11): sin theta_ii' / tau where L_dcl > 0, else 0; printed with theta_ij' and tau outside the exponent."""
    case = Case()
    actual = diagonal(case.norms(lambda s: decoupled(s, TAU_PLUS).relu()))
    scale = TAU_PLUS * case.size
    active, printed_active = (loss(case.s, TAU_PLUS) > 0 for loss in (decoupled, decoupled_printed))
    printed = case.best(case.theta.sin() / scale.unsqueeze(-1) * printed_active.unsqueeze(-1), actual)
    said = "the norm of the positive's part of the truncated decoupled loss's gradient"
    how = f"{HOW}, tau {TAU_PLUS}"
    remark = f"its condition alone: {decides(printed_active, active).detail}"
    corrected = equal(case.positive.sin() / scale * active, actual)
    return [
        Check(
            "equation (11)",
            said,
            PRINTED,
            f"{how}; of all j the one that fits best",
            equal(printed, actual).adding(remark),
        ),
        Check("equation (11)", said, CORRECTED, how, corrected.adding(f"active: {int(active.sum())}")),
    ]


def uniformity_norms() -> list[Check]:
    """(16): E_ij sin theta_ij' / (tau (P + D)); (17): of the batch's uniformity; (18): as (16) without P."""
    case = Case()
    size = case.size.unsqueeze(-1)
    sine = case.theta.sin() / size
    potential = others(2 * T * case.s).exp()
    batch = 2 * T * potential * sine / potential.sum((1, 2), keepdim=True)
    said = "the norm of one negative's part of the {}'s gradient"
    rows = []
    for number, name, claimed, loss in (
        (16, "contrastive loss", (case.s / TAU).softmax(-1) * sine / TAU, contrastive),
        (17, "uniformity loss", batch, uniformity),
        (18, "decoupled loss", others(case.s / TAU).softmax(-1) * sine / TAU, decoupled),
    ):
        outcome = equal(off_diagonal(claimed), off_diagonal(case.norms(loss)))
        rows.append(Check(f"equation ({number})", said.format(name), BOTH, HOW, outcome))

    def within(raw: Tensor) -> Tensor:
        anchors, keys = unit(raw), unit(raw)
        distances = others(-T * (2 - 2 * anchors @ keys.mT))
        return distances.flatten(1).logsumexp(1)

    s = case.within
    potential = others(2 * T * s).exp()
    weights = 2 * T * potential / potential.sum((1, 2), keepdim=True)
    claimed = tangent(weights @ case.unit1, case.unit1) / size
    said = (
        "the uniformity gradient is the sum of the parts of equation (17) when negatives are of the anchor's own view"
    )
    rows.append(
        Check(
            "equation (17)",
            said,
            BOTH,
            f"autograd of the uniformity of one view, as released, {described()}",
            equal_vectors(claimed, gradient(within, case.raw1)),
        )
    )
    return rows


def equation_19() -> list[Check]:
    """(19): (18) where L_dcl > 0, else 0; the printed condition has tau outside the exponent."""
    case = Case()
    claimed = others(case.s / TAU_PLUS).softmax(-1) * case.theta.sin() / (TAU_PLUS * case.size.unsqueeze(-1))
    actual = off_diagonal(case.norms(lambda s: decoupled(s, TAU_PLUS).relu()))
    active = decoupled(case.s, TAU_PLUS) > 0
    rows = []
    for form, loss in ((PRINTED, decoupled_printed), (CORRECTED, decoupled)):
        condition = loss(case.s, TAU_PLUS) > 0
        outcome = equal(off_diagonal(claimed * condition.unsqueeze(-1)), actual)
        rows.append(
            Check(
                "equation (19)",
                "the norm of one negative's part of the truncated decoupled loss's gradient",
                form,
                f"{HOW}, tau {TAU_PLUS}",
                outcome.adding(f"condition: {decides(condition, active).detail}"),
            )
        )
    return rows


def equation_23() -> list[Check]:
    """(23), first line: dL/dh = -(1/tau) (h_i' -+ [P h_i' + sum_j E_ij h_j'] / (P + D)) dh/draw; the minus is right."""
    case = Case()
    average = (case.s / TAU).softmax(-1) @ case.unit2
    actual = gradient(lambda raw: contrastive(unit(raw) @ case.unit2.mT), case.raw1)
    rows = []
    for form, sign in ((PRINTED, 1.0), (CORRECTED, -1.0)):
        claimed = -tangent(case.unit2 + sign * average, case.unit1) / (TAU * case.size.unsqueeze(-1))
        rows.append(
            Check(
                "equation (23)",
                "the contrastive gradient is the positive and the softmax average, combined",
                form,
                f"autograd, tau {TAU}, {described()}",
                equal_vectors(claimed, actual),
            )
        )
    return rows


CHECKS = (
    equation_1_and_6,
    equation_5,
    alignment_norms,
    equation_11,
    uniformity_norms,
    equation_19,
    equation_23,
)
