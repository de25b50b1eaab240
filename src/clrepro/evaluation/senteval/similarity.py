"""Cosines of sentence pairs, and their correlations with gold scores."""

import numpy as np

from clrepro.errors import UserError
from clrepro.evaluation.senteval.pairs import Pairs


def cosines(vectors: np.ndarray, rows: dict[str, int], pairs: Pairs) -> np.ndarray:
    """a . b / sqrt(|a|^2 |b|^2) of every pair in float64, (n,); NaN (a zero vector) becomes 0, as in SentEval.

    vectors: (m, D), row rows[sentence] for each sentence. In this form two equal vectors have a cosine of exactly 1,
    so that pairs of equal sentences tie; SentEval's float32 program breaks such ties by rounding.
    """
    try:
        first, second = (
            vectors[[rows[sentence] for sentence in column]].astype(np.float64)
            for column in (pairs.first, pairs.second)
        )
    except KeyError as failure:
        raise UserError(
            f"no vector for the sentence {failure}: embed the sentences of the same tasks and splits "
            "(clrepro.evaluation.senteval.files.distinct_sentences)"
        ) from None
    # all three: (n,)
    products, one, two = (np.einsum("ij,ij->i", a, b) for a, b in ((first, second), (first, first), (second, second)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(products / np.sqrt(one * two), nan=0.0)


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's correlation in float64; 0 for constant input."""
    x, y = (np.asarray(values, np.float64) for values in (x, y))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties sharing their mean rank, (n,) float64."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation, Pearson's of the mean ranks; 0 for constant input."""
    return pearson(ranks(x), ranks(y))


def spearman_of_pairs(vectors: np.ndarray, rows: dict[str, int], pairs: Pairs) -> float:
    return spearman(cosines(vectors, rows, pairs), np.asarray(pairs.gold))
