"""Li et al. (2024), equations (4)-(5): the loss made of gradient dissipation, weight and ratio alone."""

import math

from tests.oracles.common import dot, live_and_frozen, log_sum_exp, others, similarities, transposed


def _active(s, margin):
    """GD_i = 1[s_ii - max_{j != i} s_ij < margin]; every anchor is active without a margin."""
    flags = []
    for i in range(len(s)):
        flags.append(margin is None or s[i][i] - max(others(s[i], i)) < margin)
    return flags


def _weights(s, temperature, power):
    """W_ij over j != i, summing to 1 in each row: softmax of s_ij/tau or max(s_ij, 1e-4)^power normalised."""
    n = len(s)
    weights = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            if power is None:
                norm = log_sum_exp([x / temperature for x in others(s[i], i)])
                weights[i][j] = math.exp(s[i][j] / temperature - norm)
            else:
                norm = sum(max(x, 1e-4) ** int(power) for x in others(s[i], i))
                weights[i][j] = max(s[i][j], 1e-4) ** int(power) / norm
    return weights


def paradigm_released(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, power, ratio):
    """Equations (4)-(5) as released: L0 + L1, the two directions, negatives detached, positives not.

    L0 = 1/(M0 N) sum over the M0 active i of sum_{j != i} W_ij (h_i . sg[h'_j] - ratio h_i . h'_i). L1 has the
    views exchanged. A direction without active anchor contributes 0.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    n = len(h)
    s = similarities(f, fp)
    loss = 0.0
    for x, y, y_sg, frozen in ((h, hp, fp, s), (hp, h, f, transposed(s))):
        active = _active(frozen, margin)
        weights = _weights(frozen, temperature, power)
        total = 0.0
        for i in range(n):
            if not active[i]:
                continue
            positive = dot(x[i], y[i])
            for j in range(n):
                if j != i:
                    total += weights[i][j] * (dot(x[i], y_sg[j]) - ratio * positive)
        if sum(active) > 0:
            loss += total / (sum(active) * n)
    return loss


def paradigm_written(view1, view2, frozen1=None, frozen2=None, *, margin, temperature, power, ratio):
    """Equation (5): mean over all i of GD_i ( sum_{j != i} W_ij s_ij - ratio s_ii ), rows only.

    GD and W are detached; all similarities have gradient to both views.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    n = len(h)
    s = similarities(h, hp)
    frozen = similarities(f, fp)
    active = _active(frozen, margin)
    weights = _weights(frozen, temperature, power)
    total = 0.0
    for i in range(n):
        if active[i]:
            for j in range(n):
                if j != i:
                    total += weights[i][j] * s[i][j]
            total -= ratio * s[i][i]
    return total / n
