"""Measures of collapse on known shapes."""

import itertools
import math

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.evaluation import collapse
from tests.evaluation.features import noisy


def test_variance_and_rank_of_known_shapes():
    rng = np.random.default_rng(0)
    line = np.outer(rng.normal(size=200), rng.normal(size=8))
    on_line = collapse.statistics(line)
    assert on_line["rank_of_squares_raw"] == on_line["rank_of_values_unit"] == 1
    assert on_line["variance_raw"] == pytest.approx(np.cov(line.T, bias=True).trace())
    point = collapse.statistics(np.tile(rng.normal(size=8), (50, 1)))
    assert point["variance_raw"] == pytest.approx(0, abs=1e-12)
    assert point["variance_unit"] == pytest.approx(0, abs=1e-12)
    cloud = rng.normal(size=(60, 8)) + 1
    unit = cloud / np.linalg.norm(cloud, axis=1, keepdims=True)
    assert collapse.statistics(cloud)["variance_unit"] == pytest.approx(1 - np.linalg.norm(unit.mean(0)) ** 2)
    assert set(map(math.isnan, collapse.statistics(np.full((3, 2), np.nan)).values())) == {True}


def test_effective_rank_counts_squares_or_values():
    left, right = (np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 3)))[0] for seed in (0, 1))
    values = collapse.singular_values(left @ np.diag([5.0, 1.0, 1.0]) @ right.T)
    assert values[:3] == pytest.approx([5, 1, 1])
    assert collapse.effective_rank(values) == 2  # 26 of 27
    assert collapse.effective_rank(values, power=1) == 3  # 6 of 7 are too few
    found = collapse.statistics(left @ np.diag([5.0, 1.0, 1.0]) @ right.T)
    assert (found["rank_of_squares_raw"], found["rank_of_values_raw"]) == (2, 3)
    assert collapse.effective_rank(np.ones(20)) == 19  # 19 of 20 are 95 %
    assert collapse.effective_rank(np.full(100, 0.3)) == 95  # which rounding misses
    assert collapse.effective_rank(np.zeros(4)) == 0
    with pytest.raises(UserError, match="1 of 3 embeddings are not finite"):
        collapse.singular_values(np.array([[1.0, 2], [np.inf, 0], [0, 1]]))


def test_affinity_is_ordered_by_class_and_samples_do_not_repeat():
    rows, labels = noisy(30)
    cosines, ordered = collapse.affinity(rows, labels)
    order = sorted(range(30), key=lambda i: (labels[i], i))
    assert ordered.tolist() == [labels[i] for i in order]
    for i, j in itertools.product(range(0, 30, 7), range(30)):
        a, b = rows[order[i]].astype(float), rows[order[j]].astype(float)
        assert cosines[i, j] == pytest.approx(a @ b / math.sqrt((a @ a) * (b @ b)))
    drawn = collapse.sample(5000, seed=1)
    assert len(set(drawn.tolist())) == len(drawn) == 1000
    assert drawn.tolist() == collapse.sample(5000, seed=1).tolist() != collapse.sample(5000, seed=2).tolist()
    assert collapse.sample(7).tolist() == list(range(7))


def test_the_class_contrast_is_that_of_all_pairs():
    rows, labels = noisy(40, classes=3, width=5)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = {same: [] for same in (True, False)}
    for i, j in itertools.permutations(range(40), 2):
        pairs[labels[i] == labels[j]].append(float(unit[i] @ unit[j]))
    assert collapse.class_contrast(rows, labels) == pytest.approx(np.mean(pairs[True]) - np.mean(pairs[False]))
    anchors = np.eye(4)[[0, 1, 2, 3, 0, 1, 2, 3]] * np.arange(1, 9)[:, None]
    assert collapse.class_contrast(anchors, [0, 1, 2, 3] * 2) == pytest.approx(1)
    assert collapse.class_contrast(np.ones((8, 4)), [0, 1, 2, 3] * 2) == pytest.approx(0, abs=1e-12)
    assert math.isnan(collapse.class_contrast(np.full((8, 4), np.nan), [0, 1, 2, 3] * 2))
