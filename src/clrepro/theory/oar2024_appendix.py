"""OAR 2024: the steps of the proof in appendix A, and the regression term that is to break the trap."""

import math

import torch
from torch import Tensor

from clrepro.theory._common import (
    BOTH,
    CORRECTED,
    PRINTED,
    Check,
    bounded,
    decides,
    equal,
    equal_vectors,
    gradient,
    unit,
)
from clrepro.theory.oar2024 import HOW, PAIRS, WIDTH, free, infonce, lines, normal, partner, point, slopes

__all__ = ["CHECKS"]


def appendix_a() -> list[Check]:
    """P* = 1 / (|I| - 1) at collapse; the sum of gradients; the Jacobian of the normalisation."""
    z = point()[0]
    count = len(z)
    s = (z @ z.T / 0.5).masked_fill(torch.eye(count, dtype=torch.bool), -math.inf)
    probability = s.softmax(1)[torch.arange(count), partner(count)]
    rows = [
        Check(
            "appendix A",
            "the probability of the positive at equal embeddings",
            form,
            f"{HOW}, tau 0.5",
            equal(torch.tensor(value, dtype=torch.float64), probability),
        )
        for form, value in ((PRINTED, -math.log(1 / (count - 1))), (CORRECTED, 1 / (count - 1)))
    ]
    tau, z = 0.5, unit(normal(2 * PAIRS, WIDTH, seed=4))
    s = (z @ z.T / tau).masked_fill(torch.eye(count, dtype=torch.bool), -math.inf)
    positive = torch.nn.functional.one_hot(partner(count), count).bool()
    p = s.softmax(1)[positive]
    shares = (1 - p).unsqueeze(1) * s.masked_fill(positive, -math.inf).softmax(1)
    claimed = ((2 - p - p[partner(count)]).unsqueeze(1) * z[partner(count)] - shares @ z - shares.T @ z) / tau
    rows.append(
        Check(
            "appendix A",
            "the gradient of InfoNCE at one embedding, summed over all anchors",
            BOTH,
            f"autograd at random unit rows, {HOW}, tau {tau}",
            equal_vectors(claimed, -gradient(lambda x: free(x, tau), z)),
        )
    )
    raw = z * torch.linspace(0.5, 3, count, dtype=torch.float64).unsqueeze(1)
    by_unit = gradient(lambda x: free(x, tau), z)
    projected = by_unit - (by_unit * z).sum(1, keepdim=True) * z
    actual = gradient(lambda x: infonce(x, tau), raw)
    for form, length in ((PRINTED, z.norm(dim=1, keepdim=True)), (CORRECTED, raw.norm(dim=1, keepdim=True))):
        rows.append(
            Check(
                "appendix A",
                "the raw gradient is the unit one, projected and divided by the norm",
                form,
                f"autograd, raw norms 0.5 to 3, {HOW}, tau {tau}, norm of the "
                f"{'normalised' if form == PRINTED else 'raw'} row",
                equal_vectors(projected / length, actual),
            )
        )
    return rows


def equation_2() -> list[Check]:
    """(2): sum_i (1 - s(z_i, c_{y_i})); the term draws to the anchors, and breaks stationarity on a line."""
    z, anchors = unit(normal(200, WIDTH)), torch.eye(WIDTH, dtype=torch.float64)
    labels = torch.arange(200) % WIDTH
    target = anchors[labels]
    rows = []
    for form, name, similarity in (
        (PRINTED, "the Euclidean distance", lambda x: (unit(x) - target).norm(dim=1)),
        (CORRECTED, "the cosine", lambda x: (unit(x) * target).sum(1)),
    ):
        pull = -gradient(lambda x, similarity=similarity: 1 - similarity(x), z)
        nearer = (pull * target).sum(1) > 0
        rows.append(
            Check(
                "equation (2)",
                "descending the regression term turns an embedding towards its anchor",
                form,
                f"s is {name}; sign of the first step, 200 random embeddings",
                decides(nearer, torch.ones_like(nearer)),
            )
        )

    def whole(x: Tensor) -> Tensor:
        classes = torch.arange(2 * PAIRS) % PAIRS % 2  # the two rows of a pair share their class
        return infonce(x, 0.5) + (1 - (unit(x) * anchors[classes]).sum(-1)).sum(-1)

    special = torch.cat([anchors[:2], unit(anchors[:1] + anchors[1:2]), unit(normal(97, WIDTH, seed=5))]).unsqueeze(1)
    states = (
        special.unsqueeze(1) * torch.cat([torch.ones_like(lines()[:1, :, :1]), lines()[:, :, :1].sign()])
    ).reshape(-1, 2 * PAIRS, WIDTH)
    sizes = slopes(whole, states)
    rows.append(
        Check(
            "section 4",
            "with labelled embeddings of two classes no point and no line is stationary",
            BOTH,
            f"InfoNCE plus the term, {HOW}, tau 0.5, 100 lines (three of the anchors' plane), all sign patterns; "
            "gradient norm at least 1e-6",
            bounded(torch.full_like(sizes, 1e-6), sizes),
        )
    )
    return rows


CHECKS = (
    appendix_a,
    equation_2,
)
