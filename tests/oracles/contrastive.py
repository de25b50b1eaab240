"""InfoNCE and its relatives: objectives with a temperature and a log-sum-exp over negatives.

Equation numbers are those of Nie et al. (ICLR 2023) unless another paper is named.
"""

import math

from tests.oracles.common import (
    angle_between,
    both_anchors,
    cross_anchors,
    distance,
    dot,
    live_and_frozen,
    log_sum_exp,
    mean,
    others,
    queue_anchors,
    similarities,
    transposed,
    two_views,
)


def _cross_entropy(positive, negatives, temperature):
    """-log of the positive's share: -pos/tau + log( e^{pos/tau} + sum over the negatives of e^{neg/tau} )."""
    logits = [positive / temperature] + [negative / temperature for negative in negatives]
    return -logits[0] + log_sum_exp(logits)


def _decoupled(positive, negatives, temperature):
    """-pos/tau + log sum over the negatives only of e^{neg/tau}."""
    return -positive / temperature + log_sum_exp([negative / temperature for negative in negatives])


# Equations (1), (5), (10): InfoNCE and its decoupled forms.


def infonce(view1, view2, frozen1=None, frozen2=None, *, temperature, queue=None):
    """Equation (1): mean over i of -s_ii/tau + log sum over all j (j = i included) of exp(s_ij/tau).

    With a queue (He et al. 2020, MoCo) its rows q_k take the place of the other columns,
    -log( e^{s_ii/tau} / (e^{s_ii/tau} + sum_k e^{h_i.q_k/tau}) ), and view 2 is a constant.
    """
    h, hp, _, fp = live_and_frozen(view1, view2, frozen1, frozen2, at_least=1)
    anchors = cross_anchors(h, hp) if queue is None else queue_anchors(h, fp, queue)
    return mean([_cross_entropy(positive, rest, temperature) for positive, rest in anchors])


def nt_xent(view1, view2, frozen1=None, frozen2=None, *, temperature, reduction):
    """Chen et al. (2020), equation (1): mean over the 2N rows z_a of -s_pos/tau + LSE over the 2N-1 other rows.

    ``sum``: over the rows, as equation (1) of the orthonormal anchors paper.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    z = h + hp
    total = 0.0
    for a in range(2 * n):
        partner = (a + n) % (2 * n)
        logits = [dot(z[a], z[c]) / temperature for c in range(2 * n) if c != a]
        total += -dot(z[a], z[partner]) / temperature + log_sum_exp(logits)
    return total if reduction == "sum" else total / (2 * n)


def arccon(view1, view2, frozen1=None, frozen2=None, *, temperature, angle):
    """Li et al. (2024), the loss behind (2), from Zhang et al. (2022): InfoNCE with an additive angle.

    The positive logit, in the numerator and in the denominator, is cos(theta_ii + angle) / tau.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    s = similarities(h, hp)
    total = 0.0
    for i in range(n):
        positive = math.cos(angle_between(h[i], hp[i]) + angle)
        total += _cross_entropy(positive, others(s[i], i), temperature)
    return total / n


def dcl(view1, view2, frozen1=None, frozen2=None, *, temperature, negatives, reduction):
    """Equation (5): InfoNCE without the positive in the denominator, mean over the anchors. May be negative.

    ``cross``: the N rows of view 1 against the other rows of view 2. ``both``: all 2N rows are anchors, each
    against the 2N-2 rows that are neither itself nor its positive.
    """
    h, hp = two_views(view1, view2)
    anchors = {"cross": cross_anchors, "both": both_anchors}[negatives](h, hp)
    values = [_decoupled(positive, rest, temperature) for positive, rest in anchors]
    return sum(values) if reduction == "sum" else mean(values)


def dcl_original(view1, view2, frozen1=None, frozen2=None, *, temperature, sigma):
    """Yeh et al. (2022), equations (5)-(6), as in the public third-party code: the sum of both directions.

    Direction 1: mean over i of -w_i s_ii/tau + LSE over {a_ij, s_ij : j != i}/tau. Direction 2 has the rows of
    view 2 as anchors: {b_ij, s_ji}. w_i = 1 without sigma, else 2 - N softmax_i(s_ii/sigma), not detached.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    s = similarities(h, hp)
    a = similarities(h, h)
    b = similarities(hp, hp)
    st = transposed(s)
    weights = [1.0] * n
    if sigma is not None:
        scaled = [s[i][i] / sigma for i in range(n)]
        norm = log_sum_exp(scaled)
        weights = [2.0 - n * math.exp(scaled[i] - norm) for i in range(n)]
    total = 0.0
    for within, across in ((a, s), (b, st)):
        direction = 0.0
        for i in range(n):
            logits = [x / temperature for x in others(within[i], i) + others(across[i], i)]
            direction += -weights[i] * s[i][i] / temperature + log_sum_exp(logits)
        total += direction / n
    return total


def dcl_plus(view1, view2, frozen1=None, frozen2=None, *, temperature):
    """Equation (10): mean over all i of max(0, dcl_i); anchors at zero stay in the mean."""
    h, hp = two_views(view1, view2)
    return mean([max(0.0, _decoupled(positive, rest, temperature)) for positive, rest in cross_anchors(h, hp)])


def infonce_mixup(view1, view2, frozen1=None, frozen2=None, *, temperature, lam, kind, mixed):
    """Appendix E, equations (47)-(49): InfoNCE with mixed vectors m_ik as additional negatives.

    ``positive`` (48): m_ik = lam h'_i + (1 - lam) h'_k for every k != i. ``negatives`` (47): the negatives of
    anchor i in order of falling s_ij are n_1, n_2, ...; m_ik = lam h'_{n_k} + (1 - lam) h'_{n_(k+1)} for
    k = 1 .. min(mixed, N-2). Mixed vectors are not normalised again; nothing is detached.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    s = similarities(h, hp)
    total = 0.0
    for i in range(n):
        couples = []
        if kind == "positive":
            for k in range(n):
                if k != i:
                    couples.append((i, k))
        elif kind == "negatives":
            order = sorted((j for j in range(n) if j != i), key=lambda j, row=s[i]: -row[j])
            for k in range(min(mixed, n - 2)):
                couples.append((order[k], order[k + 1]))
        else:
            raise ValueError(kind)
        hardened = []
        for first, second in couples:
            vector = [lam * x + (1.0 - lam) * y for x, y in zip(hp[first], hp[second], strict=True)]
            hardened.append(dot(h[i], vector))
        total += _cross_entropy(s[i][i], others(s[i], i) + hardened, temperature)
    return total / n


# Equations (2)-(4): alignment and uniformity.


def _alignment(h, hp, alpha):
    """Equation (3): mean over i of ||h_i - h'_i||^alpha."""
    total = 0.0
    for i in range(len(h)):
        total += distance(h[i], hp[i]) ** alpha
    return total / len(h)


def _uniformity_within(h, t):
    """Log of the mean over the pairs i < j of one view of exp(-t ||h_i - h_j||^2)."""
    exponents = []
    for i in range(len(h)):
        for j in range(i + 1, len(h)):
            exponents.append(-t * distance(h[i], h[j]) ** 2)
    return log_sum_exp(exponents) - math.log(len(exponents))


def align_uniform_released(view1, view2, frozen1=None, frozen2=None, *, alpha, t, lam):
    """Equations (2)-(4) as released: (1 - lam) * align + lam * uniform.

    The uniformity is taken within each view, averaged after the logarithm, and shifted by the constant 2t:
    uniform = 2t + (U(h) + U(h')) / 2. The loss therefore carries 2t * lam, which has no gradient.
    """
    h, hp = two_views(view1, view2)
    uniform = 2.0 * t + 0.5 * (_uniformity_within(h, t) + _uniformity_within(hp, t))
    return (1.0 - lam) * _alignment(h, hp, alpha) + lam * uniform


def align_uniform_written(view1, view2, frozen1=None, frozen2=None, *, alpha, t, lam):
    """Equations (2)-(4) as written: (1 - lam) * align + lam * uniform.

    Equation (4), its pair corrected to (h_i, h'_j) as in equation (42), is the plain
    log E exp(-t ||h_i - h'_j||^2). On a batch equation (44) makes it the log of the mean over the N(N-1)
    ordered pairs i != j. Neither (4), (42) nor (44) has an additive constant, so there is no 2t here.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    exponents = []
    for i in range(n):
        for j in range(n):
            if j != i:
                exponents.append(-t * distance(h[i], hp[j]) ** 2)
    uniform = log_sum_exp(exponents) - math.log(len(exponents))
    return (1.0 - lam) * _alignment(h, hp, alpha) + lam * uniform
