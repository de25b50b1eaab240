"""Semantic textual similarity: Spearman and Pearson correlation of cosines with gold scores."""

from pathlib import Path

import numpy as np

from clrepro.data.pairs import STS_SUBSETS, STS_TASKS, load_pairs, load_sts_subset
from clrepro.evaluation.similarity import cosines, spearman

Row = tuple[str, str, str, float]  # task, split, metric, value


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
