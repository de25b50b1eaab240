"""Semantic textual similarity: Spearman and Pearson correlation of cosines with gold scores, as SimCSE's fork."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.evaluation.senteval.pairs import STS_SUBSETS, STS_TASKS, load_pairs, load_sts_subset
from clrepro.evaluation.senteval.similarity import cosines, pearson, spearman

Row = tuple[str, str, str, float]  # task, split, metric, value
# (task, split, subset) -> cosines (n,), gold scores (n,), in the order of the file; subset "" where there is none
Similarities = dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]]


def similarities(
    vectors: np.ndarray,
    sentences: list[str],
    root: Path,
    tasks: Sequence[str] = STS_TASKS,
    splits: Sequence[str] = ("dev", "test"),
) -> Similarities:
    """Cosine and gold score of every pair: what all correlations are made of, and worth saving.

    vectors: (n, D), row i for sentences[i]. splits: those of STSBenchmark and SICKRelatedness, of train, dev, test.
    """
    if len(vectors) != len(sentences):
        raise UserError(f"{len(vectors)} vectors for {len(sentences)} sentences, expected one for each")
    rows = {sentence: row for row, sentence in enumerate(sentences)}
    parts = {}
    for task in tasks:
        if task in STS_SUBSETS:
            parts |= {(task, "test", subset): load_sts_subset(root, task, subset) for subset in STS_SUBSETS[task]}
        else:
            parts |= {(task, split, ""): load_pairs(root, task, split) for split in splits}
    return {key: (cosines(vectors, rows, pairs), np.asarray(pairs.gold)) for key, pairs in parts.items()}


def correlations(found: Similarities) -> list[Row]:
    """The correlations of `similarities`, -1 to 1; the metrics stand in `evaluate_sts`."""
    groups: dict[tuple[str, str], dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    for (task, split, subset), arrays in found.items():
        groups.setdefault((task, split), {})[subset] = arrays
    table: list[Row] = []
    for (task, split), subsets in groups.items():
        for metric, correlate in (("spearman", spearman), ("pearson", pearson)):
            values = {subset: correlate(*arrays) for subset, arrays in subsets.items()}
            if task not in STS_SUBSETS:
                table.append((task, split, metric, values[""]))
                continue
            table += [(task, split, f"{metric}:{subset}", value) for subset, value in values.items()]
            sizes = [len(gold) for _, gold in subsets.values()]
            # both: (pairs of all subsets,)
            similarity, gold = (np.concatenate(column) for column in zip(*subsets.values(), strict=True))
            table += [
                (task, split, f"{metric}_all", correlate(similarity, gold)),
                (task, split, f"{metric}_mean", float(np.mean(list(values.values())))),
                (task, split, f"{metric}_wmean", float(np.average(list(values.values()), weights=sizes))),
            ]
    return table


def evaluate_sts(
    vectors: np.ndarray,
    sentences: list[str],
    root: Path,
    tasks: Sequence[str] = STS_TASKS,
    splits: Sequence[str] = ("dev", "test"),
) -> list[Row]:
    """All correlations of the STS tasks, unsupervised.

    STS12-16, split test, for spearman and pearson alike: spearman:<subset>; spearman_all, all subsets concatenated
    (the papers' setting); spearman_mean, the mean over subsets; spearman_wmean, the same weighted by their sizes.
    STSBenchmark, SICKRelatedness, the given splits: spearman, pearson. Constant cosines correlate 0.
    """
    return correlations(similarities(vectors, sentences, root, tasks, splits))
