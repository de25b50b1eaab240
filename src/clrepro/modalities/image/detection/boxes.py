"""Images with boxes, for a detector: annotations in the layout of PASCAL VOC, indexed once, decoded on access.

record = prepare([(folder, "trainval", 5011)], [(test_folder, "test", 4952)], prepared)
train = Annotated(prepared / "train.json")      # train[3]["image"] is uint8 (3, H, W)
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from clrepro.errors import UserError
from clrepro.paths import read_json, sha256, write_json

VOC_CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
EDGES = ("xmin", "ymin", "xmax", "ymax")
Part = tuple[Path, str, int]  # a folder in VOC's layout, the split that its listing names, how many images that has


def prepare(train: Sequence[Part], test: Sequence[Part], folder: Path) -> dict:
    """Index both splits into train.json and test.json; returns their counts and sha256.

    Every annotation is read and every image's header, so that what is missing or damaged is known now.
    """
    record: dict[str, dict] = {}
    for split, parts in (("train", train), ("test", test)):
        entries = [entry for part in parts for entry in voc_annotations(*part)]
        file = folder / f"{split}.json"
        write_json(file, entries)
        boxes = sum(len(entry["labels"]) for entry in entries)
        record[split] = {"images": len(entries), "boxes": boxes, "sha256": sha256(file)}
    return record


class Annotated:
    """A prepared split: ``items[place]`` is {"image": uint8 (3, H, W), "boxes": (k, 4), "labels", "difficult": (k,)}.

    Boxes are (left, top, right, bottom) in pixels; labels are the places of the names in VOC_CLASSES.
    """

    def __init__(self, index: Path):
        self.entries = read_json(index)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def wide(self) -> list[bool]:
        """Of every image whether it is wider than high."""
        return [entry["size"][1] > entry["size"][0] for entry in self.entries]

    def __getitem__(self, place: int) -> dict[str, np.ndarray]:
        entry = self.entries[place]
        try:
            with Image.open(entry["image"], formats=["JPEG"]) as picture:
                pixels = np.asarray(picture.convert("RGB"))
        except (OSError, SyntaxError, Image.DecompressionBombError) as failure:
            raise UserError(f"{entry['image']} cannot be decoded ({failure}); unpack the archive again") from None
        return {
            "image": pixels.transpose(2, 0, 1).copy(),
            "boxes": np.array(entry["boxes"], np.float32).reshape(-1, 4),
            "labels": np.array(entry["labels"], np.int64),
            "difficult": np.array(entry["difficult"], bool),
        }


def voc_annotations(folder: Path, split: str, count: int) -> list[dict[str, Any]]:
    """[{"image": path, "size": [height, width], "boxes": k lists of 4, "labels": k numbers, "difficult": k flags}].

    In the listing's order.

    folder: holds ImageSets/, JPEGImages/ and Annotations/. Boxes are (left, top, right, bottom) in pixels, 0 at the
    outer edge of the first pixel: VOC counts pixels from 1 and includes the last, so 1 is taken from left and top
    alone. Difficult objects are kept. UserError where the listing does not name ``count`` different images.
    """
    listing = Path(folder) / "ImageSets" / "Main" / f"{split}.txt"
    if not listing.is_file():
        raise UserError(f"{listing} is missing; the test archive of 2007 is a separate one")
    names = listing.read_text("ascii").split()
    if len(names) != count or len(set(names)) != len(names):
        raise UserError(f"{listing} names {len(set(names))} images, expected {count}")
    return [annotation(Path(folder), name) for name in names]


def annotation(folder: Path, name: str) -> dict[str, Any]:
    """One image of VOC."""
    image, file = folder / "JPEGImages" / f"{name}.jpg", folder / "Annotations" / f"{name}.xml"
    for needed in (image, file):
        if not needed.is_file() or not needed.stat().st_size:
            raise UserError(f"{needed} is missing or empty: unpack the archive again")
    try:
        objects = ElementTree.parse(file).getroot().findall("object")
        # `findtext` sees direct children alone: the boxes of a person's parts are deeper
        labels = [VOC_CLASSES.index((item.findtext("name") or "").strip()) for item in objects]
        edges = [[float(item.findtext(f"bndbox/{edge}") or "nan") for edge in EDGES] for item in objects]
        difficult = [int(item.findtext("difficult") or 0) == 1 for item in objects]
    except (ElementTree.ParseError, ValueError) as failure:
        raise UserError(f"{file} is not a VOC annotation ({failure}): unpack the archive again") from None
    try:
        with Image.open(image, formats=["JPEG"]) as picture:
            size = [picture.height, picture.width]
    except (OSError, SyntaxError, Image.DecompressionBombError) as failure:
        raise UserError(f"{image} is not an image ({failure}): unpack the archive again") from None
    boxes = [[left - 1, top - 1, right, bottom] for left, top, right, bottom in edges]
    if not all(right > left and bottom > top for left, top, right, bottom in boxes):
        raise UserError(f"{file} has an object with an empty or missing box")
    return {"image": str(image), "size": size, "boxes": boxes, "labels": labels, "difficult": difficult}
