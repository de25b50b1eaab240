"""Embeddings in the plane."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from clrepro.errors import UserError
from clrepro.evaluation import plane
from tests.evaluation.features import noisy


def test_separability_counts_neighbours_of_the_class_among_the_central_half_alone():
    # a line: the central half is 4 to 11; two classes, mixed in the middle and pure outside or the other way round
    x, y = np.arange(16.0), np.zeros(16)
    mixed = np.array([0] * 4 + [0, 1] * 4 + [1] * 4)
    nearest = {i: sorted((abs(i - j), j) for j in range(16) if j != i)[:2] for i in range(4, 12)}
    expected = np.mean([mixed[i] == mixed[j] for i, near in nearest.items() for _, j in near])
    assert plane.central_separability(x, y, mixed, neighbours=2) == pytest.approx(100 * expected)
    outside = np.array([0, 1] * 2 + [0] * 8 + [1, 0] * 2)
    assert plane.central_separability(x[2:14], y[2:14], outside[2:14], neighbours=1) == 100
    assert plane.central_separability(np.zeros(6), np.zeros(6), np.zeros(6)) == 100  # all at one place


def test_the_plane_keeps_neighbours_and_repeats_itself():
    rows, labels = noisy(120, classes=3, width=30, noise=0.3)
    first = plane.places(rows, seed=1, neighbours=10)
    assert np.array_equal(first, plane.places(rows, seed=1, neighbours=10))
    near = KNeighborsClassifier(3).fit(first, labels)
    assert near.score(first, labels) == 1
    assert np.isfinite(plane.places(rows[:4])).all()
    with pytest.raises(UserError, match="3 embeddings are too few"):
        plane.places(rows[:3])
    assert np.isfinite(plane.places(np.ones((20, 4)))).all()  # a collapsed encoder is a picture, too
