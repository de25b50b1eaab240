"""The transfer tasks with a plain logistic regression on frozen embeddings.

The folds are SentEval's (stratified, shuffled, seed 1111) and so is the choice of the L2 strength on held-out
parts of the training data; the classifier is scikit-learn's, trained to convergence, not SentEval's early-stopped
network. Every table that shows these numbers says so.
"""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from clrepro.data.senteval import TRANSFER_TASKS, Labelled, load_transfer
from clrepro.evaluation.sts import Row

FOLDS = {"fast": 5, "test": 10}
STRENGTHS = (0.01, 0.1, 1.0)  # scikit-learn's C, the inverse of the L2 strength
SEED = 1111


def features(part: Labelled, vectors: np.ndarray, rows: dict[str, int]) -> np.ndarray:
    """The embedding (n, D), or for pairs [|a - b|, a * b] (n, 2D), in float64."""
    first = vectors[[rows[sentence] for sentence in part.first]].astype(np.float64)
    if part.second is None:
        return first
    second = vectors[[rows[sentence] for sentence in part.second]].astype(np.float64)
    return np.hstack([np.abs(first - second), first * second])


def train(x: np.ndarray, y: np.ndarray, strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, solver="newton-cholesky", max_iter=50).fit(x, y)


def choose(x: np.ndarray, y: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """The C of the best mean accuracy over the folds (ties: the strongest regularisation), and that accuracy."""
    means = [
        float(np.mean([train(x[inner], y[inner], c).score(x[held], y[held]) for inner, held in folds]))
        for c in STRENGTHS
    ]
    best = int(np.argmax(means))
    return STRENGTHS[best], means[best]


def split(y: np.ndarray, folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(StratifiedKFold(folds, shuffle=True, random_state=SEED).split(np.zeros(len(y)), y))


def evaluate_transfer(
    vectors: np.ndarray,
    sentences: list[str],
    root: Path,
    protocol: str,
    tasks: tuple[str, ...] = TRANSFER_TASKS,
) -> list[Row]:
    """Accuracies in percent on dev (what chose the regularisation) and test; MRPC also test f1.

    MR, CR, SUBJ, MPQA: outer folds, C chosen in each on one inner fold. TREC, MRPC: C by folds of the training
    set, then the official test set. SST2: C on the official dev set.
    """
    rows = {sentence: row for row, sentence in enumerate(sentences)}
    folds = FOLDS[protocol]
    found: list[Row] = []
    for task in tasks:
        parts = load_transfer(root, task)
        x = {name: features(part, vectors, rows) for name, part in parts.items()}
        y = {name: np.asarray(part.labels) for name, part in parts.items()}
        if "all" in parts:
            dev, test = [], []
            for outer, held in split(y["all"], folds):
                inner = split(y["all"][outer], folds)[:1]
                strength, accuracy = choose(x["all"][outer], y["all"][outer], inner)
                dev.append(accuracy)
                test.append(train(x["all"][outer], y["all"][outer], strength).score(x["all"][held], y["all"][held]))
            found += [(task, "dev", "accuracy", 100 * float(np.mean(dev)))]
            found += [(task, "test", "accuracy", 100 * float(np.mean(test)))]
            continue
        if "dev" in parts:
            size = len(y["train"])
            both_x, both_y = np.vstack([x["train"], x["dev"]]), np.concatenate([y["train"], y["dev"]])
            official = (np.arange(size), np.arange(size, len(both_y)))
            strength, accuracy = choose(both_x, both_y, [official])
        else:
            strength, accuracy = choose(x["train"], y["train"], split(y["train"], folds))
        model = train(x["train"], y["train"], strength)
        found += [(task, "dev", "accuracy", 100 * accuracy)]
        found += [(task, "test", "accuracy", 100 * model.score(x["test"], y["test"]))]
        if task == "MRPC":
            found += [(task, "test", "f1", 100 * float(f1_score(y["test"], model.predict(x["test"]))))]
    return found
