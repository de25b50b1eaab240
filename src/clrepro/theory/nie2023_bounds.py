"""Nie et al. 2023: upper bounds of the contrastive loss, mixed negatives, and what the decoupled losses share."""

import math

import torch
from torch import Tensor

from clrepro.theory._common import (
    BOTH,
    CORRECTED,
    PRINTED,
    Check,
    Outcome,
    batches,
    bounded,
    described,
    diagonal,
    equal,
    generator,
    others,
    softplus,
    unit,
)
from clrepro.theory.nie2023 import TAU, T, contrastive, decoupled

__all__ = ["CHECKS"]
LOG2 = math.log(2)
MIXED = 4  # mixed negatives of an anchor


def equation_12() -> list[Check]:
    """(12): L_cl <= log 2 + L_dcl+ <= log 2 + max(-s_ii + max_j s_ij + tau log(N-1), 0) / tau."""
    unit1, unit2 = (unit(view) for view in batches(500))
    s = unit1 @ unit2.mT
    loss, plus = contrastive(s), decoupled(s).relu()
    margin = TAU * math.log(s.shape[-1] - 1)
    how = f"{described(500)}, tau {TAU}"
    rows = [
        Check(
            "equation (12), first step",
            "the truncated decoupled loss plus log 2 bounds the contrastive loss",
            BOTH,
            how,
            bounded(loss, LOG2 + plus),
        ),
        Check(
            "equation (12), first step",
            "the contrastive loss is at least the truncated decoupled loss",
            BOTH,
            how,
            bounded(plus, loss),
        ),
    ]
    for form, hardest in ((PRINTED, unit1 @ unit1.mT), (CORRECTED, s)):
        bound = LOG2 + (-diagonal(s) + others(hardest).amax(-1) + margin).relu() / TAU
        said = "the triplet loss of the dot product with margin tau log(N-1), over tau, plus log 2 bounds the {} loss"
        for name, lower in (("contrastive", loss), ("truncated decoupled", LOG2 + plus)):
            rows.append(Check("equation (12), second step", said.format(name), form, how, bounded(lower, bound)))
    return rows


def mixtures(kind: str, normalised: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, float]:
    """s_ii (A,), s_ij (A, N), mixtures' cosines (A, M), the mixed random negatives' (A, M), and lambda.

    kind: of two negatives, equation (47), or of the positive and a negative, equation (48); lambda < 1/2 as there.
    """
    view1, view2 = (unit(view) for view in batches(400, 9, 32))
    anchors, positives, negatives = view1[:, 0], view2[:, 0], view2[:, 1:]
    lam = 0.4
    first, second = (
        torch.randint(8, (400, MIXED), generator=generator(seed)).unsqueeze(-1).expand(-1, -1, 32) for seed in (1, 2)
    )
    random = negatives.gather(1, second)
    mixed = lam * (negatives.gather(1, first) if kind == "negatives" else positives.unsqueeze(1)) + (1 - lam) * random
    if normalised:
        mixed = unit(mixed)
    cosines = [torch.einsum("ad,a...d->a...", anchors, x) for x in (positives, negatives, mixed, random)]
    return *cosines, lam


def equation_49() -> list[Check]:
    """(49): L_mix = log(1 + exp(-s_ii/tau + log sum)) <= log 2 + max(-s_ii/tau + log sum, 0)."""
    rows = []
    positive, real, mixed, _, _ = mixtures("negatives", False)
    everything = torch.cat([real, mixed], 1) / TAU
    loss = torch.cat([positive.unsqueeze(1) / TAU, everything], 1).logsumexp(1) - positive / TAU
    total = everything.logsumexp(1)
    how = f"400 anchors of 32 dimensions, 8 negatives, {MIXED} mixtures, lambda 0.4, tau {TAU}, seed 0"
    for form, line in (
        (PRINTED, (1 + (-positive / TAU).exp() + total).log()),
        (CORRECTED, softplus(total - positive / TAU)),
    ):
        said = "the fourth line, with the sum inside a logarithm, equals the loss with mixed negatives"
        rows.append(Check("equation (49)", said, form, how, equal(line, loss)))
    rows.append(
        Check(
            "equation (49)",
            "the last line bounds the loss with mixed negatives",
            CORRECTED,
            how,
            bounded(loss, LOG2 + (total - positive / TAU).relu()),
        )
    )
    return rows


def equation_50() -> list[Check]:
    """(50): L_mix <= log 2 + max(-s_ii + max_j s_ij + tau log(N+M), 0) / tau, the maximum over the real negatives."""
    rows = []
    view1 = unit(batches(400, 9, 32)[0])
    within = torch.einsum("ad,ajd->aj", view1[:, 0], view1[:, 1:])
    for kind, normalised in (("negatives", False), ("negatives", True), ("positive", False)):
        positive, real, mixed, _, _ = mixtures(kind, normalised)
        chosen = torch.ones(len(real), dtype=torch.bool) if kind == "negatives" else mixed.amax(1) <= real.amax(1)
        everything = torch.cat([real, mixed], 1) / TAU
        loss = torch.cat([positive.unsqueeze(1) / TAU, everything], 1).logsumexp(1) - positive / TAU
        name = (
            "mixtures of two negatives" if kind == "negatives" else "mixtures with the positive below a real negative"
        )
        said = f"the triplet bound holds for {name}" + (", normalised" if normalised else ", not normalised")
        how = f"{int(chosen.sum())} anchors, 8 negatives, {MIXED} mixtures, lambda 0.4, tau {TAU}, seed 0"
        for form, hardest in ((PRINTED, within), (CORRECTED, real)):
            margin = TAU * math.log(everything.shape[1])
            bound = LOG2 + (-positive + hardest.amax(1) + margin).relu() / TAU
            beyond = int((mixed.amax(1) > real.amax(1) + 1e-12)[chosen].sum())
            outcome = bounded(loss[chosen], bound[chosen]).adding(f"a mixture is the hardest in {beyond} cases")
            rows.append(Check("equation (50)", said, form, how, outcome))
    # the random anchors leave room: equal hard negatives whose mixtures are normalised leave none
    said = "the step to the hardest real negative holds: no mixture of two negatives is closer than both"
    for normalised in (False, True):
        _, real, mixed, _, _ = mixtures("negatives", normalised)
        name = said + (", normalised" if normalised else ", not normalised")
        rows.append(
            Check(
                "equation (50), condition 1",
                name,
                BOTH,
                "the anchors of equation (50)",
                bounded(mixed.amax(1), real.amax(1)),
            )
        )
    said = "the triplet bound holds for mixtures of two negatives, normalised, at worst"
    rows.append(
        Check(
            "equation (50)",
            said,
            BOTH,
            f"one anchor, s_ii = 0, N = 2 orthogonal negatives at cosine 0.5, their middle as mixture, tau {TAU}",
            worst_normalised(),
        )
    )
    return rows


def worst_normalised() -> Outcome:
    """Two negatives at cosine 1/2 with the anchor and 0 with each other: their normalised middle is at sqrt(1/2)."""
    positive = torch.zeros(1, dtype=torch.float64)
    everything = torch.tensor([0.5, 0.5, math.sqrt(0.5)], dtype=torch.float64) / TAU
    loss = softplus(everything.logsumexp(0) - positive / TAU)
    return bounded(loss, LOG2 + (-positive + 0.5 + TAU * math.log(3)).relu() / TAU)


def equation_51() -> list[Check]:
    """(51): L_mix <= log 2 + c max(-s_ii + max_k s_ik + log(N+M) / c, 0), c = (1-lambda)/tau, a mixture the hardest."""
    rows = []
    view1 = unit(batches(400, 9, 32)[0])
    chosen_within = torch.randint(8, (400, MIXED), generator=generator(2)).unsqueeze(-1).expand(-1, -1, 32)
    within = torch.einsum("ad,akd->ak", view1[:, 0], view1[:, 1:].gather(1, chosen_within))
    for normalised in (False, True):
        positive, real, mixed, random, lam = mixtures("positive", normalised)
        chosen = mixed.amax(1) >= real.amax(1)
        everything = torch.cat([real, mixed], 1) / TAU
        loss = torch.cat([positive.unsqueeze(1) / TAU, everything], 1).logsumexp(1) - positive / TAU
        name = "normalised" if normalised else "not normalised"
        how = f"{int(chosen.sum())} anchors whose hardest negative is mixed with the positive, lambda {lam}, tau {TAU}"
        for form, keys in ((CORRECTED, random),) if normalised else ((PRINTED, within), (CORRECTED, random)):
            margin = TAU / (1 - lam) * math.log(everything.shape[1])
            bound = LOG2 + (1 - lam) / TAU * (-positive + keys.amax(1) + margin).relu()
            rows.append(
                Check(
                    "equation (51)",
                    f"the bound with margin tau/(1-lambda) log(N+M) holds, mixtures {name}",
                    form,
                    how,
                    bounded(loss[chosen], bound[chosen]),
                )
            )
    return rows


def appendix_d() -> list[Check]:
    """(44) and (46): Jensen's inequality twice, once; both lower bounds fall with the mean squared distance."""
    tau = TAU
    unit1, unit2 = (unit(view) for view in batches(500))
    s = unit1 @ unit2.mT
    count = s.shape[-1]
    squares = others(2 - 2 * s, 0.0).sum((1, 2)) / (count * (count - 1))
    rows_of = others(-T * (2 - 2 * s)).logsumexp(-1) - math.log(count - 1)
    whole = rows_of.logsumexp(1) - math.log(count)
    how = described(500)
    rows = [
        Check(
            "equation (44), first step",
            "the log of the batch mean is at least the mean of the anchors' logs",
            BOTH,
            f"{how}, t {T:g}",
            bounded(rows_of.mean(1), whole),
        ),
        Check(
            "equation (44), second step",
            "the mean log is at least minus t times the mean squared distance",
            BOTH,
            f"{how}, t {T:g}",
            bounded(-T * squares, rows_of.mean(1)),
        ),
    ]
    mean = others(s, 0.0).sum((1, 2)) / (count * (count - 1))
    part = (others(s / tau).logsumexp(-1) - math.log(count - 1)).mean(1)
    outside = (others(s).logsumexp(-1) - math.log(count - 1) - math.log(tau)).mean(1)
    for form, left in ((PRINTED, outside), (CORRECTED, part)):
        rows.append(
            Check(
                "equation (46), inequality",
                "the decoupled uniformity part is at least the mean cosine over tau",
                form,
                f"{how}, tau {tau}",
                bounded(mean / tau, left),
            )
        )
    for form, constant in ((PRINTED, 1 / (2 * tau * count * (count - 1))), (CORRECTED, 1 / tau)):
        claimed = -squares / (2 * tau) + constant
        remark = f"as a lower bound it is {bounded(claimed, part).verdict!r}"
        rows.append(
            Check(
                "equation (46), last line",
                "it rewrites the mean cosine over tau by squared distances",
                form,
                f"{how}, tau {tau}",
                equal(claimed, mean / tau).adding(remark),
            )
        )
    poles = torch.zeros(8, 32, dtype=torch.float64)
    poles[:4, 0], poles[4:, 0] = 1.0, -1.0
    even = torch.eye(8, 32, dtype=torch.float64)
    even = unit(even - even.mean(0))
    spread = [float(others(2 - 2 * x @ x.T, 0.0).sum() / 56) for x in (poles, even)]
    remark = (
        f"8 points on two opposite poles have mean squared distance {spread[0]:.6g}, an even simplex {spread[1]:.6g}: "
        "the common bound does not tell them apart"
    )
    rows.append(
        Check(
            "appendix D",
            "with t = 1/(2 tau) the two uniformity parts have the same lower bound but for 1/tau",
            BOTH,
            f"{how}, tau {tau}",
            equal(-squares / (2 * tau), mean / tau - 1 / tau).adding(remark),
        )
    )
    return rows


CHECKS = (equation_12, equation_49, equation_50, equation_51, appendix_d)
