"""Li et al. 2024: gradients of the modified losses mMHE, mMHS, mB and mV, appendix E."""

from torch import Tensor

from clrepro.theory._common import BOTH, CORRECTED, PRINTED, Check, diagonal, equal_gradients, gradient, others
from clrepro.theory.li2024 import TAU
from clrepro.theory.li2024_ineffective import (
    HOW,
    MARGIN,
    hardest,
    nearest_distance,
    per_anchor,
    squares,
    views,
)

__all__ = ["CHECKS"]
RATIO = 1.25


def modified() -> list[Check]:
    """(16) to (19): d_i sum_j W_ij (h_j - r h_i') of mMHE, mMHS, mB and mV; equations (14), (15), (6), (13)."""
    h, keys = views()
    s, a, b = h @ keys.mT, h @ h.mT, keys @ keys.mT
    active = (diagonal(s) - others(s).amax(-1) < MARGIN).double()
    shares = others(a / TAU).exp()
    pairs = shares.sum((1, 2), keepdim=True) / 2
    row = shares.sum(-1)
    near, distance = hardest(h)
    gap = active.unsqueeze(-1)
    how = f"{HOW}, r {RATIO}, tau {TAU}, m {MARGIN}"

    def squared(x: Tensor) -> Tensor:
        return (x - keys).square().sum(-1)

    def mmhe(x: Tensor) -> Tensor:
        # of anchor i the uniformity of the whole batch, so that the sum over anchors has each h_i's own d_i once
        own = RATIO * row / (2 * TAU * pairs.squeeze(-1)) * squared(x)
        repel = others(-per_anchor(x, h) / (2 * TAU)).exp().sum(-1)
        fixed = others(-squares(h) / (2 * TAU)).exp()
        rest = fixed.sum((1, 2)).unsqueeze(-1) - 2 * fixed.sum(-1)
        return active * (own + (rest + 2 * repel).log())

    claimed = gap * (shares @ h - RATIO * row.unsqueeze(-1) * keys) / (TAU * pairs)
    rows = [
        Check(
            "equation (16)",
            "the gradient of the modified MHE loss, equation (14)",
            BOTH,
            how,
            equal_gradients(claimed, gradient(mmhe, h), h),
        )
    ]
    farthest = others(squares(h)).amax(-1).sqrt()
    for form, scale in ((PRINTED, farthest), (CORRECTED, distance.squeeze(-1))):

        def mmhs(x: Tensor, scale: Tensor = scale) -> Tensor:
            return active * (RATIO / (2 * scale) * squared(x) - nearest_distance(x, h))

        rows.append(
            Check(
                "equation (17)",
                "the gradient of the modified MHS loss, equation (15)",
                form,
                f"{how}, coefficient r over twice the {'max' if form == PRINTED else 'min'} distance",
                equal_gradients(gap * (near - RATIO * keys) / distance, gradient(mmhs, h), h),
            )
        )

    def surrogate(weights: Tensor, ratio: float) -> Tensor:
        def loss(x: Tensor) -> Tensor:
            positive = ratio * weights.sum(-1) * (x * keys).sum(-1)
            return active * (-positive + (weights * (x @ h.mT)).sum(-1))

        return gradient(loss, h)

    def normalised(cosines: Tensor, each: bool = False) -> Tensor:
        exponentials = others(cosines / TAU).exp()
        return exponentials / (exponentials.sum(1, keepdim=True).mT if each else exponentials.sum((1, 2), keepdim=True))

    def closed(weights: Tensor) -> Tensor:
        return gap * (weights @ h - RATIO * weights.sum(-1, keepdim=True) * keys)

    for number, name, own, printed in (
        (18, "modified Barlow Twins loss, equation (6)", b, normalised(s, True)),
        (19, "modified VICReg loss, equation (13) with weights normalised over the batch", a, normalised(a, True)),
    ):
        actual = surrogate(normalised(own), RATIO)
        for form, weights in ((PRINTED, printed), (CORRECTED, normalised(own))):
            rows.append(
                Check(
                    f"equation ({number})",
                    f"the gradient of the {name}",
                    form,
                    how,
                    equal_gradients(closed(weights), actual, h),
                )
            )
    said = "with the positive's weight equal to the sum of the negatives', the gradient has ratio r"
    for form, ratio in ((PRINTED, 1.0), (CORRECTED, RATIO)):
        rows.append(
            Check(
                "section 4, weights of mB",
                said,
                form,
                f"{how}, w_p = {'' if ratio == 1 else 'r '}sum of w_n",
                equal_gradients(closed(normalised(b)), surrogate(normalised(b), ratio), h),
            )
        )
    return rows


CHECKS = (modified,)
