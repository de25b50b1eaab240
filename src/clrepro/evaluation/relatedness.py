"""The trained regressor of SentEval's relatedness tasks, here STSBenchmark-finetune and SICKRelatedness-finetune.

A linear layer on [|a - b|, a * b] and a softmax give the probabilities of the scores 1 to 5; the predicted score is
their mean. The target of a score s is 1 - (s - f) on f = floor(s) and s - f on f + 1 (Tai, Socher and Manning 2015).
"""

import numba
import numpy as np

from clrepro.evaluation.classifier import SEED, _adam, _logits, _sum_gradients, initial_weights
from clrepro.evaluation.similarity import pearson, spearman

SCORES = 5
BATCH = 64
PASSES = 50  # of a round
MOST_PASSES = 1000
TENACITY = 3


def distributions(scores: np.ndarray) -> np.ndarray:
    """(n, 5) float32: the targets; of a score below 1 the reference leaves (s, 0, 0, 0, 0)."""
    whole = np.floor(scores).astype(int)
    targets = np.zeros((len(scores), SCORES + 2), np.float32)  # columns for 0 and 6, cut off below
    rows = np.arange(len(scores))
    targets[rows, whole.clip(0, SCORES + 1)] = whole - scores + 1
    targets[rows, (whole + 1).clip(0, SCORES + 1)] = scores - whole
    return targets[:, 1:-1]


@numba.njit(nogil=True, fastmath=True, cache=True)
def _to_gradient(out, rows, targets):
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


@numba.njit(nogil=True, fastmath=True, cache=True)
def _round(x, targets, orders, state, step):
    """Train for a pass an order; state: weights, their gradient and Adam's two moments, then the same of biases."""
    w, gw, mw, vw, b, gb, mb, vb = state
    out = np.empty((BATCH, SCORES), np.float32)
    zero = np.float32(0)
    for order in orders:
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            delta = out[: len(rows)]
            _logits(x, rows, w, b, delta)
            _to_gradient(delta, rows, targets)
            _sum_gradients(x, rows, delta, gw, gb)
            step += 1
            _adam(w.reshape(-1), gw.reshape(-1), mw.reshape(-1), vw.reshape(-1), zero, step)
            _adam(b, gb, mb, vb, zero, step)
    return step


def predict(x: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """The mean scores (n,), 1 to 5."""
    logits = x @ weights.T + biases
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return (shares / shares.sum(1, keepdims=True)) @ np.arange(1, SCORES + 1)


def evaluate_relatedness(
    train: tuple[np.ndarray, np.ndarray], dev: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray]
) -> dict[str, float]:
    """{dev, spearman, pearson}: Spearman on dev, which stopped the training, and both on test, -1 to 1.

    Each part: pair features (n, 2D) float32 in the order of lengths, and gold scores (n,). Adam with torch's defaults,
    no weight decay, rounds of 50 passes, batches of 64, seed 1111; the fourth round that does not improve ends it, and
    1,000 passes do. Source: SimCSE's fork of SentEval, whose early stopping looks at Spearman.
    """
    x, targets = np.ascontiguousarray(train[0], np.float32), distributions(np.asarray(train[1], np.float64))
    weights, biases = (part.copy() for part in initial_weights(x.shape[1], SCORES))
    state = tuple(part for tensor in (weights, biases) for part in (tensor, *(np.zeros_like(tensor) for _ in range(3))))
    numbers = np.random.RandomState(SEED)
    best, kept, step, done, misses = -1.0, (weights.copy(), biases.copy()), 0, 0, 0
    while done <= MOST_PASSES and misses <= TENACITY:
        orders = np.stack([numbers.permutation(len(x)) for _ in range(PASSES)])
        step = _round(x, targets, orders, state, step)
        done += PASSES
        found = spearman(predict(dev[0], weights, biases), dev[1])
        if found > best:
            best, kept = found, (weights.copy(), biases.copy())
        else:
            misses += 1
    guesses = predict(test[0], *kept)
    return {"dev": best, "spearman": spearman(guesses, test[1]), "pearson": pearson(guesses, test[1])}
