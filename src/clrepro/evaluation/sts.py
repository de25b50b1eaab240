"""Semantic textual similarity: Spearman and Pearson correlation of cosines with gold scores."""

from pathlib import Path

import numpy as np
from scipy import stats

from clrepro.data.senteval import STS_SUBSETS, STS_TASKS, Pairs, load_pairs, load_sts_subset

Row = tuple[str, str, str, float]  # task, split, metric, value


def cosines(vectors: np.ndarray, rows: dict[str, int], pairs: Pairs) -> np.ndarray:
    """Cosine of every pair in float64, (n,); 0 for a zero vector, as SentEval."""
    first = vectors[[rows[sentence] for sentence in pairs.first]].astype(np.float64)
    second = vectors[[rows[sentence] for sentence in pairs.second]].astype(np.float64)
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.divide((first * second).sum(1), norms, out=np.zeros(len(norms)), where=norms > 0)


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation, ties sharing their mean rank; 0 for constant input."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(stats.spearmanr(x, y).statistic)


def spearman_of_pairs(vectors: np.ndarray, rows: dict[str, int], pairs: Pairs) -> float:
    return spearman(cosines(vectors, rows, pairs), np.asarray(pairs.gold))


def evaluate_sts(
    vectors: np.ndarray, sentences: list[str], root: Path, tasks: tuple[str, ...] = STS_TASKS
) -> list[Row]:
    """All correlations of the STS tasks.

    STS12-16, split test: spearman:<subset>, spearman_all (subsets concatenated: the papers' setting),
    spearman_mean and spearman_wmean (weighted by size). STSBenchmark, SICKRelatedness, splits dev and test:
    spearman, pearson, unsupervised. Values are correlations, -1 to 1.
    """
    rows = {sentence: row for row, sentence in enumerate(sentences)}
    found: list[Row] = []
    for task in tasks:
        if task in STS_SUBSETS:
            parts = {subset: load_sts_subset(root, task, subset) for subset in STS_SUBSETS[task]}
            similarity = {subset: cosines(vectors, rows, pairs) for subset, pairs in parts.items()}
            scores = {subset: spearman(similarity[subset], np.asarray(parts[subset].gold)) for subset in parts}
            found += [(task, "test", f"spearman:{subset}", value) for subset, value in scores.items()]
            gold = np.concatenate([pairs.gold for pairs in parts.values()])
            every = spearman(np.concatenate(list(similarity.values())), gold)
            sizes = [len(pairs.gold) for pairs in parts.values()]
            found += [
                (task, "test", "spearman_all", every),
                (task, "test", "spearman_mean", float(np.mean(list(scores.values())))),
                (task, "test", "spearman_wmean", float(np.average(list(scores.values()), weights=sizes))),
            ]
            continue
        for split in ("dev", "test"):
            pairs = load_pairs(root, task, split)
            similarity = cosines(vectors, rows, pairs)
            pearson = float(np.corrcoef(similarity, pairs.gold)[0, 1]) if np.ptp(similarity) else 0.0
            found += [
                (task, split, "spearman", spearman(similarity, np.asarray(pairs.gold))),
                (task, split, "pearson", pearson),
            ]
    return found
