"""Dissipation, weight and ratio of gradients in closed form: Li et al. (2024), equation (4), tables 1 and 2.

The tangent part, at the unit row h_i, of the gradient of an objective is written as

    G_i = dissipation_i * sum_{j != i} weight_ij (n_j - ratio_i h'_i),    n_j = h'_j (cross) or h_j (within),

with weight_ii = 0 and rows of `weight` that sum to 1. What the tables leave in the weight (1/tau, 1/distance, the
batch-wide share) and what a mean over anchors adds (1/N) is in `dissipation`. A row without negatives has dissipation
0 and weight 0. Its ratio is nan if the whole gradient is zero, and inf if the positive alone still pulls.

Notation, as everywhere in this package: s_ij = h_i . h'_j, a_ij = h_i . h_j, b_ij = h'_i . h'_j. Equation numbers are
those of version 1 of the paper. `components` is the paper's printed form, `components_released` the authors' code.
"""

import math

import numpy as np

from tests.oracles.common import angle_between, distance, log_sum_exp, others, pairs_below, similarities, two_views

NAN = math.nan

# Which rows are the negatives n_j: in the printed form, then in the released one (mMHS goes across the views there).
NEGATIVES = {
    "infonce": "cross",
    "arccon": "cross",
    "mpt": "cross",
    "met": "cross",
    "paradigm": "cross",
    "modified_mhe": "within",
    "modified_mhs": "within",
    "modified_barlow_twins": "within",
    "modified_vicreg": "within",
}
NEGATIVES_RELEASED = {
    "paradigm": "cross",
    "modified_mhe": "within",
    "modified_mhs": "cross",
    "modified_barlow_twins": "within",
    "modified_vicreg": "within",
}


def _blank(n):
    """(dissipation, weight, ratio) of N anchors without gradient."""
    return np.zeros(n), np.zeros((n, n)), np.full(n, NAN)


def _lead(own, row, i, margin):
    """1[own - max_{k != i} row_k < margin]; true without a margin."""
    return margin is None or own - max(others(row, i)) < margin


def _row_weights(row, i, temperature, power):
    """Weights over j != i that sum to 1: softmax of row_j/tau, or max(row_j, 1e-4)^power where power is given."""
    n = len(row)
    weights = np.zeros(n)
    for j in range(n):
        if j == i:
            continue
        if power is None:
            weights[j] = math.exp(row[j] / temperature - log_sum_exp([x / temperature for x in others(row, i)]))
        else:
            weights[j] = max(row[j], 1e-4) ** int(power) / sum(max(x, 1e-4) ** int(power) for x in others(row, i))
    return weights


# Table 1: the contrastive objectives, mean over the anchors of view 1.


def _softmax_with_angle(h, hp, temperature, angle):
    """(1), (2): GD_i = sum_{k != i} e^{s_ik/tau} / (e^{cos(theta_ii + u)/tau} + the same sum).

    dissipation_i = GD_i / (N tau), weight_ij = e^{s_ij/tau} / sum_{k != i} e^{s_ik/tau},
    ratio_i = sin(theta_ii + u) / sin theta_ii.
    """
    n = len(h)
    s = similarities(h, hp)
    dissipation, weight, ratio = _blank(n)
    for i in range(n):
        theta = angle_between(h[i], hp[i])
        positive = s[i][i] if angle == 0.0 else math.cos(theta + angle)
        negatives = [x / temperature for x in others(s[i], i)]
        share = math.exp(log_sum_exp(negatives) - log_sum_exp([positive / temperature, *negatives]))
        dissipation[i] = share / (n * temperature)
        weight[i] = _row_weights(s[i], i, temperature, None)
        ratio[i] = 1.0 if angle == 0.0 else math.sin(theta + angle) / math.sin(theta)
    return dissipation, weight, ratio


def _infonce(h, hp, *, temperature):
    """Equation (1): `_softmax_with_angle` without an angle, ratio 1."""
    return _softmax_with_angle(h, hp, temperature, 0.0)


def _arccon(h, hp, *, temperature, angle):
    """Equation (2): `_softmax_with_angle`; the angle u is in radians."""
    return _softmax_with_angle(h, hp, temperature, angle)


def _mpt(h, hp, *, margin):
    """(3), mpt: dissipation_i = 1[s_ii - max_{k != i} s_ik < m] / N, weight 1 on the hardest negative, ratio 1."""
    n = len(h)
    s = similarities(h, hp)
    dissipation, weight, ratio = _blank(n)
    for i in range(n):
        if _lead(s[i][i], s[i], i, margin):
            hardest = max((j for j in range(n) if j != i), key=lambda j: s[i][j])
            dissipation[i], weight[i, hardest], ratio[i] = 1.0 / n, 1.0, 1.0
    return dissipation, weight, ratio


def _met(h, hp, *, margin):
    """(3), met, with d_ij = ||h_i - h'_j|| and j the nearest negative; the table's weight 1/d_ij is in dissipation.

    dissipation_i = 1[d_ij - d_ii < m] / (N d_ij), weight 1 on j, ratio_i = d_ij / d_ii.
    """
    n = len(h)
    dissipation, weight, ratio = _blank(n)
    for i in range(n):
        d = [distance(h[i], row) for row in hp]
        nearest = min((j for j in range(n) if j != i), key=lambda j: d[j])
        if d[nearest] - d[i] < margin:
            dissipation[i], weight[i, nearest], ratio[i] = 1.0 / (n * d[nearest]), 1.0, d[nearest] / d[i]
    return dissipation, weight, ratio


def _paradigm(h, hp, *, margin, temperature, ratio, power=None):
    """(4) itself, the gradient of (5): dissipation_i = GD_i / N, weight W_ij, ratio r."""
    n = len(h)
    s = similarities(h, hp)
    dissipation, weight, ratios = _blank(n)
    for i in range(n):
        if _lead(s[i][i], s[i], i, margin):
            dissipation[i], ratios[i] = 1.0 / n, ratio
            weight[i] = _row_weights(s[i], i, temperature, power)
    return dissipation, weight, ratios


# Table 2, lower half: the modified objectives. Coefficients of the negatives, before any mask.


def _energy_pull(rows, temperature):
    """(N, N), diagonal 0: e^{x_i.x_j/tau} / (tau sum_{k<l} e^{x_k.x_l/tau}); its row sums are the c_i of (14), (16)."""
    g = similarities(rows, rows)
    norm = log_sum_exp([x / temperature for x in pairs_below(g)])
    pull = np.zeros((len(rows), len(rows)))
    for i in range(len(rows)):
        for j in range(len(rows)):
            if j != i:
                pull[i, j] = math.exp(g[i][j] / temperature - norm) / temperature
    return pull


def _share_pull(rows, temperature, power):
    """(N, N), diagonal 0: e^{x_i.x_j/tau} / sum_{k != l} e^{x_k.x_l/tau}, or max(x_i.x_j, 1e-4)^power likewise."""
    n = len(rows)
    g = similarities(rows, rows)
    every = [g[k][l] for k in range(n) for l in range(n) if k != l]  # noqa: E741 (the index of the equations)
    pull = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            if temperature is not None:
                pull[i, j] = math.exp(g[i][j] / temperature - log_sum_exp([x / temperature for x in every]))
            else:
                pull[i, j] = max(g[i][j], 1e-4) ** int(power) / sum(max(x, 1e-4) ** int(power) for x in every)
    return pull


def _nearest_pull(rows, candidates, floor):
    """(N, N), one entry a row: 1 / D_ij at the nearest j != i, D_ij = sqrt(||x_i - c_j||^2 + floor)."""
    n = len(rows)
    pull = np.zeros((n, n))
    for i in range(n):
        nearest = min((j for j in range(n) if j != i), key=lambda j: distance(rows[i], candidates[j]))
        pull[i, nearest] = 1.0 / math.sqrt(distance(rows[i], candidates[nearest]) ** 2 + floor)
    return pull


def _assemble(pull, positive, active):
    """Components of G_i = active_i [ sum_j pull_ij n_j - positive_i h'_i ]: total, share of the total, quotient."""
    n = len(pull)
    dissipation, weight, ratio = _blank(n)
    for i in range(n):
        if active[i]:
            total = sum(pull[i])
            dissipation[i], weight[i], ratio[i] = total, pull[i] / total, positive[i] / total
    return dissipation, weight, ratio


def _cross_mask(h, hp, margin):
    """d_i = 1[s_ii - max_{k != i} s_ik < m], the mask of the paper at the anchors of view 1."""
    s = similarities(h, hp)
    return [_lead(s[i][i], s[i], i, margin) for i in range(len(h))]


def _modified_mhe(h, hp, *, margin, temperature, ratio, lam=1.0):
    """(16): d_i sum_{j != i} e^{a_ij/tau} (h_j - r h'_i) / (tau sum_{k<l} e^{a_kl/tau}).

    lam, 1 in the paper, multiplies the energy alone: it scales dissipation and divides the ratio.
    Omitted at h_i: nothing, if the energy counts once for the batch and an inactive anchor is a constant in it; each
    pair {k, l} is there once, so the pairs in which h_i is another anchor's negative are in the sum already. If (14)
    is taken to the letter, sum_k d_k (L^a_k + L^u), the energy counts M = sum_k d_k times: at every anchor,
    the inactive included, the negatives are M times those of (16), and the ratio of active anchors is r / M.
    """
    pull = _energy_pull(h, temperature)
    positive = [ratio * sum(row) for row in pull]
    return _assemble(lam * pull, positive, _cross_mask(h, hp, margin))


def _modified_mhs(h, hp, *, margin, ratio, lam=1.0):
    """(17): d_i (h_j - r h'_i) / ||h_i - h_j||, j = argmin_{k != i} ||h_i - h_k|| (the max before (14) is a misprint).

    lam as in (16). Omitted at h_i: sum over the active k whose nearest row is h_i of h_k / ||h_k - h_i||, unless h_j
    is a constant in ||h_i - h_j||, which L^{u,MHS} does not say. Multiplying L_k by d_k removes that term for inactive
    k only, stopping the gradient of inactive rows for inactive i only. With two active mutual nearest rows and no
    constant, and no third anchor that is nearest to h_i, dissipation doubles and the ratio is r / 2.
    """
    pull = _nearest_pull(h, h, 0.0)
    positive = [ratio * sum(row) for row in pull]
    return _assemble(lam * pull, positive, _cross_mask(h, hp, margin))


def _modified_barlow_twins(h, hp, *, margin, temperature, ratio, lam=1.0, power=None):
    """(18): d_i sum_{j != i} e^{b_ij/tau} (h_j - r h'_i) / sum_{k != l} e^{b_kl/tau}.

    Table 2 and the weights before (6) have e^{h'_i.h'_j} and a sum over all k != l; version 1 prints e^{h_i.h'_j} and
    a sum over k != i in (18), version 2 prints it as here. lam multiplies negatives and positives, so it scales
    dissipation only.
    Omitted at h_i: sum_{k != i} d_k w_ki h_k, unless h_j is a constant in (6), where only the weights are called
    constants. w is symmetric: with all anchors active the term doubles the negatives and the ratio is r / 2; with
    masks the coefficient of h_j is w_ij (d_i + d_j).
    """
    pull = _share_pull(hp, temperature, power)
    positive = [lam * ratio * sum(row) for row in pull]
    return _assemble(lam * pull, positive, _cross_mask(h, hp, margin))


def _modified_vicreg(h, hp, *, margin, temperature, ratio, lam=1.0, power=None):
    """(19): d_i sum_{j != i} e^{a_ij/tau} (h_j - r h'_i) / sum_{k != l} e^{a_kl/tau}.

    Version 1 sums the denominator over k != i alone; table 2 and version 2 have k != l. lam and the omitted term: as
    in (18), with (13) in the place of (6).
    """
    pull = _share_pull(h, temperature, power)
    positive = [lam * ratio * sum(row) for row in pull]
    return _assemble(lam * pull, positive, _cross_mask(h, hp, margin))


# What the released code's gradient at h_i is: positives are no constants and pull from both directions.


def _within_mask(h, margin):
    """1[1 - max_{j != i} a_ij < m], the released mask of the modified objectives at the anchors of view 1."""
    a = similarities(h, h)
    return [_lead(1.0, a[i], i, margin) for i in range(len(h))]


def _paradigm_released(h, hp, *, margin, temperature, ratio, power=None):
    """(4)-(5) as released: ratio_i = r (1 + 1[mask1_i] M0 / M1), 2 r with all anchors active.

    G_i = 1[mask0_i]/(M0 N) [ sum_j W_ij h'_j - r h'_i ] - 1[mask1_i] r/(M1 N) h'_i; mask0 looks along the row s_ij,
    mask1 down the column s_ji, M0 and M1 count them. An anchor that is active in mask1 alone has ratio inf.
    """
    n = len(h)
    s = similarities(h, hp)
    rows = [_lead(s[i][i], s[i], i, margin) for i in range(n)]
    columns = [_lead(s[i][i], [s[j][i] for j in range(n)], i, margin) for i in range(n)]
    dissipation, weight, ratios = _blank(n)
    for i in range(n):
        if rows[i]:
            dissipation[i] = 1.0 / (sum(rows) * n)
            weight[i] = _row_weights(s[i], i, temperature, power)
            ratios[i] = ratio * (1.0 + columns[i] * sum(rows) / max(sum(columns), 1))
        elif columns[i]:
            ratios[i] = math.inf
    return dissipation, weight, ratios


def _modified_mhe_released(h, hp, *, margin, temperature, ratio, lam=1.0):
    """(14) as released: G_i = mask_i [ lam sum_j c_ij h_j - r (c_i + c'_i) h'_i ]: ratio r (1 + c'_i / c_i) / lam.

    c_ij is the coefficient in (16), c_i its row sum, c' the same of view 2. The partner's mask plays no part.
    """
    pull, other = _energy_pull(h, temperature), _energy_pull(hp, temperature)
    positive = [ratio * (sum(pull[i]) + sum(other[i])) for i in range(len(h))]
    return _assemble(lam * pull, positive, _within_mask(h, margin))


def _modified_mhs_released(h, hp, *, margin, ratio, lam=1.0):
    """(15) as released: ratio r (1 + D_i / D'_i) / lam, negatives across the views.

    G_i = mask_i / N [ lam h'_j / D_i - r (1/D_i + 1/D'_i) h'_i ], D_i = min_j sqrt(||h_i - h'_j||^2 + 1e-4) at j,
    D'_i = min_j sqrt(||h'_i - h_j||^2 + 1e-4).
    """
    n = len(h)
    pull, other = _nearest_pull(h, hp, 1e-4) / n, _nearest_pull(hp, h, 1e-4) / n
    positive = [ratio * (sum(pull[i]) + sum(other[i])) for i in range(n)]
    return _assemble(lam * pull, positive, _within_mask(h, margin))


def _modified_barlow_twins_released(h, hp, *, margin, temperature, ratio, lam=1.0, power=None):
    """(6) as released: G_i = mask_i lam [ sum_j w'_ij h_j - r (W'_i + W_i) h'_i ]: ratio r (1 + W_i / W'_i).

    w from view 1, w' from view 2 (whose weights mB gives to the anchors of view 1), W and W' their row sums.
    """
    pull, other = _share_pull(hp, temperature, power), _share_pull(h, temperature, power)
    positive = [lam * ratio * (sum(pull[i]) + sum(other[i])) for i in range(len(h))]
    return _assemble(lam * pull, positive, _within_mask(h, margin))


def _modified_vicreg_released(h, hp, *, margin, temperature, ratio, lam=1.0, power=None):
    """(13) as released: G_i = mask_i lam [ sum_j w_ij h_j - r (W_i + W'_i) h'_i ]: ratio r (1 + W'_i / W_i)."""
    pull, other = _share_pull(h, temperature, power), _share_pull(hp, temperature, power)
    positive = [lam * ratio * (sum(pull[i]) + sum(other[i])) for i in range(len(h))]
    return _assemble(lam * pull, positive, _within_mask(h, margin))


PRINTED = {
    "infonce": _infonce,
    "arccon": _arccon,
    "mpt": _mpt,
    "met": _met,
    "paradigm": _paradigm,
    "modified_mhe": _modified_mhe,
    "modified_mhs": _modified_mhs,
    "modified_barlow_twins": _modified_barlow_twins,
    "modified_vicreg": _modified_vicreg,
}
RELEASED = {
    "paradigm": _paradigm_released,
    "modified_mhe": _modified_mhe_released,
    "modified_mhs": _modified_mhs_released,
    "modified_barlow_twins": _modified_barlow_twins_released,
    "modified_vicreg": _modified_vicreg_released,
}


def components(name, view1, view2, **params):
    """(dissipation (N,), weight (N, N), ratio (N,)) of the printed form; infonce and arccon have no other.

    mpt and met are the rows of equation (3), paradigm is equation (5) written. Dissipation of the modified objectives
    is that of (16)-(19) and determined up to `common_factor`. ``params`` are those of the objective; a static ratio
    is needed, a margin of None leaves all anchors active.
    """
    return PRINTED[name](*two_views(view1, view2), **params)


def components_released(name, view1, view2, **params):
    """As `components`, for the gradient that the released code really has at h_i, scale included."""
    return RELEASED[name](*two_views(view1, view2), **params)


def ratio_released(name, view1, view2, **params):
    """The effective ratio (N,) at h_i as released, with or without masks; nan and inf as in the module's docstring.

    With all anchors active and lam = 1 it is 2 r for paradigm, and its mean weighted by dissipation is exactly 2 r for
    modified_mhe, modified_barlow_twins, modified_vicreg (the c_i of both views have one sum); rows may be far off it.
    """
    return components_released(name, view1, view2, **params)[2]


def common_factor(name, n):
    """Dissipation of an objective on N = ``n`` rows over that of `components`; None if it has to be estimated.

    1 for the contrastive objectives, whose mean over anchors is in `components` (as 1/N), whatever ``n``. None for the
    modified ones: (16)-(19) are gradients of L_i, and the paper does not say whether L_i is summed or averaged,
    nor whether view 2's anchors are added and halved. The factor is the same for all anchors: estimate it by
    `estimated_factor`. The released reductions make it 1 for modified_mhe, modified_barlow_twins, modified_vicreg and
    1/N for modified_mhs.
    """
    return None if name.startswith("modified_") else 1.0


def estimated_factor(expected, measured):
    """Median over the active anchors of measured_i / expected_i, two dissipations."""
    return float(np.median([m / e for e, m in zip(expected, measured, strict=True) if e != 0.0]))


def reconstruct(view1, view2, dissipation, weight_cross, weight_within, ratio):
    """G (N, D), tangent at h_i: dissipation_i sum_{j != i} [ cross_ij (h'_j - r_i h'_i) + within_ij (h_j - r_i h'_i) ].

    Rows with dissipation 0 are 0, whatever their ratio.
    """
    h, hp = (np.array(rows) for rows in two_views(view1, view2))
    gradient = np.zeros_like(h)
    for i in range(len(h)):
        if dissipation[i] == 0.0:
            continue
        for j in range(len(h)):
            if j != i:
                gradient[i] += dissipation[i] * weight_cross[i, j] * (hp[j] - ratio[i] * hp[i])
                gradient[i] += dissipation[i] * weight_within[i, j] * (h[j] - ratio[i] * hp[i])
        gradient[i] -= (gradient[i] @ h[i]) * h[i]
    return gradient
