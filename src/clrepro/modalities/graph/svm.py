"""Support vector machines on graph embeddings, as GraphCL evaluates its encoders: two nested cross-validations.

Each outer fold is predicted by a machine with RBF kernel whose cost C was chosen by inner folds of the training part;
Shen-Lab/GraphCL at b4d7501, unsupervised_TU/evaluate_embedding.py:132-166. The machines are scikit-learn's, and their
answers those of its own search. What that search computes again and again is computed once: squared distances for all
folds, kernels for all costs. The released code's second search, for a score that nobody reports, is left out.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from tqdm import tqdm

from clrepro.errors import UserError

if TYPE_CHECKING:
    from clrepro.modalities.graph.stored import Embedded

CACHE_MB = 1000  # of a machine's kernel rows


class Search:
    """The choice of a cost, and predictions, on parts of one set of vectors (n, d) with classes (n,).

    settings: inner_folds, costs, and gamma: scale, 1 / (d times the variance of the training part), or auto, 1 / d.
    """

    def __init__(self, vectors: np.ndarray, classes: np.ndarray, settings: dict[str, Any]):
        self.vectors, self.classes, self.settings = vectors.astype(np.float64), classes, settings
        squares = np.square(self.vectors).sum(axis=1)
        self.distances = squares[:, None] + squares - 2 * self.vectors @ self.vectors.T

    def predict(self, rows: np.ndarray, held: np.ndarray, costs: list[float]) -> np.ndarray:
        """(costs, held-out rows): the class that a machine of each cost, fitted to `rows`, gives them."""
        gamma = self.gamma(rows)
        train, shown = (np.exp(-gamma * self.distances[np.ix_(part, rows)]) for part in (rows, held))
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
