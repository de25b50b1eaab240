"""Huang et al. 2023 (MACL): the gradient scaling factor W, its limits, the adaptive temperature, equal gradients.

Notation: positive cosine s_i, negatives s_1 .. s_K, E = exp(s / tau), P_j = E_j / (E_i + sum_r E_r),
W = sum_j P_j = sum_r E_r / (E_i + sum_r E_r), and shares hat P_j = E_j / sum_r E_r.
"""

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
    equal_vectors,
    generator,
    gradient,
    others,
    softplus,
    unit,
)

TAU = 0.1


def scaling(positive: Tensor, negatives: Tensor, tau: float | Tensor) -> Tensor:
    """W; negatives along the last axis, which tau, if a tensor, has as well."""
    return ((negatives / tau).logsumexp(-1, keepdim=True) - positive.unsqueeze(-1) / tau).sigmoid().squeeze(-1)


def keys(count: int = 300, negatives: int = 12) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Unit anchors f, positives g_i, (count, 16), negatives g_j, (count, K, 16), and cosines (count, 1 + K)."""
    view1, view2 = batches(count, negatives + 1, 16)
    f, g = unit(view1)[:, 0], unit(view2)
    return f, g[:, 0], g[:, 1:], torch.einsum("ad,ajd->aj", f, g)


HOW = "autograd, 300 anchors with 12 negatives in 16 dimensions, tau 0.1, seed 0"


def loss_of(f: Tensor, g_i: Tensor, g_j: Tensor) -> Tensor:
    """(1), per anchor; vectors are left free."""
    positive = (f * g_i).sum(-1, keepdim=True)
    return softplus((torch.einsum("ad,ajd->aj", f, g_j) / TAU).logsumexp(1) - positive.squeeze(1) / TAU)


def gradients() -> list[Check]:
    """(3), (12): -W/tau (g_i - sum_j hatP_j g_j); (13): -W/tau f; (14): W/tau hatP_j f; and two misprinted sums."""
    f, g_i, g_j, s = keys()
    p = (s / TAU).softmax(1)
    w, shares = p[:, 1:].sum(1, keepdim=True), (s[:, 1:] / TAU).softmax(1)
    actual = gradient(lambda x: loss_of(x, g_i, g_j), f)

    def claimed(w: Tensor, shares: Tensor) -> Tensor:
        return -w / TAU * (g_i - torch.einsum("aj,ajd->ad", shares, g_j))

    literal = torch.full_like(shares, 1 / shares.shape[1])  # P_ij over the sum over r of P_ij itself
    numerator = shares.shape[1] * p[:, :1]  # the sum over j of E_i / (E_i + sum E_r)
    said = "the gradient of InfoNCE at the anchor is W / tau times the shares' mean of the negatives less the positive"
    return [
        Check(
            "equation (3)",
            f"{said}, shares as defined after it",
            PRINTED,
            HOW,
            equal_vectors(claimed(w, literal), actual),
        ),
        Check(
            "equation (3)",
            f"{said}, shares as defined after it",
            CORRECTED,
            HOW,
            equal_vectors(claimed(w, shares), actual),
        ),
        Check(
            "equation (12)",
            f"{said}, P_ij as in appendix A.1",
            PRINTED,
            HOW,
            equal_vectors(claimed(numerator, shares), actual),
        ),
        Check(
            "equation (12)",
            f"{said}, P_ij as in appendix A.1",
            CORRECTED,
            HOW,
            equal_vectors(claimed(w, shares), actual),
        ),
        Check(
            "equation (13)",
            "the gradient at the positive key is - W / tau times the anchor",
            BOTH,
            HOW,
            equal_vectors(-w / TAU * f, gradient(lambda x: loss_of(f, x, g_j), g_i)),
        ),
        Check(
            "equation (14)",
            "the gradient at a negative key is W / tau times its share times the anchor",
            BOTH,
            HOW,
            equal_vectors(torch.einsum("aj,ad->ajd", w / TAU * shares, f), gradient(lambda x: loss_of(f, g_i, x), g_j)),
        ),
    ]


def equation_6() -> list[Check]:
    """(6): A = mean f . g = 1 - mean ||f - g||^2 / 2."""
    f, g = (unit(view) for view in batches())
    return [
        Check(
            "equation (6)",
            "the alignment magnitude is one minus half the alignment loss",
            BOTH,
            described(),
            equal(1 - (f - g).square().sum(-1).mean(1) / 2, (f * g).sum(-1).mean(1)),
        )
    ]


SETTINGS = {"CIFAR10": (0.5, 0.0), "ImageNet-100, table B2": (1.0, 0.6), "sentences": (2.0, 0.8)}


def adaptive_temperature() -> list[Check]:
    """(7): tau_a = (1 + alpha (A - A0)) tau0; A in [-1, 1] gives the ends (1 -+ alpha - alpha A0) tau0."""
    source = generator()
    alpha = torch.rand(1000, generator=source, dtype=torch.float64) * 2
    threshold, at = (torch.rand(1000, generator=source, dtype=torch.float64) * 2 - 1 for _ in range(2))
    value = 1 + alpha * (at - threshold)
    low, high = 1 - alpha - alpha * threshold, 1 + alpha - alpha * threshold
    ends = torch.stack([low - (1 + alpha * (-1 - threshold)), high - (1 + alpha * (1 - threshold))]).abs().max()
    inside = bounded(torch.cat([low, value]), torch.cat([value, high])).adding(
        f"end points differ by {float(ends):.0e}"
    )
    used = torch.tensor([1 - a - a * z for a, z in SETTINGS.values()], dtype=torch.float64)
    listed = ", ".join(f"{name}: {float(x):.3g} tau0" for name, x in zip(SETTINGS, used, strict=True))
    slope = torch.linspace(0, 2, 81, dtype=torch.float64).view(-1, 1)
    grid = torch.linspace(-0.99, 0.99, 67, dtype=torch.float64)
    # products that are exactly 1 in real numbers need not be in floating point: 1e-12 decides for neither side
    lowest, condition = 1 - slope - slope * grid, slope * (1 + grid) < 1 - 1e-12
    how = "1000 random alpha in 0 to 2, A0 and A in -1 to 1, seed 0"
    return [
        Check("section 4.2", "the adaptive temperature lies between the printed end points", BOTH, how, inside),
        Check(
            "section 4.2",
            "the form keeps the temperature in a proper range: the lower end is positive",
            PRINTED,
            "the papers' own settings of alpha and A0",
            bounded(torch.zeros(3, dtype=torch.float64), used).adding(listed),
        ),
        Check(
            "section 4.2",
            "the lower end is positive exactly if alpha (1 + A0) < 1",
            CORRECTED,
            "grid of 81 alpha in 0 to 2 and 67 A0 in -0.99 to 0.99",
            decides(lowest > 1e-12, condition),
        ),
        Check(
            "section 4.2",
            "the temperature grows with the alignment",
            BOTH,
            how,
            bounded(torch.zeros_like(alpha), gradient(lambda x: 1 + alpha * (x - threshold), at)),
        ),
    ]


def both_views(view1: Tensor, view2: Tensor, tau: Tensor | float) -> Tensor:
    """v_a = log sum_k exp((s_ak - s_ap) / tau) of the 2N anchors against the 2N - 2 rows of other examples."""
    rows = unit(torch.cat([view1, view2]))
    count = len(view1)
    s = rows @ rows.T
    partner = torch.arange(2 * count).roll(count)
    same = torch.eye(2 * count, dtype=torch.bool) | torch.nn.functional.one_hot(partner, 2 * count).bool()
    return (s.masked_fill(same, -torch.inf) / tau).logsumexp(1) - s[torch.arange(2 * count), partner] / tau


def identities() -> list[Check]:
    """Section 5.2: gradients of (11), of DCL at tau_a, and of FlatNCE at tau_a, from their formulas by autograd."""
    views = batches(20)
    tables: dict[str, list[Tensor]] = {}
    for one, two in zip(*views, strict=True):

        def both(loss, one: Tensor = one, two: Tensor = two) -> Tensor:
            leaves = [x.clone().requires_grad_() for x in (one, two)]
            return torch.cat(torch.autograd.grad(loss(*leaves), leaves))

        with torch.no_grad():
            tau = 0.1 * (1 + 0.5 * (unit(one) * unit(two)).sum(1).mean())

        def reweighted(v: Tensor) -> Tensor:
            return (softplus(v) / v.detach().sigmoid()).mean()  # -log P over sg[1 - P]

        def flat(v: Tensor) -> Tensor:
            return (v - v.detach()).exp().mean()

        def cross(x: Tensor, y: Tensor, tau: Tensor = tau) -> Tensor:
            s = unit(x) @ unit(y).T / tau
            return others(s).logsumexp(1) - diagonal(s)

        def wide(x: Tensor, y: Tensor, tau: Tensor = tau) -> Tensor:
            return both_views(x, y, tau)

        for name, v in (("cross", cross), ("both", wide)):
            for what, loss in (("macl", reweighted), ("dcl", torch.mean), ("flat", flat)):
                found = both(lambda x, y, v=v, loss=loss: loss(v(x, y)))
                tables.setdefault(f"{what} {name}", []).append(found)
            library = make("macl", alpha=0.5, alignment_threshold=0.0, base_temperature=0.1, negatives=name)
            tables.setdefault(f"library {name}", []).append(both(library))
    g = {name: torch.stack(values) for name, values in tables.items()}
    how = "autograd of the plain formulas, tau0 0.1, alpha 0.5, A0 0, {}, 20 random batches of 8 x 32, seed 0"
    rows = []
    for name, negatives in (("cross", "negatives across the views"), ("both", "negatives of both views")):
        for said, one, two in (
            ("the reweighted loss has the gradient of DCL at the adaptive temperature", "macl", "dcl"),
            ("FlatNCE has the gradient of DCL", "flat", "dcl"),
            ("the library's MACL has the gradient of equation (11)", "library", "macl"),
        ):
            rows.append(
                Check(
                    "sections 5.2, 5.3",
                    f"{said}, {negatives}",
                    BOTH,
                    how.format(negatives),
                    equal_vectors(g[f"{one} {name}"], g[f"{two} {name}"]),
                )
            )
    f, g_i, g_j, s = keys()

    def decoupled(x: Tensor) -> Tensor:
        return (torch.einsum("ad,ajd->aj", x, g_j) / TAU).logsumexp(1) - (x * g_i).sum(1) / TAU

    w = scaling(s[:, 0], s[:, 1:], TAU).unsqueeze(1)
    rows.append(
        Check(
            "section 5.2",
            "DCL's gradient at the anchor is InfoNCE's without the factor W",
            BOTH,
            HOW,
            equal_vectors(w * gradient(decoupled, f), gradient(lambda x: loss_of(x, g_i, g_j), f)),
        )
    )
    return rows


CHECKS = (
    gradients,
    equation_6,
    adaptive_temperature,
    identities,
)
