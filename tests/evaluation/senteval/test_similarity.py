"""Cosines and Spearman's correlation."""

import numpy as np
import pytest
from scipy import stats

from clrepro.evaluation.senteval import pairs
from clrepro.evaluation.senteval.pairs import Pairs
from clrepro.evaluation.senteval.similarity import cosines, spearman


def test_spearman_shares_ranks_among_ties_and_gives_0_for_constants():
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: Pearson of ranks by hand
    assert spearman(np.array([1, 2, 2, 3]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert spearman(np.ones(4), np.arange(4)) == 0


def test_cosines_in_float64_and_0_for_a_zero_vector():
    vectors = np.array([[3, 4], [4, 3], [0, 0]], np.float32)
    pairs = Pairs(["a", "a"], ["b", "c"], [1.0, 2.0])
    found = cosines(vectors, {"a": 0, "b": 1, "c": 2}, pairs)
    assert found.dtype == np.float64
    assert found.tolist() == [0.96, 0.0]


def test_spearman_is_scipys_with_and_without_ties():
    rng = np.random.default_rng(0)
    for size in (2, 3, 17, 400, 3000):
        for digits in (0, 1, 8):
            x = np.append(rng.normal(size=size).round(digits), [9, 9.5])
            y = np.append((x[:-2] + rng.normal(size=size)).round(digits), [7, 7.25])
            assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_equal_and_mirrored_pairs_tie_exactly():
    vectors = np.random.default_rng(0).normal(size=(500, 37)).astype(np.float32)
    names = [str(number) for number in range(500)]
    rows = {name: row for row, name in enumerate(names)}
    gold = [0.0] * 500
    assert (cosines(vectors, rows, pairs.Pairs(names, names, gold)) == 1).all()
    turned = names[::-1]
    one, other = (cosines(vectors, rows, pairs.Pairs(a, b, gold)) for a, b in ((names, turned), (turned, names)))
    assert (one == other).all()
