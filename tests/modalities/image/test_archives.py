"""Archives of images: a zip of JPEGs; what is vast or runs code is refused."""

import io
import pickle
import struct
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.modalities.image import archives, image_sets
from tests.harmful import member, touching
from tests.modalities.image.drawn import jpeg

# Image sets


def test_cifar_from_a_zip_of_jpegs(monkeypatch, tmp_path):
    monkeypatch.setattr(archives, "JPEG_COUNTS", {"train": 11, "test": 1})
    content = {
        f"{split}/{name}/{index:04d}.jpg": jpeg((20 * label, 20 * index, 200 if split == "test" else 0))
        for split, count in archives.JPEG_COUNTS.items()
        for label, name in enumerate(archives.JPEG_CLASSES)
        for index in reversed(range(count))
    }

    def build(members):
        with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
            for name, raw in members.items():
                archive.writestr(name, raw)
        return tmp_path / "set.zip"

    image_sets.prepare(build(content), "cifar-jpeg-zip", tmp_path / "out")
    train = image_sets.load(tmp_path / "out" / "train")
    expected = np.array([[20 * label, 20 * index, 0] for label in range(10) for index in range(11)])
    assert np.abs(train.images.mean((2, 3)) - expected).max() < 3
    assert train.labels.tolist() == [label for label in range(10) for _ in range(11)]
    assert train.classes == sorted(train.classes)
    assert image_sets.load(tmp_path / "out" / "test").images[:, 2].min() > 190

    first = "train/cat/0003.jpg"
    for broken, message in (
        ({name: raw for name, raw in content.items() if name != first}, "train/cat has 10 images, expected 11"),
        ({**content, "train/cat/0011.jpg": jpeg((0, 0, 0))}, "has 12 images"),
        ({**content, first: content[first][:300]}, "train/cat/0003.jpg is not a complete JPEG"),
        ({**content, first: jpeg((0, 0, 0), (33, 32))}, "33 x 32 pixels"),
        ({**content, "train/cow/0000.jpg": b""}, "'train/cow/0000.jpg' is not"),
    ):
        with pytest.raises(UserError, match=message):
            image_sets.prepare(build(broken), "cifar-jpeg-zip", tmp_path / "broken")
    raw = build(content).read_bytes()
    (tmp_path / "set.zip").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(UserError, match="not a complete zip"):
        image_sets.prepare(tmp_path / "set.zip", "cifar-jpeg-zip", tmp_path / "broken")


# archives


def test_vast_members_of_image_archives_are_not_read_into_memory(tmp_path):
    (tmp_path / "cifar.tar").write_bytes(member("cifar-10-batches-py/batches.meta", size=1 << 40).tobuf())
    with pytest.raises(UserError, match="has 1,099,511,627,776 bytes, far too many"):
        list(archives.cifar_archive("cifar10", tmp_path / "cifar.tar"))
    with zipfile.ZipFile(tmp_path / "cifar.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train/cat/0.jpg", bytes(10 << 20))
    with pytest.raises(UserError, match="has 10,485,760 bytes, which no such picture has"):
        list(archives.jpeg_zip(tmp_path / "cifar.zip"))


def test_a_picture_that_says_it_is_vast_is_not_decoded(tmp_path):
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, 60_000, 60_000, 3) + b"\1\x11\0\2\x11\0\3\x11\0"
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("train/cat/0.jpg", b"\xff\xd8" + frame)
    with zipfile.ZipFile(tmp_path / "one.zip") as archive, pytest.raises(UserError, match="60000|exceeds limit"):
        archives.decode_member(archive, "train/cat/0.jpg", tmp_path / "one.zip")


# pickles


@pytest.mark.parametrize("door", touching(""))
def test_a_pickle_in_an_image_archive_runs_no_code(tmp_path, monkeypatch, door):
    monkeypatch.chdir(tmp_path)
    harmful = touching("ran")[door]
    with suppress(TypeError):  # it does its harm where pickles are trusted, or the test would show nothing
        pickle.loads(harmful)
    assert Path("ran").exists()
    Path("ran").unlink()
    with tarfile.open("cifar-10-python.tar.gz", "w:gz") as archive:
        for name in ["batches.meta", "test_batch", *(f"data_batch_{number}" for number in range(1, 6))]:
            archive.addfile(member(f"cifar-10-batches-py/{name}", size=len(harmful)), io.BytesIO(harmful))
    with pytest.raises(UserError, match="which no image archive needs"):
        list(archives.cifar_archive("cifar10", Path("cifar-10-python.tar.gz")))
    assert not Path("ran").exists()
