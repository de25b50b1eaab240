"""Li et al. 2024, lemma 1: which ratios r bring the anchor closer to its positive, in a step lambda (r h_i' - h_j').

On the tangent plane at the anchor, as in the paper's proof, the positive is p with ||p|| = sin theta_ii', the negative
n with ||n|| = sin theta_ij' at the dihedral angle a from p, and the anchor moves from 0 to lambda (r p - n). Closer
means ||lambda (r p - n) - p|| < ||p||, a quadratic in r: it lies between 1/lambda + q cos a -+ root,
root = sqrt(1/lambda^2 - q^2 sin^2 a), q = sin theta_ij' / sin theta_ii'; without a real root no r does it.
"""

import math

import torch
from torch import Tensor

from clrepro.theory._common import BOTH, CORRECTED, PRINTED, Check, Outcome, bounded, decides, generator, unit

__all__ = ["CHECKS"]
CASES = 20000


def triples(width: int = 3, cases: int = CASES) -> tuple[Tensor, Tensor, Tensor]:
    """Unit anchors, positives nearer than a right angle and negatives further than these, (cases, width)."""
    source = generator()

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=source, dtype=torch.float64)

    anchor = unit(normal(cases, width))
    low, high = torch.rand(2, cases, 1, generator=source, dtype=torch.float64).sort(0).values * math.pi / 2

    def at(angle: Tensor) -> Tensor:
        side = normal(cases, width)
        side = unit(side - (side * anchor).sum(1, keepdim=True) * anchor)
        return angle.cos() * anchor + angle.sin() * side

    return anchor, at(low), at(high)


class Plane:
    """The triples projected on the tangent plane at the anchor."""

    def __init__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
        self.p = positive - (positive * anchor).sum(1, keepdim=True) * anchor
        self.n = negative - (negative * anchor).sum(1, keepdim=True) * anchor
        quotient = self.n.norm(dim=1) / self.p.norm(dim=1)
        cosine = (self.p * self.n).sum(1) / (self.p.norm(dim=1) * self.n.norm(dim=1))
        self.along, self.across = quotient * cosine, quotient.square() * (1 - cosine.square())

    def bounds(self, step: Tensor | float) -> tuple[Tensor, Tensor]:
        """Lower and upper bound of r; NaN where the root is not real."""
        root = ((1 / step) ** 2 - self.across).sqrt()
        return 1 / step + self.along - root, 1 / step + self.along + root

    def closer(self, step: Tensor | float, ratio: Tensor | float) -> Tensor:
        step, ratio = (torch.as_tensor(x, dtype=torch.float64).reshape(-1, 1) for x in (step, ratio))
        moved = step * (ratio * self.p - self.n)
        return (moved - self.p).norm(dim=1) < self.p.norm(dim=1)


def draws() -> tuple[Tensor, Tensor]:
    """Step sizes, log-uniform in 0.01 to 2, and ratios, uniform in 0 to 3."""
    u, v = torch.rand(2, CASES, generator=generator(1), dtype=torch.float64)
    return 0.01 * 200**u, 3 * v


TRIPLES = f"{CASES} random triples in 3 dimensions, positive nearer than negative, both within a right angle, seed 0"
HOW = f"{TRIPLES}, lambda log-uniform in 0.01 to 2, r uniform in 0 to 3"


def lemma_1() -> list[Check]:
    """The lower bound is necessary; sufficient only with the upper one."""
    plane, (step, ratio) = Plane(*triples()), draws()
    closer = plane.closer(step, ratio)
    lower, upper = plane.bounds(step)
    above = ratio > lower  # NaN: false
    real = lower.isfinite()
    none = closer[~real].sum()
    rows = [
        Check(
            "lemma 1",
            "every step that brings the anchor closer satisfies the lower bound on r",
            BOTH,
            HOW,
            decides(above | ~closer, torch.ones_like(closer)).adding(
                f"no real bound in {int((~real).sum())} cases, {int(none)} of them closer"
            ),
        ),
        Check(
            "lemma 1", "every r above the lower bound brings the anchor closer", PRINTED, HOW, decides(above, closer)
        ),
        Check(
            "lemma 1",
            "every r between the lower and the upper bound, and no other, brings the anchor closer",
            CORRECTED,
            HOW,
            decides(above & (ratio < upper), closer),
        ),
    ]
    for size in (0.01, 0.1, 1.0):
        low, high = plane.bounds(size)
        held = plane.closer(size, ratio)
        real = high.isfinite()
        middle = float(high[real].median())
        remark = f"real bounds in {int(real.sum())} cases, the median of the upper one {middle:.4g}"
        rows.append(
            Check(
                "lemma 1",
                f"every r in 0 to 3 above the lower bound brings the anchor closer, lambda = {size:g}",
                BOTH,
                HOW,
                decides(ratio > low, held).adding(remark),
            )
        )
    limit = plane.bounds(1e-4)[0]
    remark = "the bound falls to q cos(alpha) with lambda"
    gap = (limit - plane.along).abs() / (1 + plane.across)
    rows.append(
        Check(
            "lemma 1",
            "for small steps the bound is the first-order condition r sin(theta_ii') > sin(theta_ij') cos(alpha)",
            BOTH,
            "lambda 1e-4, difference of the two bounds over 1 + q^2 sin^2 alpha at most lambda",
            bounded(gap, torch.full_like(gap, 1e-4)).adding(remark),
        )
    )
    return rows


def on_the_sphere() -> list[Check]:
    """The same for the true step: h_i + lambda (r h_i' - h_j') normalised, and its angle to h_i'."""
    anchor, positive, negative = triples()
    plane, ratio = Plane(anchor, positive, negative), draws()[1]
    rows = []
    for size in (0.01, 0.1, 0.5, 1.0):
        moved = unit(anchor + size * (ratio.unsqueeze(1) * positive - negative))
        closer = (moved * positive).sum(1) > (anchor * positive).sum(1)
        lower, upper = plane.bounds(size)
        inside = (ratio > lower) & (ratio < upper)
        remark = (
            f"the lower bound alone errs in {int(((ratio > lower) != closer).sum())}, "
            f"r > q cos(alpha) in {int(((ratio > plane.along) != closer).sum())}"
        )
        rows.append(
            Check(
                "lemma 1",
                f"the two-sided bound decides a true step on the sphere, lambda = {size:g}",
                BOTH,
                f"{TRIPLES}, r uniform in 0 to 3",
                decides(inside, closer).adding(remark),
            )
        )
    return rows


def larger_ratio() -> list[Check]:
    """How often a step brings the anchor closer, as r grows: by the lower bound, on the plane, on the sphere."""
    anchor, positive, negative = triples()
    plane = Plane(anchor, positive, negative)
    grid = torch.tensor([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0], dtype=torch.float64)
    rows = []
    for size in (0.1, 0.5, 1.0):
        lower, _ = plane.bounds(size)
        met = torch.stack([(r > lower).double().mean() for r in grid])
        flat = torch.stack([plane.closer(size, r).double().mean() for r in grid])
        moved = [unit(anchor + size * (r * positive - negative)) for r in grid]
        true = torch.stack([((x * positive).sum(1) > (anchor * positive).sum(1)).double().mean() for x in moved])
        for said, shares in (
            ("a larger ratio meets the lemma's lower bound more often", met),
            ("a larger ratio brings the anchor closer more often, on the tangent plane of the proof", flat),
            ("a larger ratio brings the anchor closer more often, by a true step on the sphere", true),
        ):
            steps = shares.diff()
            listed = ", ".join(f"{r:g}: {x:.3f}" for r, x in zip(grid.tolist(), shares.tolist(), strict=True))
            outcome = Outcome(bounded(-steps, torch.zeros_like(steps)).verdict, f"share at r {listed}")
            rows.append(Check("section 3.1.3", f"{said}, lambda = {size:g}", BOTH, f"{TRIPLES}, ten ratios", outcome))
    return rows


CHECKS = (lemma_1, on_the_sphere, larger_ratio)
