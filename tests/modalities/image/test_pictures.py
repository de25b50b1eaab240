"""What is kept of the test images to draw them."""

import numpy as np
import pytest

from clrepro.evaluation import plane
from clrepro.modalities import evaluations
from clrepro.modalities.image import pictures
from clrepro.modalities.image.probes import Features
from tests.evaluation.features import noisy


def test_pictures_keep_what_is_shown_of_the_drawn_test_images():
    rows, labels = noisy(1203, classes=5, width=6)
    features = Features(rows[:3], labels[:3], rows[3:], labels[3:])
    found = pictures.arrays("spectrum", features)
    drawn = np.sort(np.random.default_rng(0).permutation(1200)[:1000])
    tested, classes = rows[3:][drawn].astype(float), labels[3:][drawn]
    assert found["singular_value"] == pytest.approx(np.linalg.svd(tested, compute_uv=False), rel=1e-4)
    ordered = tested[np.argsort(classes, kind="stable")]
    unit = ordered / np.linalg.norm(ordered, axis=1, keepdims=True)
    square = (unit @ unit.T).reshape(50, 20, 50, 20).mean((1, 3))  # 1,000 rows as 50 blocks of 20
    assert found["affinity"] == pytest.approx(square.ravel(), abs=1e-4)
    assert pictures.blocks(np.arange(9.0).reshape(3, 3), 2).tolist() == [[2, 3.5], [6.5, 8]]
    assert pictures.blocks(np.eye(2), 50).tolist() == [[1, 0], [0, 1]]

    few = Features(rows[:3], labels[:3], rows[3:103], labels[3:103])
    found = pictures.arrays("places", few)
    assert found["class"] == labels[3:103].tolist()
    assert list(zip(found["x"], found["y"], strict=True)) == [
        pytest.approx(at, rel=1e-4) for at in plane.places(few.test)
    ]
    told = plane.central_separability(np.array(found["x"]), np.array(found["y"]), labels[3:103])
    assert pictures.rows("places", found) == [["places", "test", "central_separability", pytest.approx(told)]]
    assert pictures.rows("places", {}) == pictures.rows("spectrum", found) == []
    diverged = Features(rows[:3], labels[:3], np.full((4, 2), np.nan), labels[:4])
    assert pictures.arrays("spectrum", diverged) == pictures.arrays("places", diverged) == {}
    named = {kind: one.arrays for kind, one in evaluations().items() if one.arrays}
    assert {kind: tuple(picture(few)) for kind, picture in pictures.PICTURES.items()} == named
