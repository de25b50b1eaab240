"""SentEval's classifier, trained for all its L2 strengths at once: a linear layer with early stopping.

One problem is a set of training rows and a set of development rows of a shared feature matrix. All strengths see the
same minibatches, as the reference re-seeds its random numbers for every classifier, so one pass over the data serves
all of them. The arithmetic (`clrepro.evaluation.senteval.kernels`) is the reference's, in float32, up to the order of
sums.
"""

from dataclasses import dataclass

import numpy as np

from clrepro.errors import UserError
from clrepro.evaluation.senteval.kernels import MOST_PASSES, train_classifiers
from clrepro.evaluation.senteval.protocols import SEED, Protocol

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
CARVED = 0.05


@dataclass(frozen=True)
class Fit:
    """Of every strength: best development accuracy (R,), the weights (R, C, D), biases (R, C) of that round; rounds."""

    accuracy: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    rounds: np.ndarray


def initial_weights(width: int, classes: int, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """The weights (C, D) and biases (C,) that torch gives a linear layer after this seed, to the bit, without torch.

    Both draw from U(-1 / sqrt(D), 1 / sqrt(D)) with 24 bits of the Mersenne twister that NumPy's old generator is too.
    """
    numbers = np.random.RandomState(seed)
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
            numbers = np.random.RandomState(self.protocol.seed)
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
    best, weights, biases, rounds = train_classifiers(
        x, y, train, dev, orders, *initial, np.asarray(strengths, np.float32),
        protocol.optimiser == "adam", protocol.batch, protocol.tenacity, protocol.passes,
    )  # fmt: skip
    return Fit(best / len(dev), weights, biases, rounds)


def predict(x: np.ndarray, rows: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """The class of every row, (n,), by weights (C, D) and biases (C,)."""
    return (x[rows] @ weights.T + biases).argmax(1)
