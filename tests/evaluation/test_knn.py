"""kNN against scikit-learn and a plain loop."""

import itertools
import math

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from clrepro.errors import UserError
from clrepro.evaluation import knn
from tests.evaluation.features import noisy


@pytest.mark.parametrize("k", [1, 2, 20, 200])
@pytest.mark.parametrize("weighting", ["plain", "weighted"])
def test_knn_is_scikit_learns(k, weighting):
    train, train_labels = noisy(300, seed=1)
    test, test_labels = noisy(400, seed=2)
    weights = {"plain": "uniform", "weighted": lambda distances: np.exp((1 - distances) / 0.1)}[weighting]
    theirs = KNeighborsClassifier(k, weights=weights, metric="cosine", algorithm="brute").fit(train, train_labels)
    ours = knn.evaluate(train, train_labels, test, test_labels, k, weighting)
    assert ours["top1"] == pytest.approx(100 * theirs.score(test, test_labels), abs=1e-9)
    assert 30 < ours["top1"] < 90  # neither guessing nor trivial
    highest = np.argsort(-theirs.predict_proba(test), axis=1, kind="stable")[:, :5]
    assert ours["top5"] == pytest.approx(100 * (highest == test_labels[:, None]).any(1).mean(), abs=1e-9)


@pytest.mark.parametrize("weighting", ["plain", "weighted"])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_knn_ties_are_broken_as_documented_whatever_the_block(k, weighting):
    rng = np.random.default_rng(k)
    corners = np.array(list(itertools.product([-1, 1], repeat=4)), np.float32)  # cosines are exact multiples of 1/2
    train, test = corners[rng.integers(0, 16, 90)], corners[rng.integers(0, 16, 120)]
    train_labels, test_labels = rng.integers(0, 4, 90), rng.integers(0, 4, 120)
    right = 0
    for row, label in zip(test, test_labels, strict=True):
        cosines = [float(row @ other) / 4 for other in train]
        nearest = sorted(range(90), key=lambda i: (-cosines[i], i))[:k]
        weight = {i: math.exp(cosines[i] / 0.1) if weighting == "weighted" else 1.0 for i in nearest}
        votes = [math.fsum(weight[i] for i in nearest if train_labels[i] == c) for c in range(4)]
        right += votes.index(max(votes)) == label
    for block in (1, 50, 1000):
        found = knn.evaluate(train, train_labels, test, test_labels, k, weighting, block=block)["top1"]
        assert found == pytest.approx(100 * right / 120)


def test_knn_of_diverged_or_collapsed_features():
    labels = np.array([1] * 5 + [0] * 5)
    nothing = np.full((10, 3), np.nan, np.float32)
    for weighting in ("plain", "weighted"):
        assert knn.evaluate(nothing, labels, nothing, labels, 3, weighting)["top1"] == 0
        # all equally near: the first three, which are of class 1
        assert knn.evaluate(np.ones((10, 3)), labels, np.ones((4, 3)), [1, 1, 1, 0], 3, weighting)["top1"] == 75


def test_knn_refuses_what_it_cannot_do():
    train, labels = noisy(20)
    with pytest.raises(UserError, match="k = 21 neighbours of 20"):
        knn.evaluate(train, labels, train, labels, 21)
    with pytest.raises(UserError, match="unknown weighting 'weigthed' in kNN. Did you mean weighted"):
        knn.evaluate(train, labels, train, labels, 5, "weigthed")
    with pytest.raises(UserError, match="do not go with labels"):
        knn.evaluate(train, labels[:-1], train, labels, 5)
    with pytest.raises(UserError, match="train labels hold -1"):
        knn.evaluate(train, labels - 1, train, labels, 5)
