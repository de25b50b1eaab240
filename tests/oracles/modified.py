"""Li et al. (2024): the non-contrastive objectives modified by gradient dissipation, weight and ratio.

Equations (6), (13)-(15), (18), (19). An anchor that gradient dissipation switches off is replaced by a constant:
x~_i is the live row x_i of an active anchor and the frozen one of an inactive anchor.

``released`` compares within a view, 1 - max_{j != i} a_ij < margin. ``written`` compares as the paper does,
s_ii - max_{j != i} s_ij < margin for view 1 and s_ii - max_{j != i} s_ji < margin for view 2.
"""

import math

from tests.oracles.common import (
    distance,
    dot,
    live_and_frozen,
    log_sum_exp,
    mean_squared_distance,
    others,
    pairs_below,
    similarities,
    squared_distance,
    transposed,
)
from tests.oracles.non_contrastive import barlow_positive, nearest_cross


def _dissipated(x, x_sg, similarity, own, margin):
    """Return x~: row i of x if own_i - max_{j != i} similarity_ij < margin (or no margin), else of sg[x]."""
    rows = []
    for i in range(len(x)):
        active = margin is None or own[i] - max(others(similarity[i], i)) < margin
        rows.append(x[i] if active else x_sg[i])
    return rows


def _masked_released(h, hp, f, fp, margin):
    """(h~, h~') with the released, within-view masks."""
    ones = [1.0] * len(h)
    return (
        _dissipated(h, f, similarities(f, f), ones, margin),
        _dissipated(hp, fp, similarities(fp, fp), ones, margin),
    )


def _masked_written(h, hp, f, fp, margin):
    """(h~, h~') with the masks of the paper, across the views."""
    s = similarities(f, fp)
    own = [s[i][i] for i in range(len(s))]
    return _dissipated(h, f, s, own, margin), _dissipated(hp, fp, transposed(s), own, margin)


# Modified MHE.


def _energy(ht, htp, temperature):
    """LSE_{k>l}(a~_kl / tau) + LSE_{k>l}(b~_kl / tau)."""
    total = 0.0
    for x in (ht, htp):
        total += log_sum_exp([value / temperature for value in pairs_below(similarities(x, x))])
    return total


def _energy_coefficients(x_sg, temperature):
    """c_i = sg[ sum_{j != i} e^{a_ij/tau} / (tau sum_{k<l} e^{a_kl/tau}) ]."""
    a = similarities(x_sg, x_sg)
    norm = log_sum_exp([value / temperature for value in pairs_below(a)])
    coefficients = []
    for i in range(len(a)):
        coefficients.append(sum(math.exp(value / temperature - norm) for value in others(a[i], i)) / temperature)
    return coefficients


def _plain_written_alignment(ht, htp, f, fp):
    """mean_i [ ||h~_i - sg h'_i||^2 + ||h~'_i - sg h_i||^2 ] - sg mean_i ||h_i - h'_i||^2."""
    return mean_squared_distance(ht, fp) + mean_squared_distance(htp, f) - mean_squared_distance(f, fp)


def modified_mhe_released(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, ratio, lam):
    """(14) as released: lam [ LSE_{k>l} a~_kl/tau + LSE_{k>l} b~_kl/tau ] + alignment.

    Alignment: sum_i (ratio/2)(c_i + c'_i) ||h~_i - h~'_i||^2.
    Without temperature and ratio the alignment is mean_i ||h~_i - h~'_i||^2. A missing temperature or ratio is 1.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_released(h, hp, f, fp, margin)
    tau = 1.0 if temperature is None else temperature
    loss = lam * _energy(ht, htp, tau)
    if temperature is None and ratio is None:
        return loss + mean_squared_distance(ht, htp)
    c, cp = _energy_coefficients(f, tau), _energy_coefficients(fp, tau)
    for i in range(len(h)):
        loss += (1.0 if ratio is None else ratio) / 2.0 * (c[i] + cp[i]) * squared_distance(ht[i], htp[i])
    return loss


def modified_mhe_written(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, ratio, lam):
    """(14): masks of the paper, and each anchor's partner is a constant in the alignment.

    lam [ LSE_{k>l} a~_kl/tau + LSE_{k>l} b~_kl/tau ]
    + sum_i (ratio/2) [ c_i ||h~_i - sg h'_i||^2 + c'_i ||h~'_i - sg h_i||^2 ].
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_written(h, hp, f, fp, margin)
    tau = 1.0 if temperature is None else temperature
    loss = lam * _energy(ht, htp, tau)
    if temperature is None and ratio is None:
        return loss + _plain_written_alignment(ht, htp, f, fp)
    c, cp = _energy_coefficients(f, tau), _energy_coefficients(fp, tau)
    for i in range(len(h)):
        both = c[i] * squared_distance(ht[i], fp[i]) + cp[i] * squared_distance(htp[i], f[i])
        loss += (1.0 if ratio is None else ratio) / 2.0 * both
    return loss


# Modified MHS.


def modified_mhs_released(view1, view2, frozen1=None, frozen2=None, *, margin, ratio, lam):
    """(15) as released: lam [ -mean_i min_j D0_ij - mean_i min_j D1_ij ] + alignment, j != i.

    D0_ij = sqrt(||h~_i - sg h'_j||^2 + 1e-4), D1_ij = sqrt(||h~'_i - sg h_j||^2 + 1e-4). Alignment: mean_i
    (ratio/2)(sg 1/min_j D0_ij + sg 1/min_j D1_ij) ||h~_i - h~'_i||^2; without ratio mean_i ||h~_i - h~'_i||^2.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_released(h, hp, f, fp, margin)
    n = len(h)
    loss = 0.0
    for i in range(n):
        loss -= lam * (nearest_cross(ht, fp, i) + nearest_cross(htp, f, i)) / n
        weight = 1.0
        if ratio is not None:
            weight = ratio / 2.0 * (1.0 / nearest_cross(f, fp, i) + 1.0 / nearest_cross(fp, f, i))
        loss += weight * squared_distance(ht[i], htp[i]) / n
    return loss


def _nearest_within(x, x_sg, i):
    """Smallest over j != i of ||x_i - sg[x_j]||."""
    return min(distance(x[i], x_sg[j]) for j in range(len(x)) if j != i)


def modified_mhs_written(view1, view2, frozen1=None, frozen2=None, *, margin, ratio, lam):
    """(15), its max read as min: masks of the paper, separations within each view, partners constant.

    -lam mean_i min_j ||h~_i - sg h_j|| - lam mean_i min_j ||h~'_i - sg h'_j|| + mean_i (ratio/2)
    [ ||h~_i - sg h'_i||^2 / sg min_j ||h_i - h_j|| + ||h~'_i - sg h_i||^2 / sg min_j ||h'_i - h'_j|| ], j != i.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_written(h, hp, f, fp, margin)
    n = len(h)
    loss = 0.0
    for i in range(n):
        loss -= lam * (_nearest_within(ht, f, i) + _nearest_within(htp, fp, i)) / n
    if ratio is None:
        return loss + _plain_written_alignment(ht, htp, f, fp)
    for i in range(n):
        first = squared_distance(ht[i], fp[i]) / _nearest_within(f, f, i)
        second = squared_distance(htp[i], f[i]) / _nearest_within(fp, fp, i)
        loss += ratio / 2.0 * (first + second) / n
    return loss


# Modified Barlow Twins and VICReg: they differ in whose similarities make the weights.


def _pair_weights(rows_sg, temperature, power):
    """w_ij, diagonal 0, from g_ij = sg[x_i . x_j].

    e^{g_ij/tau} or else max(g_ij, 1e-4)^power, over its sum over all ordered pairs k != l; (2/N^2) g_ij if
    neither temperature nor power is given.
    """
    n = len(rows_sg)
    g = similarities(rows_sg, rows_sg)
    every = [g[i][j] for i in range(n) for j in range(n) if j != i]
    weights = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            if temperature is not None:
                weights[i][j] = math.exp(g[i][j] / temperature - log_sum_exp([x / temperature for x in every]))
            elif power is not None:
                weights[i][j] = max(g[i][j], 1e-4) ** int(power) / sum(max(x, 1e-4) ** int(power) for x in every)
            else:
                weights[i][j] = 2.0 / n**2 * g[i][j]
    return weights


def _one_direction(x, x_sg, y, y_sg, weights, ratio, lam, plain):
    """lam sum_i [ sum_{j != i} w_ij (x_i . sg x_j) - ratio W_i (x_i . y_i) ], W_i = sum_{j != i} w_ij.

    Without ratio the positive part is the plain one, which lam does not multiply.
    """
    n = len(x)
    total = 0.0
    for i in range(n):
        for j in range(n):
            if j != i:
                total += lam * weights[i][j] * dot(x[i], x_sg[j])
        if ratio is not None:
            total -= lam * ratio * sum(others(weights[i], i)) * dot(x[i], y[i])
    if ratio is None:
        total += plain(x, x_sg, y_sg, lam)
    return total


def _vicreg_positive(x, x_sg, y_sg, lam):
    """- (2/N) sum_i x_i . sg[y_i]: the positive part of (11)."""
    n = len(x)
    total = 0.0
    for i in range(n):
        total -= 2.0 / n * dot(x[i], y_sg[i])
    return total


def modified_barlow_twins_released(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, ratio, lam, power):
    """(6), (18) as released, the radial diagonal left out: mB(h~, h~') + mB(h~', h~).

    mB(x, y) = lam sum_i [ sum_{j != i} w_ij (x_i . sg x_j) - ratio W_i (x_i . y_i) ], w_ij from y_i . y_j.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_released(h, hp, f, fp, margin)
    w, wp = _pair_weights(f, temperature, power), _pair_weights(fp, temperature, power)
    first = _one_direction(ht, f, htp, fp, wp, ratio, lam, barlow_positive)
    return first + _one_direction(htp, fp, ht, f, w, ratio, lam, barlow_positive)


def modified_barlow_twins_written(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, ratio, lam, power):
    """(6), (18): as released with the masks of the paper and the partner in the positive a constant."""
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_written(h, hp, f, fp, margin)
    w, wp = _pair_weights(f, temperature, power), _pair_weights(fp, temperature, power)
    first = _one_direction(ht, f, fp, fp, wp, ratio, lam, barlow_positive)
    return first + _one_direction(htp, fp, f, f, w, ratio, lam, barlow_positive)


def modified_vicreg_released(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, ratio, lam, power):
    """(13), (19) as released, the radial diagonal left out: mV(h~, h~') + mV(h~', h~).

    mV(x, y) = lam sum_i [ sum_{j != i} w_ij (x_i . sg x_j) - ratio W_i (x_i . y_i) ], w_ij from x_i . x_j.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_released(h, hp, f, fp, margin)
    w, wp = _pair_weights(f, temperature, power), _pair_weights(fp, temperature, power)
    first = _one_direction(ht, f, htp, fp, w, ratio, lam, _vicreg_positive)
    return first + _one_direction(htp, fp, ht, f, wp, ratio, lam, _vicreg_positive)


def modified_vicreg_written(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, ratio, lam, power):
    """(13), (19): as released with the masks of the paper and the partner in the positive a constant."""
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    ht, htp = _masked_written(h, hp, f, fp, margin)
    w, wp = _pair_weights(f, temperature, power), _pair_weights(fp, temperature, power)
    first = _one_direction(ht, f, fp, fp, w, ratio, lam, _vicreg_positive)
    return first + _one_direction(htp, fp, f, f, wp, ratio, lam, _vicreg_positive)
