"""Contrastive objectives whose temperature, weight or value is set apart from the gradient.

MACL: Huang et al. (ICML 2023). FlatNCE: Chen et al. (2021). Dual temperature: Zhang et al. (2022).
"""

import math

from tests.oracles.common import (
    both_anchors,
    cross_anchors,
    live_and_frozen,
    log_sum_exp,
    mean,
    others,
    queue_anchors,
    similarities,
    transposed,
)


def _softplus(x):
    """log(1 + e^x), exact to rounding where it is tiny."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _log_shares(positive, negatives, temperature):
    """Return (log P, log (1 - P)), P the softmax share of the positive among itself and the negatives.

    With x = LSE(negatives/tau) - positive/tau they are -softplus(x) and -softplus(-x).
    """
    x = log_sum_exp([negative / temperature for negative in negatives]) - positive / temperature
    return -_softplus(x), -_softplus(-x)


def macl(
    view1,
    view2,
    frozen1=None,
    frozen2=None,
    *,
    base_temperature,
    alpha,
    alignment_threshold,
    reweight,
    negatives,
    queue=None,
):
    """Huang et al., equations (7), (11), algorithm 1: mean over the anchors of sg[1/(1 - P)] * (-log P).

    The temperature is T = base_temperature * max(0.1, 1 + alpha (A - alignment_threshold)) with
    A = sg mean_i s_ii. ``cross``: the N rows of view 1 against view 2. ``both``: 2N anchors, 2N-2 negatives.
    With a queue, whatever ``negatives`` says, the rows of view 1 against the constant positives of view 2 and
    the queue. Without ``reweight`` the factor is 1.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    alignment = mean([similarities(f, fp)[i][i] for i in range(len(f))])
    temperature = base_temperature * max(0.1, 1.0 + alpha * (alignment - alignment_threshold))
    if queue is not None:
        live, detached = queue_anchors(h, fp, queue), queue_anchors(f, fp, queue)
    else:
        build = {"cross": cross_anchors, "both": both_anchors}[negatives]
        live, detached = build(h, hp), build(f, fp)
    total = 0.0
    for (positive, rest), (positive_sg, rest_sg) in zip(live, detached, strict=True):
        log_p, _ = _log_shares(positive, rest, temperature)
        weight = 1.0
        if reweight:
            _, log_rest = _log_shares(positive_sg, rest_sg, temperature)
            weight = math.exp(-log_rest)
        total += weight * -log_p
    return total / len(live)


def flatnce(view1, view2, frozen1=None, frozen2=None, *, temperature):
    """Chen et al. (2021) as released: mean(e^{v - sg v}) - 1 + sg[cross entropy], 2N anchors.

    v = LSE over the 2N-2 negatives of (neg - pos)/tau; the cross entropy is that of the logits
    [0, (neg - pos)/tau] and class 0. Its value is NT-Xent's, its gradient that of the mean of v.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    total = 0.0
    anchors, detached = both_anchors(h, hp), both_anchors(f, fp)
    for (positive, rest), (positive_sg, rest_sg) in zip(anchors, detached, strict=True):
        v = log_sum_exp([(negative - positive) / temperature for negative in rest])
        logits_sg = [(negative - positive_sg) / temperature for negative in rest_sg]
        total += math.exp(v - log_sum_exp(logits_sg)) - 1.0 + log_sum_exp([0.0, *logits_sg])
    return total / len(anchors)


def dual_temperature(view1, view2, frozen1=None, frozen2=None, *, temperature, inter_temperature):
    """Zhang et al. (2022) as released, SimCo: mean of both directions, gradient through both views.

    Per direction: mean over i of sg[(1 - P_inter)/(1 - P_intra)] * (-log P_intra), where P is the share of the
    positive among all N rows of the other view, at the two temperatures.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    n = len(h)
    s, s_sg = similarities(h, hp), similarities(f, fp)
    total = 0.0
    for live, detached in ((s, s_sg), (transposed(s), transposed(s_sg))):
        for i in range(n):
            log_p, _ = _log_shares(live[i][i], others(live[i], i), temperature)
            _, intra = _log_shares(detached[i][i], others(detached[i], i), temperature)
            _, inter = _log_shares(detached[i][i], others(detached[i], i), inter_temperature)
            total += math.exp(inter - intra) * -log_p
    return total / (2 * n)
