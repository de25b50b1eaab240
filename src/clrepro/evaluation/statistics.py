"""What the papers measure on embeddings: alignment, uniformity, angles, weights of hard negatives, ratios.

Pure functions of embeddings, no model. Rows need not have unit length. A batch is two views (N, D), row i of both
being views of example i: h_i and h'_i after normalisation, s_ij = h_i . h'_j, theta_ij = arccos s_ij. Nothing here
is larger than (N, N). Sources: Nie et al. 2023 (`nie2023`), Li et al. 2024 (`li2024`) and their released code.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

CLOSE = 4.0  # a gold similarity above it makes an STS-B pair a positive pair
BLOCK = 1024  # rows of a cosine matrix held at a time


def pair_cosines(view1: Tensor, view2: Tensor) -> tuple[Tensor, Tensor]:
    """s_ii (N,) and s_ij, j != i (N, N - 1): cosines to the positive and to the cross-view negatives."""
    one, two = unit(view1), unit(view2)
    return (one * two).sum(1), off_diagonal(one @ two.T)


def within_cosines(view: Tensor) -> Tensor:
    """h_i . h_j of all pairs i > j of one view, (N (N - 1) / 2,): the negatives of li2024, figure 5."""
    one = unit(view)
    below = torch.ones(len(one), len(one), dtype=torch.bool, device=view.device).tril(-1)
    return (one @ one.T)[below]


def angles(cosines: Tensor) -> Tensor:
    """arccos in radians; rounding beyond -1 and 1 is cut off."""
    return torch.arccos(cosines.clamp(-1, 1))


def shape(values: Tensor) -> dict[str, float]:
    """How far values (n,) are from normal: skewness, excess_kurtosis, normal_distance; NaN where all are equal.

    m3 / m2^1.5 and m4 / m2^2 - 3 with central moments m_k = mean (x - mean)^k, and Kolmogorov's
    D = sup_x |F_n(x) - Phi((x - mean) / sqrt(m2))|, in 0..1: the largest difference between the empirical
    distribution function and that of the normal with the same mean and deviation. No p-value: the normal is fitted
    to the same values, and with many of them D itself says how much is wrong.
    """
    centred = values - values.mean()
    variance = centred.square().mean()
    if not variance > 1e-20:  # what is left of equal values is rounding
        return dict.fromkeys(("skewness", "excess_kurtosis", "normal_distance"), math.nan)
    standard = (centred / variance.sqrt()).sort().values
    expected = torch.special.ndtr(standard)
    ranks = torch.arange(len(values) + 1, dtype=values.dtype, device=values.device) / len(values)
    # the steps of F_n, from below and from above
    distance = torch.maximum(expected - ranks[:-1], ranks[1:] - expected).max()
    return {
        "skewness": float(standard.pow(3).mean()),
        "excess_kurtosis": float(standard.pow(4).mean()) - 3,
        "normal_distance": float(distance),
    }


def alignment(view1: Tensor, view2: Tensor) -> float:
    """mean_i ||h_i - h'_i||^2 (nie2023, Eq. 3, alpha = 2). NaN without rows."""
    return float((unit(view1) - unit(view2)).square().sum(1).mean())


def uniformity(vectors: Tensor, t: float = 2.0) -> float:
    """log mean_{i<j} exp(-t ||h_i - h_j||^2) over the rows of one (n, D) tensor (nie2023, Eq. 4 as measured)."""
    rows, parts = unit(vectors), []
    for start in range(0, len(rows), BLOCK):
        # similarity: (block, n), of which only the columns right of the diagonal count
        similarity = rows[start : start + BLOCK] @ rows.T
        exponent = -2 * t * (1 - similarity)
        later = torch.ones_like(exponent, dtype=torch.bool).triu(start + 1)
        parts.append(torch.logsumexp(exponent.masked_fill(~later, -torch.inf).flatten(), 0))
    count = len(rows) * (len(rows) - 1) / 2
    return float(torch.logsumexp(torch.stack(parts), 0)) - math.log(count) if count else math.nan


def contrastive_loss(view1: Tensor, view2: Tensor, temperature: float = 0.05, batch_size: int | None = None) -> float:
    """L_cl = mean_i -log( e^{s_ii/tau} / sum_j e^{s_ij/tau} ) (nie2023, Eq. 1, rows only).

    With ``batch_size`` the mean over consecutive batches, the last partial one dropped; NaN if there is no batch.
    """
    size = batch_size or len(view1)
    losses = []
    for start in range(0, len(view1) - size + 1, size):
        similarity = unit(view1[start : start + size]) @ unit(view2[start : start + size]).T
        target = torch.arange(size, device=view1.device)
        losses.append(float(functional.cross_entropy(similarity / temperature, target)))
    return sum(losses) / len(losses) if losses else math.nan


def distance_gap(view1: Tensor, view2: Tensor) -> float:
    """d_ij of nie2023, figure 3: mean_i ( mean_{j != i} ||h_i - h'_j|| - ||h_i - h'_i|| )."""
    positive = (unit(view1) - unit(view2)).norm(dim=1)
    negative = (2 - 2 * pair_cosines(view1, view2)[1]).clamp(min=0).sqrt()
    return float((negative.mean(1) - positive).mean())


def development_statistics(first: Tensor, second: Tensor, gold: Tensor) -> dict[str, float]:
    """What Nie measured on STS-B dev at every evaluation; first, second: (n, D), gold: (n,) in 0..5.

    alignment: pairs with gold > 4, as the paper says; alignment_released: labels cut to integers before the
    comparison, so that only pairs of exactly 5 count; uniformity: t = 2, all sentences of both columns together;
    contrastive_loss: tau = 0.05, pairs with gold > 4 in batches of 64, the last partial one dropped; fewer than 64
    such pairs make one batch. Angles: see development_angles. A statistic without pairs is NaN.
    """
    close, five = gold > CLOSE, gold.trunc() > CLOSE
    size = development_batch(gold)
    return {
        "alignment": alignment(first[close], second[close]),
        "alignment_released": alignment(first[five], second[five]),
        "uniformity": uniformity(torch.cat([first, second])),
        "contrastive_loss": contrastive_loss(first[close], second[close], 0.05, size) if size > 1 else math.nan,
        **development_angles(first, second, gold),
    }


def development_angles(first: Tensor, second: Tensor, gold: Tensor) -> dict[str, float]:
    """Mean angle of a pair, and to the second sentences of the other pairs of its batch, in radians.

    nie2023's released program: pairs whose gold, cut to an integer, is over 3.5; batches of 64, the last partial one
    dropped (fewer than 64 such pairs make one batch); arccos(s - 1e-5).
    """
    chosen = gold.trunc() > 3.5
    first, second = first[chosen], second[chosen]
    size = min(64, len(first))
    positive, negative = [], []
    for start in range(0, len(first) - size + 1, size) if size > 1 else ():
        batch = slice(start, start + size)
        pairs = pair_cosines(first[batch], second[batch])
        for found, cosines in zip((positive, negative), pairs, strict=True):
            found.append(angles(cosines - 1e-5).mean())
    return {
        f"{side}_angle_mean": float(torch.stack(found).mean()) if found else math.nan
        for side, found in (("positive", positive), ("negative", negative))
    }


def development_batch(gold: Tensor) -> int:
    """The batch size of the contrastive loss on development pairs."""
    return min(64, int((gold > CLOSE).sum()))


def active_anchors(view1: Tensor, view2: Tensor, margin: float) -> Tensor:
    """s_ii - max_{j != i} s_ij < m, (N,) bool: the anchors whose gradient li2024 does not switch off."""
    positive, negative = pair_cosines(view1, view2)
    return positive - negative.amax(1) < margin


def hardest_weights(view1: Tensor, view2: Tensor, temperatures: Sequence[float]) -> Tensor:
    """The hardest negative's part of the exponential weights, (temperatures, N); li2024, figure 7 as written.

    max_{j != i} w_ij with w_ij = e^{s_ij / tau} / sum_{k != i} e^{s_ik / tau}, for every anchor: the text names no
    filter. In 1 / (N - 1) .. 1.
    """
    similarity = pair_cosines(view1, view2)[1]
    return torch.stack([torch.softmax(similarity / temperature, 1).amax(1) for temperature in temperatures])


def hardest_shares(view1: Tensor, view2: Tensor, temperatures: Sequence[float], margin: float) -> Tensor:
    """Share of the hardest negative in the weighted sum of negatives, (temperatures, active anchors).

    The released rule of li2024, figure 7: w_ij = softmax_{j != i}(s_ij / tau); every negative pulls by
    v_ij = w_ij (h'_j - s_ij h_i), its part in the tangent space of h_i; with V_i = sum_j v_ij and k the hardest
    negative, share_i = (v_ik . V_i) / ||V_i||^2. It is no plain weight (see hardest_weights): it may leave [0, 1].
    """
    active = active_anchors(view1, view2, margin)
    one, two = unit(view1), unit(view2)
    similarity = (one @ two.T).fill_diagonal_(-torch.inf)[active]
    anchors, hardest = one[active], similarity.argmax(1, keepdim=True)
    largest = similarity.gather(1, hardest)
    # tangent: (A, D), the hardest negative seen from its anchor
    tangent = two[hardest.squeeze(1)] - largest * anchors
    shares = []
    for temperature in temperatures:
        weights = torch.softmax(similarity / temperature, 1)
        # the diagonal has weight 0, but 0 * -inf is no number
        along = (weights * similarity.nan_to_num(neginf=0.0)).sum(1, keepdim=True)
        total = weights @ two - along * anchors
        pull = weights.gather(1, hardest) * tangent
        shares.append((pull * total).sum(1) / total.square().sum(1))
    return torch.stack(shares)


def ratio_bounds(view1: Tensor, view2: Tensor, lambdas: Sequence[float], margin: float) -> list[tuple[Tensor, Tensor]]:
    """For every lambda the (lower, upper) bounds of the ratio r, each (kept anchors,); li2024, Lemma 1, figure 8a.

    For active anchors and their hardest negative: a = theta_ii, b = theta_ij, c the angle between the tangent
    directions to positive and negative (the lemma's dihedral angle);
    bounds = 1/lambda + (sin b / sin a) cos c -+ sqrt(1/lambda^2 - (sin b / sin a)^2 sin^2 c). The lower one is the
    lemma's. Kept, as released: cos a, cos b, cos c > 0 and sin^2 a > lambda^2 sin^2 b sin^2 c.
    """
    _, two, positive, negative, hardest = hardest_of_active(view1, view2, margin)
    between = (two * hardest).sum(1)
    sine_positive, sine_negative = (1 - positive**2).clamp(min=0).sqrt(), (1 - negative**2).clamp(min=0).sqrt()
    cosine = ((between - positive * negative) / (sine_positive * sine_negative)).clamp(-1, 1)
    acute = (positive > 0) & (negative > 0) & (cosine > 0)
    bounds = []
    for lam in lambdas:
        across = sine_negative**2 * (1 - cosine**2)
        kept = acute & (sine_positive**2 > lam**2 * across)
        quotient = (sine_negative / sine_positive)[kept]
        middle = 1 / lam + quotient * cosine[kept]
        half = (1 / lam**2 - quotient**2 * (1 - cosine[kept] ** 2)).sqrt()
        bounds.append((middle - half, middle + half))
    return bounds


def dynamic_ratios(view1: Tensor, view2: Tensor, margin: float, angle: float = math.radians(10)) -> dict[str, Tensor]:
    """The ratio terms of three objectives at active anchors and their hardest negative, each (A,); figure 8b.

    arccon: sin(theta_ii + u) / sin theta_ii; met: ||h_i - h'_j|| / ||h_i - h'_i||; mat: sin theta_ij / sin theta_ii.
    """
    one, two, positive, negative, hardest = hardest_of_active(view1, view2, margin)
    theta = angles(positive)
    sines = [(1 - cosine**2).clamp(min=0).sqrt() for cosine in (positive, negative)]
    return {
        "arccon": torch.sin(theta + angle) / torch.sin(theta),
        "met": (one - hardest).norm(dim=1) / (one - two).norm(dim=1),
        "mat": sines[1] / sines[0],
    }


def hardest_of_active(view1: Tensor, view2: Tensor, margin: float) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Active anchors (A, D), their positives (A, D), both cosines (A,) and their hardest negatives (A, D)."""
    active = active_anchors(view1, view2, margin)
    one, two = unit(view1), unit(view2)
    largest, column = (one @ two.T).fill_diagonal_(-torch.inf)[active].max(1)
    anchors, positives = one[active], two[active]
    return anchors, positives, (anchors * positives).sum(1), largest, two[column]


def unit(view: Tensor) -> Tensor:
    return functional.normalize(view, dim=1, eps=1e-12)


def off_diagonal(matrix: Tensor) -> Tensor:
    """(N, N) -> (N, N - 1): every row without its diagonal entry."""
    size = len(matrix)
    return matrix.flatten()[1:].view(size - 1, size + 1)[:, :-1].reshape(size, size - 1)
