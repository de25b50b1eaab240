"""SentEval's transfer tasks on stored embeddings: every fold and every L2 strength, as SimCSE's fork computes them.

The folds of a task are independent problems on one feature matrix; threads take them one by one, and each trains all
strengths at once (see ``classifier``). Development accuracy is what chose the strength, test accuracy what the papers
report; both are kept apart.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from tqdm import tqdm

from clrepro import threads
from clrepro.errors import UserError
from clrepro.evaluation.senteval.classifier import STRENGTHS, Fit, Shuffles, fit, initial_weights, predict
from clrepro.evaluation.senteval.files import TRANSFER_TASKS, Labelled, load_regression, load_transfer
from clrepro.evaluation.senteval.pairs import Pairs
from clrepro.evaluation.senteval.protocols import PROTOCOLS, SEED, Protocol
from clrepro.evaluation.senteval.relatedness import evaluate_relatedness
from clrepro.evaluation.senteval.sts import Row


class Problem(NamedTuple):
    """One training: rows of the task, the rows that stop it (None: 5 % of the others), and the strengths."""

    train: np.ndarray
    dev: np.ndarray | None
    strengths: tuple[float, ...] = STRENGTHS


def targets(part: Labelled | Pairs) -> list:
    return part.gold if isinstance(part, Pairs) else part.labels


def by_length(part: Labelled | Pairs) -> list[int]:
    """The order of the examples: by their lengths in tokens, then by label or score; ties as in the file."""
    sides = [side for side in (part.first, part.second) if side is not None]
    keys = list(zip(*([len(text.split()) for text in side] for side in sides), targets(part), strict=True))
    return sorted(range(len(keys)), key=keys.__getitem__)


def features(part: Labelled | Pairs, vectors: np.ndarray, rows: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings (n, D), or for pairs [|a - b|, a * b] (n, 2D), float32, and labels (n,), sorted by length."""
    order = by_length(part)
    first = vectors[[rows[part.first[place]] for place in order]]
    labels = np.asarray(targets(part))[order]
    if part.second is None:
        return first, labels
    second = vectors[[rows[part.second[place]] for place in order]]
    return np.hstack([np.abs(first - second), first * second]), labels


def rows_of(vectors: np.ndarray, sentences: list[str]) -> dict[str, int]:
    """{sentence: its row}; UserError where an embedding is not finite."""
    if not np.isfinite(vectors).all():
        row = int((~np.isfinite(vectors)).any(1).nonzero()[0][0])
        raise UserError(f"the embedding of '{sentences[row][:60]}' is not finite: the encoder is broken")
    return {sentence: row for row, sentence in enumerate(sentences)}


def folds_of(y: np.ndarray, count: int, rows: np.ndarray, seed: int = SEED) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified, shuffled folds of these rows: [(train, held out)], as rows of the task."""
    try:
        splits = list(StratifiedKFold(count, shuffle=True, random_state=seed).split(rows, y[rows]))
    except ValueError as failure:
        raise UserError(f"{len(rows)} examples cannot be cut into {count} folds: {failure}") from None
    return [(rows[train], rows[held]) for train, held in splits]


def mean_percent(values: Sequence[float], scale: float = 1) -> float:
    """The mean with two decimals, rounded as the reference rounds means: NumPy's way, which is not always Python's."""
    return float(np.round(scale * np.mean(values), 2))


class Task:
    """A task's features (N, D), labels (N,) and what all its trainings share."""

    def __init__(self, x: np.ndarray, y: np.ndarray, protocol: str | Protocol, title: str = "", device: str = "cpu"):
        self.device = device
        self.x, self.y = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(y, np.int64)
        self.protocol = PROTOCOLS[protocol] if isinstance(protocol, str) else protocol
        self.title = title
        self.shuffles = Shuffles(self.protocol)
        self.initial = initial_weights(x.shape[1], int(y.max()) + 1, self.protocol.seed)

    def solve(self, problems: list[Problem]) -> list[Fit]:
        """Train all problems: on the CPU a thread each, on another device all together."""
        rows = [self.shuffles.rows(train, dev) for train, dev, _ in problems]  # drawn here: threads only read
        if self.device != "cpu":
            import torch

            from clrepro.evaluation.senteval.batched import fit_together

            trains, devs, orders = zip(*rows, strict=True)
            strengths = np.array([problem.strengths for problem in problems])
            device = torch.device(self.device)
            return fit_together(self.x, self.y, trains, devs, orders, strengths, self.initial, self.protocol, device)

        def work(place: int) -> Fit:
            train, dev, strengths = problems[place]
            return fit(self.x, self.y, train, dev, self.initial, self.shuffles, strengths)

        with ThreadPoolExecutor(threads.count()) as pool:
            fits = pool.map(work, range(len(problems)))
            hidden = None if self.title else True
            return list(tqdm(fits, self.title, len(problems), unit="fit", leave=False, disable=hidden))

    def choose(self, fits: list[Fit]) -> tuple[float, float]:
        """(strength, accuracy): of the best mean accuracy, in percent, over folds; of equals the weakest strength."""
        means = [mean_percent(accuracies, 100) for accuracies in zip(*(one.accuracy for one in fits), strict=True)]
        return STRENGTHS[int(np.argmax(means))], max(means)

    def predict(self, found: Fit, rows: np.ndarray) -> np.ndarray:
        return predict(self.x, rows, found.weights[0], found.biases[0])

    def accuracy(self, found: Fit, rows: np.ndarray) -> float:
        return round(100 * float((self.predict(found, rows) == self.y[rows]).mean()), 2)


def nested(task: Task, outer: Sequence[int] | None = None) -> dict[str, float]:
    """MR, CR, SUBJ, MPQA: outer folds are tested, inner ones choose their strength. {dev, test} in percent.

    Whatever the protocol's seed, these folds are those of seed 1111, as in the reference. outer: only these outer
    folds, for benchmarks.
    """
    folds = folds_of(task.y, task.protocol.folds, np.arange(len(task.y)))
    folds = [folds[number] for number in outer] if outer is not None else folds
    inner = [[Problem(*pair) for pair in folds_of(task.y, task.protocol.folds, train)] for train, _ in folds]
    fits = iter(task.solve([problem for problems in inner for problem in problems]))
    chosen = [task.choose([next(fits) for _ in problems]) for problems in inner]
    refits = task.solve(
        [Problem(train, None, (strength,)) for (train, _), (strength, _) in zip(folds, chosen, strict=True)]
    )
    tests = [task.accuracy(found, held) for found, (_, held) in zip(refits, folds, strict=True)]
    return {"dev": mean_percent([accuracy for _, accuracy in chosen]), "test": mean_percent(tests)}


def with_test(task: Task, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """TREC, MRPC: folds of the training rows choose the strength. {dev, test, f1} in percent."""
    folds = folds_of(task.y, task.protocol.folds, train, task.protocol.seed)
    fits = task.solve([Problem(*pair) for pair in folds])
    strength, dev = task.choose(fits)
    (refit,) = task.solve([Problem(train, None, (strength,))])
    found = {"dev": dev, "test": task.accuracy(refit, test)}
    if task.y.max() == 1:
        found["f1"] = round(100 * float(f1_score(task.y[test], task.predict(refit, test))), 2)
    return found


def with_dev(task: Task, train: np.ndarray, dev: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """SST2: the official development rows stop every training and choose the strength. {dev, test} in percent.

    The reference trains the chosen strength once more, from the same seed and to the same weights.
    """
    (found,) = task.solve([Problem(train, dev)])
    accuracies = [round(100 * float(accuracy), 2) for accuracy in found.accuracy]
    best = int(np.argmax(accuracies))
    chosen = Fit(*(part[best : best + 1] for part in (found.accuracy, found.weights, found.biases, found.rounds)))
    return {"dev": accuracies[best], "test": task.accuracy(chosen, test)}


def evaluate_transfer(
    vectors: np.ndarray,
    sentences: list[str],
    root: Path,
    protocol: str | Protocol,
    tasks: tuple[str, ...] = TRANSFER_TASKS,
    device: str = "cpu",
) -> list[Row]:
    """Accuracies in percent, dev (what chose the strength) and test, of the tasks; MRPC also test f1.

    vectors: (n, D), a row a sentence. protocol: "test" (10 folds, Adam), "fast" (5 folds, RMSprop), or one of one's
    own. Raises UserError for embeddings that are not finite.
    """
    rows = rows_of(vectors, sentences)
    found: list[Row] = []
    for name in tasks:
        parts = {split: features(part, vectors, rows) for split, part in load_transfer(root, name).items()}
        x, y = (np.concatenate(side) for side in zip(*parts.values(), strict=True))
        task = Task(x, y, protocol, name, device)
        ends = np.cumsum([len(labels) for _, labels in parts.values()])
        places = {split: np.arange(end - len(parts[split][1]), end) for split, end in zip(parts, ends, strict=True)}
        form = nested if "all" in parts else with_dev if "dev" in parts else with_test
        scores = form(task) if form is nested else form(task, **places)
        found += [(name, split, "accuracy", scores[split]) for split in ("dev", "test")]
        if "f1" in scores:
            found.append((name, "test", "f1", scores["f1"]))
    return found


def evaluate_relatedness_tasks(
    vectors: np.ndarray, sentences: list[str], root: Path, tasks: tuple[str, ...]
) -> list[Row]:
    """Correlations, -1 to 1, of the trained regressor: dev spearman (what stopped it), test spearman and pearson."""
    rows = rows_of(vectors, sentences)
    found: list[Row] = []
    for name in tasks:
        parts = {split: features(part, vectors, rows) for split, part in load_regression(root, name).items()}
        scores = evaluate_relatedness(**parts)
        found += [(name, "dev", "spearman", scores["dev"])]
        found += [(name, "test", metric, scores[metric]) for metric in ("spearman", "pearson")]
    return found
