"""SentEval's classifier, trained for all its L2 strengths at once: a linear layer with early stopping.

One problem is a set of training rows and a set of development rows of a shared feature matrix. All strengths see the
same minibatches, as the reference re-seeds its random numbers for every classifier, so one pass over the data serves
all of them: a logit, its softmax and its gradient for every strength while a row is in the cache. The arithmetic is
the reference's, in float32, up to the order of sums.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np

from clrepro.errors import UserError
from clrepro.evaluation.senteval.protocols import Protocol

SEED = 1111
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
MOST_PASSES = 200
CARVED = 0.05


def kernel(function: Callable) -> Callable:
    """Compiled, without the interpreter's lock, sums in any order; kept on disk where the disk can be written.

    All kernels stand in this file: the cache of one is outdated by changes of its own file only.
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
def _fit(x, labels, train, dev, permutations, weights, biases, strengths, adam, batch, tenacity, passes):
    """Train every strength from the same weights (C, D), biases (C,) until each has stopped; see `fit`."""
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


@dataclass(frozen=True)
class Fit:
    """Of every strength: best development accuracy (R,), the weights (R, C, D), biases (R, C) of that round; rounds."""

    accuracy: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    rounds: np.ndarray


def initial_weights(width: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights (C, D) and biases (C,) that torch gives a linear layer after seed 1111, to the bit, without torch.

    Both draw from U(-1 / sqrt(D), 1 / sqrt(D)) with 24 bits of the Mersenne twister that NumPy's old generator is too.
    """
    numbers = np.random.RandomState(SEED)
    bound = np.float32(1 / np.sqrt(width))

    def uniform(*shape: int) -> np.ndarray:
        bits = numbers.randint(0, 2**32, size=shape, dtype=np.uint32) & 0xFFFFFF
        return (bits * 2.0**-24 * np.float64(2 * bound) - np.float64(bound)).astype(np.float32)

    return uniform(classes, width), uniform(classes)


class Shuffles:
    """The orders in which classifiers see n training rows: the same for all, as each is seeded anew."""

    def __init__(self, protocol: Protocol):
        self.protocol = protocol
        self.known: dict[tuple[int, bool], tuple[np.ndarray, np.ndarray]] = {}

    def of(self, size: int, carve: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(orders (passes, n) int32, the permutation drawn before them, of which the first 5 % are set aside)."""
        if (size, carve) not in self.known:
            numbers = np.random.RandomState(SEED)
            drawn = numbers.permutation(size) if carve else np.arange(size)
            left = size - int(CARVED * size) if carve else size
            count = MOST_PASSES + self.protocol.passes
            orders = np.stack([numbers.permutation(left).astype(np.int32) for _ in range(count)])
            self.known[size, carve] = orders, drawn
        return self.known[size, carve]

    def rows(self, train: np.ndarray, dev: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(training rows, rows that stop the training, orders); without dev rows 5 % of the others are set aside."""
        orders, drawn = self.of(len(train), dev is None)
        if dev is not None:
            return train, dev, orders
        aside = int(CARVED * len(train))
        if aside == 0:
            raise UserError(
                f"{len(train)} training examples are too few: 5 % of them are set aside to stop the training"
            )
        return train[drawn[aside:]], train[drawn[:aside]], orders


def fit(
    x: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    dev: np.ndarray | None,
    initial: tuple[np.ndarray, np.ndarray],
    shuffles: Shuffles,
    strengths: tuple[float, ...] = STRENGTHS,
) -> Fit:
    """Train a linear softmax classifier for each L2 strength, stopping early on the development rows.

    x: (N, D) float32; y: (N,) classes 0 to C-1; train, dev: rows. Without dev rows a random 5 % of the training rows
    is set aside. A round is `passes` passes over the shuffled rows in minibatches, and starts while at most 200 passes
    are done; a strength stops at the round that is its (tenacity + 1)-th without improvement, counted over the whole
    training; the best round's weights count. Source: SentEval's classifier as in SimCSE's fork.
    """
    train, dev, orders = shuffles.rows(train, dev)
    protocol = shuffles.protocol
    best, weights, biases, rounds = _fit(
        x, y, train, dev, orders, *initial, np.asarray(strengths, np.float32),
        protocol.optimiser == "adam", protocol.batch, protocol.tenacity, protocol.passes,
    )  # fmt: skip
    return Fit(best / len(dev), weights, biases, rounds)


def predict(x: np.ndarray, rows: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """The class of every row, (n,), by weights (C, D) and biases (C,)."""
    return (x[rows] @ weights.T + biases).argmax(1)
