"""Support vector machines on graph embeddings, as GraphCL evaluates its encoders: two nested cross-validations.

Each outer fold is predicted by a machine with RBF kernel whose cost C was chosen by inner folds of the training part;
Shen-Lab/GraphCL at b4d7501, unsupervised_TU/evaluate_embedding.py:132-166. The machines are scikit-learn's, and their
answers those of its own search. What that search computes again and again is computed once: squared distances for all
folds, kernels for all costs; both to the last bit as libsvm has them, since its iterations amplify rounding until some
answers of large sets differ. The released code's second search, for a score that nobody reports, is left out.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from tqdm import tqdm

from clrepro.errors import UserError

if TYPE_CHECKING:
    from clrepro.modalities.graph.stored import Embedded

CACHE_MB = 1000  # of a machine's kernel rows


def kernel(function: Callable) -> Callable:
    """Compiled, sums in the order as written; kept on disk where that can be written."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no place for a cache
        return numba.njit(nogil=True)(function)


@kernel
def _distances(points):
    """Squared distances (n, n) as libsvm has them in training, |x|^2 + |y|^2 - 2 x.y, and in prediction, |x - y|^2."""
    count, difference = len(points), np.empty(points.shape[1])
    training, prediction = np.empty((count, count)), np.empty((count, count))
    for a in range(count):
        for b in range(a + 1):
            squares = np.dot(points[a], points[a]) + np.dot(points[b], points[b])
            training[a, b] = training[b, a] = squares - 2 * np.dot(points[a], points[b])
            np.subtract(points[a], points[b], difference)
            prediction[a, b] = prediction[b, a] = np.dot(difference, difference)
    return training, prediction


@kernel
def _rbf(distances, gamma, rows, columns):
    """The kernel between some rows and others, by the C library's exponential, as libsvm's; NumPy has another."""
    found = np.empty((len(rows), len(columns)))
    for a in range(len(rows)):
        line = distances[rows[a]]
        for b in range(len(columns)):
            found[a, b] = math.exp(-gamma * line[columns[b]])
    return found


class Search:
    """The choice of a cost, and predictions, on parts of one set of vectors (n, d) with classes (n,).

    settings: inner_folds, costs, and gamma: scale, 1 / (d times the variance of the training part), or auto, 1 / d.
    """

    def __init__(self, vectors: np.ndarray, classes: np.ndarray, settings: dict[str, Any]):
        self.vectors, self.classes, self.settings = vectors.astype(np.float64, order="C"), classes, settings
        self.training, self.prediction = _distances(self.vectors)

    def predict(self, rows: np.ndarray, held: np.ndarray, costs: list[float]) -> np.ndarray:
        """(costs, held-out rows): the class that a machine of each cost, fitted to `rows`, gives them."""
        gamma = self.gamma(rows)
        train, shown = _rbf(self.training, gamma, rows, rows), _rbf(self.prediction, gamma, held, rows)
        machines = (SVC(C=cost, kernel="precomputed", cache_size=CACHE_MB) for cost in costs)
        return np.array([machine.fit(train, self.classes[rows]).predict(shown) for machine in machines])

    def gamma(self, rows: np.ndarray) -> float:
        variance = self.vectors[rows].var() if self.settings["gamma"] == "scale" else 1.0
        return 1.0 / (self.vectors.shape[1] * variance) if variance else 1.0

    def answers(self, rows: np.ndarray, held: np.ndarray) -> np.ndarray:
        """The classes of an outer fold, by the cost that is best on average in the inner folds, of equals the first."""
        costs, shares = self.settings["costs"], []
        for train, test in StratifiedKFold(self.settings["inner_folds"]).split(rows, self.classes[rows]):
            found = self.predict(rows[train], rows[test], costs)
            shares.append((found == self.classes[rows[test]]).mean(axis=1))
        best = costs[np.mean(shares, axis=0).argmax()]
        return self.predict(rows, held, [best])[0]


def accuracies(vectors: np.ndarray, labels: np.ndarray, settings: dict[str, Any], seed: int) -> np.ndarray:
    """The share of right answers in every outer fold (folds,); folds are drawn by the seed.

    vectors: (n, d), used as they are; of a training that diverged they are not finite, and nothing is right. labels:
    (n,). settings: folds, and those of `Search`.
    """
    classes = np.unique(labels, return_inverse=True)[1]
    fewest, folds, inner = np.bincount(classes).min(), settings["folds"], settings["inner_folds"]
    if classes.max() == 0 or fewest < folds or fewest - math.ceil(fewest / folds) < inner:
        raise UserError(
            f"the smallest of {classes.max() + 1} classes has {fewest} graphs, too few for {folds} folds and "
            f"{inner} inner_folds of an SVM: set fewer `graph.training.folds` and `inner_folds`, or take more graphs"
        )
    if not np.isfinite(np.square(vectors, dtype=np.float64)).all():
        return np.zeros(folds)
    search, parts = Search(vectors, classes, settings), StratifiedKFold(folds, shuffle=True, random_state=seed)
    shown = tqdm(parts.split(vectors, classes), "SVM", folds, unit="fold", disable=None, leave=False)
    return np.array([(search.answers(train, test) == classes[test]).mean() for train, test in shown])


def evaluate(features: "Embedded", protocol: dict[str, dict], kinds: list[str]) -> dict[str, Any]:
    """What the evaluation's file holds: its settings, the mean accuracy of the folds, and theirs, in percent."""
    shares = accuracies(features.vectors, features.labels, protocol["svm"], features.seed)
    rows = [["svm", "test", "accuracy", round(100 * float(shares.mean()), 6)]]
    return {"protocol": protocol, "rows": rows, "folds": [round(100 * float(share), 6) for share in shares]}
