"""Detection annotations of PASCAL VOC, for a detector: boxes, classes, difficult flags."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np

from clrepro.errors import UserError

VOC_CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
VOC_COUNTS = {
    (2007, "train"): 2501,
    (2007, "val"): 2510,
    (2007, "trainval"): 5011,
    (2007, "test"): 4952,
    (2012, "train"): 5717,
    (2012, "val"): 5823,
    (2012, "trainval"): 11540,
}
EDGES = ("xmin", "ymin", "xmax", "ymax")


def voc_annotations(root: Path, year: int, split: str) -> list[dict[str, Any]]:
    """[{"image": path, "boxes": (k, 4) float32, "labels": (k,) int64, "difficult": (k,) bool}], in the split's order.

    root holds VOC<year>/ or VOCdevkit/VOC<year>/. Boxes are (left, top, right, bottom) in pixels, 0 at the outer edge
    of the first pixel: VOC counts pixels from 1 and includes the last, so 1 is taken from left and top alone. Labels
    run from 1 in the order of VOC_CLASSES, 0 is the background. Difficult objects are kept.
    """
    if (year, split) not in VOC_COUNTS:
        known = ", ".join(f"{a} {b}" for a, b in VOC_COUNTS)
        raise UserError(f"VOC has no split '{split}' of {year}; known: {known}")
    places = [Path(root) / f"VOC{year}", Path(root) / "VOCdevkit" / f"VOC{year}"]
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        raise UserError(f"{root} holds neither VOC{year} nor VOCdevkit/VOC{year}: unpack the archive there")
    listing = folder / "ImageSets" / "Main" / f"{split}.txt"
    if not listing.is_file():
        raise UserError(f"{listing} is missing; the test archive of 2007 is a separate one")
    names = listing.read_text("ascii").split()
    if len(names) != VOC_COUNTS[year, split] or len(set(names)) != len(names):
        raise UserError(f"{listing} names {len(set(names))} images, expected {VOC_COUNTS[year, split]}")
    return [annotation(folder, name) for name in names]


def annotation(folder: Path, name: str) -> dict[str, Any]:
    """One image of VOC."""
    image, file = folder / "JPEGImages" / f"{name}.jpg", folder / "Annotations" / f"{name}.xml"
    for needed in (image, file):
        if not needed.is_file() or not needed.stat().st_size:
            raise UserError(f"{needed} is missing or empty: unpack the archive again")
    try:
        objects = ElementTree.parse(file).getroot().findall("object")
        # `findtext` sees direct children alone: the boxes of a person's parts are deeper
        labels = [VOC_CLASSES.index((item.findtext("name") or "").strip()) + 1 for item in objects]
        edges = [[float(item.findtext(f"bndbox/{edge}") or "nan") for edge in EDGES] for item in objects]
        difficult = [int(item.findtext("difficult") or 0) == 1 for item in objects]
    except (ElementTree.ParseError, ValueError) as failure:
        raise UserError(f"{file} is not a VOC annotation ({failure}): unpack the archive again") from None
    boxes = np.array(edges, np.float32).reshape(-1, 4) - np.array([1, 1, 0, 0], np.float32)
    if not (boxes[:, 2:] > boxes[:, :2]).all():
        raise UserError(f"{file} has an object with an empty or missing box")
    return {
        "image": image,
        "boxes": boxes,
        "labels": np.array(labels, np.int64),
        "difficult": np.array(difficult, bool),
    }
