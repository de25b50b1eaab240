"""Image sets that need no download."""

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.modalities.image import image_sets


def test_digits_are_scikit_learns_in_proportion(tmp_path):
    from sklearn.datasets import load_digits

    record = image_sets.prepare(None, "digits", tmp_path)
    train, test = image_sets.load(tmp_path / "train"), image_sets.load(tmp_path / "test")
    assert (train.images.shape, test.images.shape) == ((1297, 1, 8, 8), (500, 1, 8, 8))
    together = np.concatenate([train.images, test.images]).reshape(-1, 64)
    pixels, labels = load_digits(return_X_y=True)
    rows = {
        row.tobytes(): label for row, label in zip(np.round(pixels * 255 / 16).astype(np.uint8), labels, strict=True)
    }
    assert {row.tobytes(): label for row, label in zip(together, [*train.labels, *test.labels], strict=True)} == rows
    assert np.abs(np.bincount(test.labels) - np.bincount(labels) * 500 / 1797).max() < 1
    assert record["splits"]["test"]["files"]["labels.npy"]["shape"] == [500]
    assert image_sets.prepare(None, "digits", tmp_path) == record
    image_sets.verify(tmp_path / "train")
    with open(tmp_path / "train" / "images.npy", "r+b") as file:
        file.seek(-1, 2)
        file.write(b"\7")
    with pytest.raises(UserError, match="prepare"):
        image_sets.verify(tmp_path / "train")
    with pytest.raises(UserError, match="train, test"):
        image_sets.load(tmp_path)
