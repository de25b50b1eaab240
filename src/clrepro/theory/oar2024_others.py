"""OAR 2024, section 3.1: do equal embeddings, or embeddings on a line, trap the other losses as well?

Each loss as its own paper defines it: DCL on normalised rows, with the negatives of both views; Barlow Twins on raw
rows, every dimension standardised over the batch; VICReg on raw rows, centred, with its 1e-4 inside the root. Rows i
and i + N are the two views of example i.
"""

import torch
from torch import Tensor

from clrepro.theory._common import (
    CORRECTED,
    PRINTED,
    Check,
    diagonal,
    gradient,
    others,
    unit,
)
from clrepro.theory.oar2024 import (
    EIGEN,
    HOW,
    PAIRS,
    WIDTH,
    at_temperatures,
    lines,
    minimum,
    normal,
    partner,
    point,
    stationary,
)

__all__ = ["CHECKS"]
LAM = 0.0051
WIDE = 8  # dimensions of the balanced lines of VICReg


def dcl(z: Tensor, tau: float) -> Tensor:
    """sum_i [-s_ij(i) / tau + log sum_{a not i, j(i)} exp(s_ia / tau)]."""
    s = unit(z) @ unit(z).mT / tau
    count = s.shape[-1]
    positives = s[..., torch.arange(count), partner(count)]
    same = torch.nn.functional.one_hot(partner(count), count).bool()
    return (others(s).masked_fill(same, -torch.inf).logsumexp(-1) - positives).sum(-1)


def split(z: Tensor) -> tuple[Tensor, Tensor]:
    """The two views."""
    return z.tensor_split(2, dim=-2)


def off(matrix: Tensor) -> Tensor:
    """Sum of the squared entries beside the diagonal."""
    return matrix.square().sum((-2, -1)) - diagonal(matrix).square().sum(-1)


def barlow_twins(z: Tensor, eps: float = 0.0) -> Tensor:
    """sum_k (1 - C_kk)^2 + lambda sum_{k != l} C_kl^2, C the cross-correlation of standardised dimensions."""
    one, two = ((x - x.mean(-2, keepdim=True)) / (x.var(-2, correction=0, keepdim=True) + eps).sqrt() for x in split(z))
    c = one.mT @ two / one.shape[-2]
    return (1 - diagonal(c)).square().sum(-1) + LAM * off(c)


def barlow_twins_unit(z: Tensor) -> Tensor:
    """The same of C = sum_i h_i h_i'^T / N of normalised rows, neither centred nor standardised, as in li2024."""
    one, two = split(unit(z))
    c = one.mT @ two / one.shape[-2]
    return (1 - diagonal(c)).square().sum(-1) + LAM * off(c)


def vicreg(z: Tensor, eps: float = 1e-4) -> Tensor:
    """25 mean (x - x')^2 + 12.5 [V(x) + V(x')] + S(x) + S(x'); V = mean relu(1 - std), S = off-diagonal cov^2 / D."""
    one, two = split(z)
    loss = 25 * (one - two).square().mean((-2, -1))
    for x in (one, two):
        centred = x - x.mean(-2, keepdim=True)
        c = centred.mT @ centred / (x.shape[-2] - 1)
        loss = loss + 12.5 * (1 - (diagonal(c) + eps).sqrt()).relu().mean(-1) + off(c) / x.shape[-1]
    return loss


def paired(width: int = WIDTH, equal_sizes: bool = False) -> Tensor:
    """Lines whose pairs agree in sign and which have both signs: (2^(N-1) - 1, 2N, width)."""
    signs = lines(PAIRS, 1).sign()
    signs = signs[(signs[:, :PAIRS] == signs[:, PAIRS:]).all((1, 2))]
    direction = unit(normal(1, 1, width, seed=6))
    return signs * (direction.sign() / width**0.5 if equal_sizes else direction)


def unpaired() -> Tensor:
    """Lines with both signs in either view whose pairs neither all agree nor all disagree: some correlation below 1."""
    signs = lines(PAIRS, 1).sign().squeeze(-1)
    one, two = signs[:, :PAIRS], signs[:, PAIRS:]
    both = (one.sum(1).abs() < PAIRS) & (two.sum(1).abs() < PAIRS)
    mixed = ~((one == two).all(1) | (one == -two).all(1))
    return signs[both & mixed].unsqueeze(-1) * unit(normal(1, 1, WIDTH, seed=6))


def decoupled() -> list[Check]:
    """DCL: as InfoNCE, stationary and no minimum."""
    z = lines()
    rows = []
    for name, states in (("equal embeddings", point()), ("embeddings on one line, whatever their signs,", z)):
        how = f"{HOW}; {len(states)} sign patterns"
        rows += [
            Check(
                "section 3.1, DCL",
                f"{name} are a stationary point of DCL",
                CORRECTED,
                how,
                at_temperatures(stationary, dcl, states),
            ),
            Check(
                "section 3.1, DCL",
                f"{name} are a local minimum of DCL",
                PRINTED,
                f"{how}; {EIGEN}",
                at_temperatures(minimum, dcl, states),
            ),
        ]
    for pairs in (2, 3):
        states = lines(pairs)
        rows.append(
            Check(
                "section 3.1, DCL",
                f"there is a sign pattern of {pairs} pairs on one line that is a local minimum of DCL",
                PRINTED,
                f"{len(states)} sign patterns in {WIDTH} dimensions; {EIGEN}",
                at_temperatures(minimum, dcl, states, False),
            )
        )
    return rows


def limits(loss, z: Tensor) -> str:
    """Values 1e-6 away from z in two directions: both views of an example together, and all rows apart."""
    apart = normal(*z.shape, seed=7)
    together = torch.cat([split(apart)[0]] * 2, -2)
    values = [float(loss(z + 1e-6 * step)) for step in (together, apart)]
    return f"1e-6 away the loss is {values[0]:.4g} with pairs moved as one, {values[1]:.4g} with all rows moved apart"


def twins() -> list[Check]:
    """Barlow Twins: undefined at a point; on a line with agreeing pairs all correlations are 1 or -1."""
    where, z = "section 3.1, Barlow Twins", point()
    agree, mixed = paired(), unpaired()
    opposite = torch.cat([split(agree)[0], -split(agree)[0]], -2)
    against = f"{HOW}; {len(opposite)} sign patterns, every pair of opposite sign, both signs occur"
    both = f"{HOW}; {len(agree)} sign patterns, pairs agree, both signs occur"
    rest = f"{HOW}; {len(mixed)} sign patterns, pairs neither all agree nor all disagree"
    small = f"{HOW}; 1e-5 added to the variances, as batch normalisation does"
    unit_rows = f"{HOW}; rows normalised, dimensions not standardised, as in li2024"

    def softened(z: Tensor) -> Tensor:
        return barlow_twins(z, 1e-5)

    return [
        Check(
            where,
            "equal embeddings are a stationary point of Barlow Twins",
            PRINTED,
            f"{HOW}; variances are 0",
            stationary(barlow_twins, z).adding(limits(barlow_twins, z)),
        ),
        Check(
            where,
            "equal embeddings are a stationary point of Barlow Twins with softened variances",
            PRINTED,
            small,
            stationary(softened, z).adding(limits(softened, z)),
        ),
        Check(
            where,
            "equal embeddings are a local minimum of Barlow Twins with softened variances",
            PRINTED,
            f"{small}; {EIGEN}",
            minimum(softened, z),
        ),
        Check(
            where,
            "embeddings on one line with agreeing pairs are a stationary point of Barlow Twins",
            PRINTED,
            both,
            stationary(barlow_twins, agree),
        ),
        Check(
            where,
            "embeddings on one line with agreeing pairs are a local minimum of Barlow Twins",
            PRINTED,
            f"{both}; {EIGEN}",
            minimum(barlow_twins, agree),
        ),
        Check(
            where,
            "embeddings on one line with some disagreeing pairs are a stationary point of Barlow Twins",
            PRINTED,
            rest,
            stationary(barlow_twins, mixed),
        ),
        Check(
            where,
            "embeddings on one line with opposite views are a stationary point of Barlow Twins",
            PRINTED,
            against,
            stationary(barlow_twins, opposite),
        ),
        Check(
            where,
            "embeddings on one line with opposite views are a local minimum of Barlow Twins",
            PRINTED,
            f"{against}; {EIGEN}",
            minimum(barlow_twins, opposite),
        ),
        Check(
            where,
            "equal embeddings are a stationary point of Barlow Twins on normalised rows",
            PRINTED,
            unit_rows,
            stationary(barlow_twins_unit, z),
        ),
        Check(
            where,
            "embeddings on one line with agreeing pairs are a stationary point of Barlow Twins on normalised rows",
            PRINTED,
            unit_rows,
            stationary(barlow_twins_unit, agree).adding(
                f"entries equal in size: {stationary(barlow_twins_unit, paired(WIDTH, True)).detail}"
            ),
        ),
    ]


def balanced() -> Tensor:
    """Lines of equal entries in size, scaled so that the hinge's push outwards meets the covariances' pull inwards."""
    states = paired(WIDE, True)
    low, high = (torch.full((len(states), 1, 1), x, dtype=torch.float64) for x in (0.1, 10.0))
    for _ in range(80):
        middle = (low + high) / 2
        outward = gradient(lambda scale: vicreg(scale * states), middle) < 0
        low, high = torch.where(outward, middle, low), torch.where(outward, high, middle)
    return low * states


def variance() -> list[Check]:
    """VICReg: stationary at a point only thanks to the 1e-4; on a line only where its forces balance."""
    where, z = "section 3.1, VICReg", point()
    agree, special = paired(), balanced()
    line = f"{HOW}; {len(agree)} sign patterns, pairs agree, both signs occur"
    deviation = split(special)[0].std(-2)
    even = (
        f"{2 * PAIRS} rows, {WIDE} dimensions, entries equal in size, scale by bisection, {len(special)} sign patterns"
    )
    steps = torch.tensor([1e-3, 1e-6], dtype=torch.float64)
    apart = normal(PAIRS, WIDTH, seed=7)
    together = torch.cat([apart, apart])
    falls = [(float(vicreg(z + step * together, 0.0)) - float(vicreg(z, 0.0))) / float(step) for step in steps]
    values = f"slopes {falls[0]:.4g} and {falls[1]:.4g} at steps 1e-3 and 1e-6 with pairs moved as one"
    return [
        Check(where, "equal embeddings are a stationary point of VICReg", PRINTED, HOW, stationary(vicreg, z)),
        Check(where, "equal embeddings are a local minimum of VICReg", PRINTED, f"{HOW}; {EIGEN}", minimum(vicreg, z)),
        Check(
            where,
            "equal embeddings are a stationary point of VICReg without the 1e-4 in its root",
            PRINTED,
            HOW,
            stationary(lambda x: vicreg(x, 0.0), z).adding(values),
        ),
        Check(
            where,
            "embeddings on one line with agreeing pairs are a stationary point of VICReg",
            PRINTED,
            line,
            stationary(vicreg, agree),
        ),
        Check(
            where,
            "embeddings on one line with agreeing pairs are a stationary point of VICReg at one scale, if their "
            "entries are equal in size",
            CORRECTED,
            even,
            stationary(vicreg, special).adding(
                f"standard deviations {float(deviation.min()):.4g} to {float(deviation.max()):.4g} in every dimension"
            ),
        ),
        Check(
            where,
            "embeddings on that line at that scale are a local minimum of VICReg",
            PRINTED,
            f"{even}; {EIGEN}",
            minimum(vicreg, special),
        ),
    ]


CHECKS = (decoupled, twins, variance)
