"""Image sets: prepared once into arrays (or, where they are too big for that, into an index), then read from there.

    record = prepare(source, "cifar10", folder)
    train = load(folder / "train")      # train.images[indices] is uint8 (k, C, H, W), train.labels int64 (n,)

Every set has the splits train and test; the test split of ImageNet is its validation set, as in the papers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from clrepro.errors import UserError, unknown
from clrepro.modalities.image import archives, files
from clrepro.modalities.image.arrays import Split, write_array
from clrepro.modalities.image.files import Photographs
from clrepro.paths import read_json, sha256, write_json

__all__ = ["ImageSet", "load", "prepare", "verify"]

SPLITS = ("train", "test")
DIGITS_TEST = 500
KINDS = ("digits", "cifar10", "cifar100", "cifar-jpeg-zip", "image-folder")


@dataclass(frozen=True)
class ImageSet:
    """One split. ``images[indices]`` is uint8 (k, C, H, W), from a mapped array or decoded on access."""

    images: np.ndarray | Photographs
    labels: np.ndarray
    classes: list[str]

    @property
    def sizes(self) -> np.ndarray | None:
        """(n, 2) heights and widths that photographs had before they were squashed; None for arrays. For `augment`."""
        return self.images.sizes if isinstance(self.images, Photographs) else None


def load(folder: Path) -> ImageSet:
    """One prepared split, such as ``prepared / "train"``."""
    folder = Path(folder)
    if not (folder / "split.json").is_file():
        inside = [split for split in SPLITS if (folder / split / "split.json").is_file()]
        hint = f"it holds the splits {', '.join(inside)}: name one" if inside else "prepare the image set first"
        raise UserError(f"{folder} is not a prepared split of an image set; {hint}")
    about = read_json(folder / "split.json")
    labels = read_array(folder, "labels.npy", about)
    if about["kind"] == "image-folder":
        sizes = read_array(folder, "sizes.npy", about)
        paths = (folder / "paths.txt").read_text("utf-8").splitlines()
        if not len(paths) == len(labels) == len(sizes):
            raise UserError(f"{folder}: {len(paths)} paths, {len(labels)} labels, {len(sizes)} sizes; prepare it again")
        images = Photographs(Path(about["root"]), paths, sizes, about["side"])
    else:
        images = read_array(folder, "images.npy", about, mapped=True)
    if len(labels) != len(images):
        raise UserError(f"{folder}: {len(images)} images but {len(labels)} labels; prepare the image set again")
    return ImageSet(images, labels, about["classes"])


def read_array(folder: Path, name: str, about: dict, mapped: bool = False) -> np.ndarray:
    """An array of a split, its shape compared with what was written."""
    try:
        found = np.load(folder / name, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as failure:
        raise UserError(f"{folder / name} cannot be read ({failure}); prepare the image set again") from None
    expected = about["files"][name]["shape"]
    if list(found.shape) != expected:
        raise UserError(f"{folder / name} has shape {list(found.shape)}, expected {expected}; prepare it again")
    return found


def prepare(
    source: Path | None,
    kind: str,
    folder: Path,
    side: int | None = None,
    class_ids: Sequence[str] | None = None,
    counts: dict[str, int] | None = None,
) -> dict:
    """Write an image set's splits below ``folder``; returns a record with counts, classes and each file's sha256.

    source: the archive or folder; None for digits, which scikit-learn brings along. For image-folder: ``side`` of the
    decoded squares, ``class_ids`` of a subset, and the ``counts`` of images that each split must have. UserError for
    whatever is missing, truncated, or too many.
    """
    if kind not in KINDS:
        raise unknown("kind of image set", kind, KINDS)
    if kind != "image-folder" and (side, class_ids, counts) != (None, None, None):
        raise UserError(f"image set of kind {kind}: side, class_ids and counts belong to image-folder alone")
    if kind == "digits":
        splits = digits()
    else:
        if source is None or not Path(source).exists():
            raise UserError(f"image set of kind {kind}: its source '{source}' does not exist; fetch it first")
        if kind == "image-folder":
            return {"kind": kind, **files.prepare(Path(source), Path(folder), side, class_ids, counts)}
        read = archives.jpeg_zip if kind == "cifar-jpeg-zip" else partial(archives.cifar_archive, kind)
        splits = read(Path(source))
    return {"kind": kind, "splits": {name: write_split(split, kind, Path(folder) / name) for name, split in splits}}


def write_split(split: Split, kind: str, folder: Path) -> dict:
    """Write the arrays, then split.json, which vouches for them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "split.json").unlink(missing_ok=True)
    labels = np.asarray(split.labels, np.int64)
    arrays = {"images.npy": split.images, "labels.npy": labels}
    files = {name: write_array(folder / name, array) for name, array in arrays.items()}
    about = {"kind": kind, "examples": len(labels), "classes": split.classes, "files": files}
    write_json(folder / "split.json", about)
    return about


def digits() -> Iterator[tuple[str, Split]]:
    """scikit-learn's 1,797 grey digits of 8x8 pixels: 500 for the test, the classes in proportion, always the same."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    # 17 levels, 0 to 16, spread over a byte
    images = np.round(pixels * (255 / 16)).astype(np.uint8).reshape(-1, 1, 8, 8)
    test = stratified(labels, DIGITS_TEST)
    classes = [str(digit) for digit in range(10)]
    for name, rows in (("train", np.flatnonzero(~test)), ("test", np.flatnonzero(test))):
        yield name, Split(images[rows], labels[rows], classes)


def stratified(labels: np.ndarray, count: int) -> np.ndarray:
    """A mask of ``count`` rows, each class in proportion (largest remainders), drawn with seed 0."""
    classes, sizes = np.unique(labels, return_counts=True)
    shares = sizes * count / len(labels)
    wanted = np.floor(shares).astype(int)
    wanted[np.argsort(wanted - shares, kind="stable")[: count - wanted.sum()]] += 1
    generator = np.random.Generator(np.random.PCG64(0))
    mask = np.zeros(len(labels), bool)
    for label, number in zip(classes, wanted, strict=True):
        mask[generator.permutation(np.flatnonzero(labels == label))[:number]] = True
    return mask


def verify(folder: Path) -> None:
    """Compare every file of a prepared split with the sha256 of its record; UserError where one differs."""
    for name, entry in read_json(Path(folder) / "split.json")["files"].items():
        if sha256(Path(folder) / name) != entry["sha256"]:
            raise UserError(f"{Path(folder) / name} is not what was written; prepare the image set again")
