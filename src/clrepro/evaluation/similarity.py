"""Cosines of sentence pairs, and their rank correlation with gold scores."""

import numpy as np
from scipy import stats

from clrepro.data.pairs import Pairs


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
