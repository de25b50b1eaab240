"""OAR 2024: theorem 3.1, whether equal embeddings, or embeddings on one line, are local minima of InfoNCE.

Rows i and i + N of z, (2N, D), are a pair j(i). L = sum_i [-s_ij(i) / tau + log sum_{a != i} exp(s_ia / tau)] of the
normalised rows, so that its Hessian by the raw rows at unit length is, at a stationary point, that on the sphere, with
a zero for each row's own direction. A negative eigenvalue is a direction along which the loss falls.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from clrepro.theory._common import (
    CORRECTED,
    FAILS,
    HOLDS,
    PRINTED,
    Check,
    Outcome,
    bounded,
    generator,
    gradient,
    others,
    rounded,
    unit,
)

PAIRS, WIDTH = 4, 4
TEMPERATURES = (0.05, 0.1, 0.5, 1.0, 5.0)
Loss = Callable[[Tensor], Tensor]


def partner(count: int) -> Tensor:
    """j(i) of `count` rows."""
    return torch.arange(count).roll(count // 2)


def infonce(z: Tensor, tau: float) -> Tensor:
    """Equation (1), a sum over all rows; z (..., 2N, D), one number per configuration."""
    return free(unit(z), tau)


def free(z: Tensor, tau: float) -> Tensor:
    """The same of rows left as they are, for the gradients of appendix A."""
    s = others(z @ z.mT / tau)
    count = s.shape[-1]
    return (s.logsumexp(-1) - s[..., torch.arange(count), partner(count)]).sum(-1)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def point(pairs: int = PAIRS, width: int = WIDTH) -> Tensor:
    """One configuration of 2 pairs equal rows, (1, 2 pairs, width)."""
    return unit(normal(1, 1, width)).expand(1, 2 * pairs, width).contiguous()


def lines(pairs: int = PAIRS, width: int = WIDTH) -> Tensor:
    """Every sign pattern but the constant one, up to the overall sign: (2^(2 pairs - 1) - 1, 2 pairs, width)."""
    signs = torch.tensor([(1.0, *rest) for rest in product((1.0, -1.0), repeat=2 * pairs - 1)][1:], dtype=torch.float64)
    return signs.unsqueeze(-1) * unit(normal(1, 1, width))


def slopes(loss: Loss, configurations: Tensor) -> Tensor:
    """Gradient norms, (configurations,)."""
    return gradient(loss, configurations).flatten(1).norm(dim=1)


def curvatures(loss: Loss, configurations: Tensor) -> tuple[Tensor, Tensor]:
    """Smallest eigenvalue of the Hessian and its direction, of each configuration."""
    leaf = configurations.clone().requires_grad_()
    slope = torch.autograd.grad(loss(leaf).sum(), leaf, create_graph=True)[0].flatten(1)
    columns = [torch.autograd.grad(column.sum(), leaf, retain_graph=True)[0].flatten(1) for column in slope.unbind(1)]
    hessians = torch.stack(columns, 1)
    values, vectors = torch.linalg.eigh((hessians + hessians.mT) / 2)
    return values[:, 0], vectors[:, :, 0].reshape(configurations.shape)


def stationary(loss: Loss, configurations: Tensor, tolerance: float = 1e-9) -> Outcome:
    """Whether the gradient is zero in all configurations, against its size 1e-2 away from them."""
    near = slopes(loss, configurations + 1e-2 * normal(*configurations.shape, seed=1))
    sizes = slopes(loss, configurations)
    moving = int((~(sizes <= tolerance * near.max())).sum())
    zero = len(sizes) - moving
    largest = f"largest {float(sizes.max()):.3g}, " if moving else ""
    text = f"gradient zero in {zero} of {len(sizes)}, {largest}{float(near.max()):.3g} nearby"
    return Outcome(FAILS if moving else HOLDS, text)


def minimum(loss: Loss, configurations: Tensor, every: bool = True) -> Outcome:
    """Whether no direction lowers the loss: no negative eigenvalue, and no lower value at random steps.

    With `every` all configurations must be minima, else one of them is enough.
    """
    lowest, direction = curvatures(loss, configurations)
    scale = lowest.abs().max().clamp(min=1e-3)
    candidates = lowest >= -1e-7 * scale
    good, start = candidates.clone(), loss(configurations)
    for index in candidates.nonzero().flatten().tolist():
        steps = normal(200, *configurations.shape[1:], seed=2)
        steps = steps * torch.logspace(-3, 0, 200, dtype=torch.float64).view(-1, 1, 1)
        lower = loss(configurations[index] + steps) < start[index] - 1e-9 * start[index].abs().clamp(min=1)
        good[index] = not lower.any()
    worst = int(lowest.argmin())
    step = 0.1 * direction[worst]
    fall = min(float(loss(configurations[worst] + sign * step)) for sign in (1, -1)) - float(start[worst])
    ends = dict.fromkeys(rounded(float(x)) for x in (lowest.min(), lowest.max()))
    text = (
        f"minima {int(good.sum())} of {len(good)}, smallest eigenvalue {' to '.join(ends)}, "
        f"a step of 0.1 along the lowest changes the loss by {fall:.3g}"
    )
    return Outcome(HOLDS if (good.all() if every else good.any()) else FAILS, text)


def over(outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome for all temperatures: it must hold at each."""
    text = "; ".join(f"tau {tau:g}: {outcome.detail}" for tau, outcome in zip(TEMPERATURES, outcomes, strict=True))
    return Outcome(HOLDS if all(outcome.verdict == HOLDS for outcome in outcomes) else FAILS, text)


def at_temperatures(test: Callable[..., Outcome], loss: Callable[[Tensor, float], Tensor], *rest: Any) -> Outcome:
    return over([test(lambda z, tau=tau: loss(z, tau), *rest) for tau in TEMPERATURES])


HOW = f"{2 * PAIRS} rows, {PAIRS} pairs, {WIDTH} dimensions"
EIGEN = "Hessian by autograd; 200 random steps where no eigenvalue is negative"


def theorem_3_1_point() -> list[Check]:
    """All rows equal: stationary, and lower where each pair moves together in a direction of its own."""
    z = point()
    directions = normal(PAIRS, WIDTH, seed=3)
    together = torch.cat([directions, directions])
    start, moved = (
        torch.tensor([float(infonce(x, tau)) for tau in TEMPERATURES]) for x in (z[0], z[0] + 0.1 * together)
    )
    return [
        Check(
            "theorem 3.1",
            "equal embeddings are a stationary point of InfoNCE",
            CORRECTED,
            HOW,
            at_temperatures(stationary, infonce, z),
        ),
        Check(
            "theorem 3.1",
            "equal embeddings are a local minimum of InfoNCE",
            PRINTED,
            f"{HOW}; {EIGEN}",
            at_temperatures(minimum, infonce, z),
        ),
        Check(
            "theorem 3.1",
            "from equal embeddings the loss falls when each pair moves as one, at every temperature",
            CORRECTED,
            f"{HOW}; 0.1 times random normal directions",
            bounded(moved, start, 0.0),
        ),
    ]


def theorem_3_1_line() -> list[Check]:
    """All rows on one line, every sign pattern: stationary; minima for two opposite pairs only."""
    z = lines()
    rows = [
        Check(
            "theorem 3.1",
            "embeddings on one line are a stationary point of InfoNCE, whatever their signs",
            CORRECTED,
            f"{HOW}; {len(z)} sign patterns",
            at_temperatures(stationary, infonce, z),
        ),
        Check(
            "theorem 3.1",
            "embeddings on one line are a local minimum of InfoNCE, whatever their signs",
            PRINTED,
            f"{HOW}; {len(z)} sign patterns; {EIGEN}",
            at_temperatures(minimum, infonce, z),
        ),
    ]
    for pairs in (2, 3, 4):
        z = lines(pairs)
        rows.append(
            Check(
                "theorem 3.1",
                f"there is a sign pattern of {pairs} pairs on one line that is a local minimum of InfoNCE",
                PRINTED,
                f"{len(z)} sign patterns in {WIDTH} dimensions; {EIGEN}",
                at_temperatures(minimum, infonce, z, False),
            )
        )
    agree = z[(z[:, :PAIRS] == z[:, PAIRS:]).all((1, 2))]
    side = (agree[:, :PAIRS] * agree[:, :1]).sum(2).round()  # 1 where a pair is on the first pair's side
    larger = torch.where(side.sum(1, keepdim=True) >= 0, side, -side) > 0
    across = torch.linalg.qr(torch.cat([agree[0, :1], normal(WIDTH - 1, WIDTH, seed=3)]).T).Q[:, 1]
    push = torch.zeros(len(agree), PAIRS, dtype=torch.float64)
    for row, members in zip(push, larger, strict=True):
        first, second = members.nonzero().flatten()[:2].tolist()
        row[first], row[second] = 0.1, -0.1
    moved = agree + torch.cat([push, push], 1).unsqueeze(2) * across
    said = "from a line with agreeing pairs the loss falls when two pairs of the larger side move apart, each as one"
    changes = torch.stack([infonce(moved, tau) - infonce(agree, tau) for tau in TEMPERATURES])
    how = f"{HOW}; {len(agree)} sign patterns, 0.1 to either side across the line, tau {TEMPERATURES}"
    rows.append(Check("theorem 3.1", said, CORRECTED, how, bounded(changes, torch.zeros_like(changes), 0.0)))
    return rows


CHECKS = (
    theorem_3_1_point,
    theorem_3_1_line,
)
