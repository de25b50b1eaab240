"""A small image set of JPEG files, and which of them are decoded."""

from collections import Counter
from pathlib import Path

import pytest

from clrepro.modalities.image import files, image_sets
from tests.standins import write_imagenet


def prepared(folder: Path, side: int = 24, train: int = 8, val: int = 2) -> Path:
    """A prepared image set of three classes."""
    write_imagenet(folder / "source", "abc", train, val)
    image_sets.prepare(folder / "source", "image-folder", folder / "prepared", side=side)
    return folder / "prepared"


@pytest.fixture
def decoded(monkeypatch) -> Counter:
    """How often each file was decoded since the test began."""
    found: Counter = Counter()
    decode = files.decode_square

    def counting(path, side):
        found[str(path)] += 1
        return decode(path, side)

    monkeypatch.setattr(files, "decode_square", counting)
    return found
