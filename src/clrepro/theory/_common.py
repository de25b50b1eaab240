"""What the checks share: verdicts computed from numbers, random batches, and gradients split by what causes them.

Everything is float64. A tolerance is relative to the larger of the two sides of a comparison, or to FLOOR times the
largest side of all cases, so that sums which cancel are not compared by their rounding errors.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

HOLDS, FACTOR, TANGENT, FAILS = "holds", "holds up to a factor", "holds on the tangent plane", "fails"
VERDICTS = (HOLDS, FACTOR, TANGENT, FAILS)
PRINTED, CORRECTED, BOTH = "printed", "corrected", ""

TOLERANCE = 1e-9
FLOOR = 1e-6


class Outcome(NamedTuple):
    """A verdict and the numbers that led to it."""

    verdict: str
    detail: str

    def adding(self, remark: str) -> "Outcome":
        return Outcome(self.verdict, f"{self.detail}; {remark}")


class Check(NamedTuple):
    """One row of the frame, but for its paper: a statement, how it was tested, what came out."""

    where: str
    statement: str
    form: str
    checked: str
    outcome: Outcome


def below(error: float) -> str:
    """A rounding error as the power of ten above it: its digits differ between machines."""
    return f"below 1e{math.ceil(math.log10(max(error, 1e-16))):d}" if error < TOLERANCE else f"{error:.3g}"


def share(count: int | Tensor, total: int) -> str:
    return f"{int(count)} of {total}"


def _errors(claimed: Tensor, actual: Tensor) -> tuple[Tensor, Tensor]:
    """Relative errors and sizes of (cases, width) vectors."""
    size = torch.maximum(claimed.norm(dim=1), actual.norm(dim=1))
    return (claimed - actual).norm(dim=1) / size.clamp(min=max(FLOOR * float(size.max()), 1e-300)), size


def equal_vectors(claimed: Tensor, actual: Tensor, tolerance: float = TOLERANCE) -> Outcome:
    """Whether vectors, (..., width), agree in every case, or are proportional with one factor for all cases."""
    claimed, actual = (x.detach().double().reshape(-1, x.shape[-1]) for x in (claimed, actual))
    errors, size = _errors(claimed, actual)
    cases, worst = len(errors), int(errors.argmax())
    if float(errors[worst]) <= tolerance:
        return Outcome(HOLDS, f"largest relative error of {cases} cases {below(float(errors[worst]))}")
    wrong = int((~(errors <= tolerance)).sum())  # NaN is wrong
    if not errors.isfinite().all():
        return Outcome(
            FAILS, f"wrong in {share(wrong, cases)} cases; not a number in {int((~errors.isfinite()).sum())}"
        )
    solid = size > FLOOR * size.max()
    sizes = actual.norm(dim=1)[solid]
    varied = float(sizes.max()) > (1 + 1e-6) * float(sizes.min())  # one number is proportional to any other
    factors = (claimed * actual).sum(1)[solid] / (actual * actual).sum(1)[solid]
    factor = float(factors.median())
    rest, _ = _errors(claimed, factor * actual)
    if varied and math.isfinite(factor) and abs(factor) > tolerance and float(rest.max()) <= tolerance:
        return Outcome(FACTOR, f"claimed = {factor:.6g} x actual in all {cases} cases")
    left, right = claimed[worst], actual[worst]
    if len(left) == 1:
        example = f"claimed {float(left):.6g}, actual {float(right):.6g}"
    else:
        cosine = float(left @ right / (left.norm() * right.norm()).clamp(min=1e-300))
        example = f"norms {float(left.norm()):.6g} claimed, {float(right.norm()):.6g} actual, cosine {cosine:.4f}"
    return Outcome(FAILS, f"wrong in {share(wrong, cases)} cases; worst: {example}")


def equal(claimed: Tensor, actual: Tensor, tolerance: float = TOLERANCE) -> Outcome:
    """Whether numbers agree in every case, or up to one factor for all cases."""
    claimed, actual = torch.broadcast_tensors(claimed, actual)
    return equal_vectors(claimed.reshape(-1, 1), actual.reshape(-1, 1), tolerance)


def equal_gradients(claimed: Tensor, actual: Tensor, unit: Tensor, tolerance: float = TOLERANCE) -> Outcome:
    """As equal_vectors for gradients at unit vectors; where whole vectors differ, their tangent parts are compared."""
    whole = equal_vectors(claimed, actual, tolerance)
    if whole.verdict == HOLDS:
        return whole
    part = equal_vectors(tangent(claimed, unit), tangent(actual, unit), tolerance)
    if part.verdict == HOLDS:
        return Outcome(TANGENT, f"tangent parts: {part.detail}; whole vectors: {whole.detail}")
    return part


def bounded(lower: Tensor, upper: Tensor, tolerance: float = TOLERANCE) -> Outcome:
    """Whether lower <= upper in every case, but for rounding."""
    slack = (upper - lower).detach().flatten()
    scale = torch.maximum(upper.abs(), lower.abs()).detach().max().clamp(min=1)
    wrong = int((~(slack >= -tolerance * scale)).sum())  # NaN violates
    worst = int(slack.argmin())
    text = f"violated in {share(wrong, len(slack))} cases, smallest slack {rounded(float(slack[worst]))}"
    if wrong:
        left, right = (x.detach().flatten()[worst] for x in torch.broadcast_tensors(lower, upper))
        return Outcome(FAILS, f"{text} ({float(left):.6g} against the bound {float(right):.6g})")
    return Outcome(HOLDS, f"{text}, largest {rounded(float(slack.max()))}")


def decides(claimed: Tensor, actual: Tensor) -> Outcome:
    """Whether a condition is true exactly where it is said to be."""
    claimed, actual = claimed.flatten(), actual.flatten()
    missed, extra = int((actual & ~claimed).sum()), int((claimed & ~actual).sum())
    text = f"true in {share(actual.sum(), len(actual))} cases; missed in {missed}, wrongly claimed in {extra}"
    return Outcome(FAILS if missed + extra else HOLDS, text)


def rounded(value: float) -> str:
    return "0 but for rounding" if abs(value) < 1e-12 else f"{value:.4g}"


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x), exact where torch's own turns linear; -log P of a softmax so written keeps small gradients."""
    return torch.logaddexp(x, torch.zeros_like(x))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def batches(count: int = 200, rows: int = 8, width: int = 32, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Raw views, (count, rows, width) each.

    A batch has its own direction common to all rows and its own noise between the views, so that the positives range
    from unrelated to close and the negatives from orthogonal to close; angles of nearly 0 are left out, as arccos
    loses half of the digits there.
    """
    source = generator(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=source, dtype=torch.float64)

    spread = torch.rand(2, count, 1, 1, generator=source, dtype=torch.float64)
    view1 = normal(count, rows, width) + 2 * spread[0] * normal(count, 1, width)
    return view1, view1 + (0.1 + 2 * spread[1] ** 2) * normal(count, rows, width)


def described(count: int = 200, rows: int = 8, width: int = 32, seed: int = 0) -> str:
    return f"{count} random batches of {rows} x {width}, seed {seed}"


def unit(raw: Tensor) -> Tensor:
    return raw / raw.norm(dim=-1, keepdim=True)


def tangent(vectors: Tensor, at: Tensor) -> Tensor:
    """The part of vectors orthogonal to the unit vectors `at`; shapes (..., width)."""
    return vectors - (vectors * at).sum(-1, keepdim=True) * at


def diagonal(matrix: Tensor) -> Tensor:
    """s_ii of (..., N, N)."""
    return matrix.diagonal(dim1=-2, dim2=-1)


def others(matrix: Tensor, fill: float = -math.inf) -> Tensor:
    """(..., N, N) with the diagonal replaced, for sums and extrema over j != i."""
    return matrix.masked_fill(torch.eye(matrix.shape[-1], dtype=torch.bool), fill)


def off_diagonal(matrix: Tensor) -> Tensor:
    """The entries j != i of (..., N, N), flat."""
    return matrix[~torch.eye(matrix.shape[-1], dtype=torch.bool).expand_as(matrix)]


def gradient(loss: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """Autograd's gradient of the sum of loss(x) at x = at."""
    leaf = at.detach().clone().requires_grad_()
    return torch.autograd.grad(loss(leaf).sum(), leaf)[0]


def parts(loss: Callable[[Tensor], Tensor], view1: Tensor, view2: Tensor) -> Tensor:
    """The gradient at raw anchors, split by the key that causes it: (batches, N anchors, N keys, width).

    loss takes cosines (batches, N, N). Every cosine gets a copy of its anchor as a leaf of its own, so that autograd
    alone says what comes from the positive (the diagonal) and what from one negative.
    """
    copies = view1.unsqueeze(2).expand(-1, -1, view1.shape[1], -1)
    return gradient(lambda leaf: loss((unit(leaf) * unit(view2).unsqueeze(1)).sum(-1)), copies)
