"""The trained regressor of SentEval's relatedness tasks, here STSBenchmark-finetune and SICKRelatedness-finetune.

A linear layer on [|a - b|, a * b] and a softmax give the probabilities of the scores 1 to 5; the predicted score is
their mean. The target of a score s is 1 - (s - f) on f = floor(s) and s - f on f + 1 (Tai, Socher and Manning 2015).
"""

from typing import Any

import numpy as np

from clrepro.evaluation.senteval.classifier import initial_weights
from clrepro.evaluation.senteval.kernels import train_regressor
from clrepro.evaluation.senteval.protocols import SEED
from clrepro.evaluation.senteval.similarity import pearson, spearman

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


def predict(x: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """The mean scores (n,), 1 to 5."""
    logits = x @ weights.T + biases
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return (shares / shares.sum(1, keepdims=True)) @ np.arange(1, SCORES + 1)


def evaluate_relatedness(
    train: tuple[np.ndarray, np.ndarray],
    dev: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    seed: int = SEED,
) -> dict[str, Any]:
    """{dev, spearman, pearson}: Spearman on dev, which stopped the training, and both on test, -1 to 1; and the
    predicted scores of the test pairs, {scores: (n,)}, 1 to 5.

    Each part: pair features (n, 2D) float32 in the order of lengths, and gold scores (n,). Adam with torch's defaults,
    no weight decay, batches of 64, rounds of 50 passes; a round starts while at most 1,000 passes are done, and the
    fourth that does not improve is the last. Source: SimCSE's fork of SentEval, which looks at Spearman there.
    """
    x, targets = np.ascontiguousarray(train[0], np.float32), distributions(np.asarray(train[1], np.float64))
    weights, biases = (part.copy() for part in initial_weights(x.shape[1], SCORES, seed))
    state = tuple(part for tensor in (weights, biases) for part in (tensor, *(np.zeros_like(tensor) for _ in range(3))))
    numbers = np.random.RandomState(seed)
    best, kept, step, done, misses = -1.0, (weights.copy(), biases.copy()), 0, 0, 0
    while done <= MOST_PASSES and misses <= TENACITY:
        orders = np.stack([numbers.permutation(len(x)) for _ in range(PASSES)])
        step = train_regressor(x, targets, orders, BATCH, state, step)
        done += PASSES
        found = spearman(predict(dev[0], weights, biases), dev[1])
        if found > best:
            best, kept = found, (weights.copy(), biases.copy())
        else:
            misses += 1
    guesses = predict(test[0], *kept)
    correlations = {"spearman": spearman(guesses, test[1]), "pearson": pearson(guesses, test[1])}
    return {"dev": best, **correlations, "scores": guesses}
