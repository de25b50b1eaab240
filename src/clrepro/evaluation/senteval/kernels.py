"""The compiled arithmetic of SentEval's linear layers: classifiers of several L2 strengths at once, and regressors.

An output, that is a class of one strength, is a row m of the weights, so that one pass over the data serves all
strengths: a logit, its softmax and its gradient for every strength while a row is in the cache.
"""

from collections.abc import Callable

import numba
import numpy as np

MOST_PASSES = 200


def kernel(function: Callable) -> Callable:
    """Compiled, without the interpreter's lock, sums in any order; kept on disk where the disk can be written.

    All kernels stand in this file, with the numbers that they use: the cache of one is outdated by changes of its own
    file only.
    """
    try:
        return numba.njit(nogil=True, fastmath=True, cache=True)(function)
    except RuntimeError:  # no place for a cache
        return numba.njit(nogil=True, fastmath=True)(function)


@kernel
def _logits(x, rows, weights, biases, out):
    """out[i, m] = x[rows[i]] . weights[m] + biases[m], four outputs while a row is in registers."""
    outputs, width = weights.shape
    for place in range(len(rows)):
        row = x[rows[place]]
        m = 0
        while m + 4 <= outputs:
            a = b = c = d = np.float32(0)
            for k in range(width):
                value = row[k]
                a += value * weights[m, k]
                b += value * weights[m + 1, k]
                c += value * weights[m + 2, k]
                d += value * weights[m + 3, k]
            out[place, m] = a + biases[m]
            out[place, m + 1] = b + biases[m + 1]
            out[place, m + 2] = c + biases[m + 2]
            out[place, m + 3] = d + biases[m + 3]
            m += 4
        while m < outputs:
            a = np.float32(0)
            for k in range(width):
                a += row[k] * weights[m, k]
            out[place, m] = a + biases[m]
            m += 1


@kernel
def _to_gradient(out, rows, labels, classes):
    """Logits to the gradient of the mean cross entropy by them, in place; one softmax a strength."""
    count, outputs = len(rows), out.shape[1]
    scale = np.float32(1) / np.float32(count)
    for place in range(count):
        for first in range(0, outputs, classes):
            largest = out[place, first]
            for m in range(first + 1, first + classes):
                largest = max(largest, out[place, m])
            total = np.float32(0)
            for m in range(first, first + classes):
                out[place, m] = np.exp(out[place, m] - largest)
                total += out[place, m]
            factor = scale / total
            for m in range(first, first + classes):
                out[place, m] *= factor
            out[place, first + labels[rows[place]]] -= scale


@kernel
def _sum_gradients(x, rows, delta, weights, biases):
    """weights[m] = sum_i delta[i, m] x[rows[i]], biases[m] = sum_i delta[i, m]; four rows at a time."""
    outputs, width = weights.shape
    weights[:] = 0
    biases[:] = 0
    place = 0
    while place + 4 <= len(rows):
        first, second, third, fourth = rows[place], rows[place + 1], rows[place + 2], rows[place + 3]
        for m in range(outputs):
            a, b, c, d = delta[place, m], delta[place + 1, m], delta[place + 2, m], delta[place + 3, m]
            biases[m] += a + b + c + d
            for k in range(width):
                weights[m, k] += a * x[first, k] + b * x[second, k] + c * x[third, k] + d * x[fourth, k]
        place += 4
    while place < len(rows):
        for m in range(outputs):
            a = delta[place, m]
            biases[m] += a
            for k in range(width):
                weights[m, k] += a * x[rows[place], k]
        place += 1


@kernel
def _adam(weights, gradient, mean, square, l2, step):
    """torch.optim.Adam with its defaults and coupled weight decay; step counts from 1. Flat arrays."""
    rate = np.float32(1e-3 / (1 - 0.9**step))
    root = np.float32(1 / np.sqrt(1 - 0.999**step))
    small, keep_mean, keep_square = np.float32(1e-8), np.float32(0.9), np.float32(0.999)
    new_mean, new_square = np.float32(0.1), np.float32(0.001)
    for k in range(len(weights)):
        slope = gradient[k] + l2 * weights[k]
        mean[k] = keep_mean * mean[k] + new_mean * slope
        square[k] = keep_square * square[k] + new_square * slope * slope
        weights[k] -= rate * mean[k] / (np.sqrt(square[k]) * root + small)


@kernel
def _rmsprop(weights, gradient, square, l2):
    """torch.optim.RMSprop with its defaults (rate 0.01, alpha 0.99) and coupled weight decay. Flat arrays."""
    rate, small = np.float32(1e-2), np.float32(1e-8)
    keep, new = np.float32(0.99), np.float32(0.01)
    for k in range(len(weights)):
        slope = gradient[k] + l2 * weights[k]
        square[k] = keep * square[k] + new * slope * slope
        weights[k] -= rate * slope / (np.sqrt(square[k]) + small)


@kernel
def _correct(x, rows, labels, weights, biases, classes, out):
    """How many rows each strength classifies rightly; a tie goes to the first class."""
    _logits(x, rows, weights, biases, out)
    found = np.zeros(len(weights) // classes, np.int64)
    for place in range(len(rows)):
        for strength in range(len(found)):
            best = strength * classes
            for m in range(strength * classes + 1, (strength + 1) * classes):
                if out[place, m] > out[place, best]:
                    best = m
            found[strength] += best - strength * classes == labels[rows[place]]
    return found


@kernel
def train_classifiers(x, labels, train, dev, permutations, weights, biases, strengths, adam, batch, tenacity, passes):
    """Train every strength from the same weights (C, D), biases (C,) until each has stopped; see `classifier.fit`."""
    classes, width = weights.shape
    count = len(strengths)
    w = np.empty((count, classes, width), np.float32)
    b = np.empty((count, classes), np.float32)
    for strength in range(count):
        w[strength], b[strength] = weights, biases
    gw, mw, vw = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w)
    gb, mb, vb = np.zeros_like(b), np.zeros_like(b), np.zeros_like(b)
    best_w, best_b = w.copy(), b.copy()
    best = np.full(count, -1, np.int64)
    misses = np.zeros(count, np.int64)
    rounds = np.zeros(count, np.int64)
    owner = np.arange(count)  # which strength a slot trains: those that stopped leave their slot to the last one
    out = np.empty((max(batch, len(dev)), count * classes), np.float32)
    step = done = 0
    while count > 0 and done <= MOST_PASSES:
        flat_w, flat_b = w[:count].reshape(-1, width), b[:count].reshape(-1)
        flat_gw, flat_gb = gw[:count].reshape(-1, width), gb[:count].reshape(-1)
        for _ in range(passes):
            order = permutations[done]
            done += 1
            for start in range(0, len(order), batch):
                rows = train[order[start : start + batch]]
                delta = out[: len(rows), : count * classes]
                _logits(x, rows, flat_w, flat_b, delta)
                _to_gradient(delta, rows, labels, classes)
                _sum_gradients(x, rows, delta, flat_gw, flat_gb)
                step += 1
                for slot in range(count):
                    l2 = strengths[owner[slot]]
                    if adam:
                        _adam(
                            w[slot].reshape(-1),
                            gw[slot].reshape(-1),
                            mw[slot].reshape(-1),
                            vw[slot].reshape(-1),
                            l2,
                            step,
                        )
                        _adam(b[slot], gb[slot], mb[slot], vb[slot], l2, step)
                    else:
                        _rmsprop(w[slot].reshape(-1), gw[slot].reshape(-1), vw[slot].reshape(-1), l2)
                        _rmsprop(b[slot], gb[slot], vb[slot], l2)
        right = _correct(x, dev, labels, flat_w, flat_b, classes, out[: len(dev), : count * classes])
        for slot in range(count - 1, -1, -1):
            strength = owner[slot]
            rounds[strength] += 1
            if right[slot] > best[strength]:
                best[strength] = right[slot]
                best_w[strength], best_b[strength] = w[slot], b[slot]
            elif misses[strength] >= tenacity:
                count -= 1
                for part in (w, mw, vw):
                    part[slot] = part[count]
                for part in (b, mb, vb):
                    part[slot] = part[count]
                owner[slot] = owner[count]
            else:
                misses[strength] += 1
    return best, best_w, best_b, rounds


@kernel
def _to_relatedness_gradient(out, rows, targets):
    """Logits to the gradient of the mean squared error between softmax and targets by them, in place."""
    classes = out.shape[1]
    scale = np.float32(2) / np.float32(len(rows) * classes)
    slopes = np.empty(classes, np.float32)
    for place in range(len(rows)):
        largest = out[place].max()
        total = np.float32(0)
        for k in range(classes):
            out[place, k] = np.exp(out[place, k] - largest)
            total += out[place, k]
        inner = np.float32(0)
        for k in range(classes):
            out[place, k] /= total
            slopes[k] = scale * (out[place, k] - targets[rows[place], k])
            inner += slopes[k] * out[place, k]
        for k in range(classes):
            out[place, k] *= slopes[k] - inner


@kernel
def train_regressor(x, targets, orders, batch, state, step):
    """Train for a pass an order; state: weights, their gradient and Adam's two moments, then the same of biases."""
    w, gw, mw, vw, b, gb, mb, vb = state
    out = np.empty((batch, targets.shape[1]), np.float32)
    zero = np.float32(0)
    for order in orders:
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            delta = out[: len(rows)]
            _logits(x, rows, w, b, delta)
            _to_relatedness_gradient(delta, rows, targets)
            _sum_gradients(x, rows, delta, gw, gb)
            step += 1
            _adam(w.reshape(-1), gw.reshape(-1), mw.reshape(-1), vw.reshape(-1), zero, step)
            _adam(b, gb, mb, vb, zero, step)
    return step
