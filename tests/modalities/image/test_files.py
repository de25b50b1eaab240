"""Folders of photographs."""

import pickle

import numpy as np
import pytest
from PIL import Image

from clrepro.errors import UserError
from clrepro.modalities.image import files, image_sets


@pytest.fixture
def folders(tmp_path):
    """train and val of classes b, a, c, two and one images each, of different sizes; left half red, right half blue."""
    for split, count in (("train", 2), ("val", 1)):
        for name in "bac":
            for number in range(count):
                picture = Image.new("RGB", (60 + 20 * number, 40), (250, 0, 0))
                picture.paste((0, 0, 250), (picture.width // 2, 0, picture.width, 40))
                place = tmp_path / "source" / split / name / f"{number}.JPEG"
                place.parent.mkdir(parents=True, exist_ok=True)
                picture.save(place, "JPEG", quality=95, subsampling=0)
    return tmp_path / "source"


def test_photographs_are_indexed_and_decoded_on_access(folders, tmp_path):
    record = image_sets.prepare(folders, "image-folder", tmp_path / "out", side=16, counts={"train": 6})
    assert record["splits"]["test"]["examples"] == 3
    train = image_sets.load(tmp_path / "out" / "train")
    assert train.classes == ["a", "b", "c"]
    assert train.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert train.sizes.tolist() == [[40, 60], [40, 80]] * 3
    assert train.images.shape == (6, 3, 16, 16)
    batch = train.images[np.array([5, 0])]
    assert batch.dtype == np.uint8
    # nothing is cut off: red to the left, blue to the right
    assert batch[:, 0, :, :6].min() > 240
    assert batch[:, 2, :, 10:].min() > 240
    assert np.array_equal(train.images[5], batch[0])
    assert np.array_equal(pickle.loads(pickle.dumps(train)).images[4:][1], batch[0])
    subset = image_sets.prepare(folders, "image-folder", tmp_path / "subset", class_ids=["c", "a"], counts={"test": 2})
    assert subset["splits"]["train"]["classes"] == ["a", "c"]
    (folders / "train" / "a" / "0.JPEG").unlink()
    with pytest.raises(UserError, match=r"0\.JPEG cannot be decoded"):
        train.images[0]


def test_incomplete_folders_are_refused(folders, tmp_path):
    def refused(message, **settings):
        with pytest.raises(UserError, match=message):
            image_sets.prepare(folders, "image-folder", tmp_path / "out", **settings)

    refused("6 images in 3 classes, expected 7", counts={"train": 7})
    refused("lacks 1 of 2 classes, the first is d", class_ids=["a", "d"])
    truncated = folders / "val" / "a" / "0.JPEG"
    truncated.write_bytes(truncated.read_bytes()[:10])
    refused(r"val/a/0\.JPEG is not an image")
    truncated.unlink()
    refused("val/a holds no image")
    (folders / "val" / "x").mkdir()
    refused("class x, which the split train has not")
    with pytest.raises(UserError, match="does not exist; fetch it first"):
        image_sets.prepare(tmp_path / "nowhere", "image-folder", tmp_path / "out")
    with pytest.raises(UserError, match="no folder train"):
        image_sets.prepare(tmp_path, "image-folder", tmp_path / "out")


def test_imagenet100_is_a_hundred_ids():
    ids = files.imagenet100()
    assert len(set(ids)) == 100
    assert ids == sorted(ids)
    assert all(name[0] == "n" and len(name) == 9 and name[1:].isdigit() for name in ids)
