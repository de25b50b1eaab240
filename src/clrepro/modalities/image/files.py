"""Photographs in folders, as ImageNet is laid out: indexed once, decoded on access.

ImageNet cannot be held decoded, so a split is a list of paths with labels and sizes, and ``images[indices]`` decodes;
`clrepro.modalities.image.pixels` does so in threads. A photograph is squashed to a square of a fixed side, with
antialiasing; its height and width stay in ``sizes``, with which `clrepro.modalities.image.augment` draws crops in the
proportions of the original. Nothing is cut off, which a central crop would do to a third of a usual photograph.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image
from tqdm import tqdm

from clrepro.errors import UserError
from clrepro.modalities.image.arrays import write_array
from clrepro.paths import sha256, write_json
from clrepro.sources.image_folders import FOLDERS, class_folders, split_root

ENDINGS = (".jpeg", ".jpg", ".png")
FORMATS = ["JPEG", "PNG"]  # one file of ImageNet-1K is a PNG under a JPEG's name
IMAGENET_COUNTS = {"train": 1_281_167, "test": 50_000}
DEFAULT_SIDE = 256
THREADS = max(1, min(16, os.cpu_count() or 1))


def imagenet100() -> list[str]:
    """The 100 class ids of the usual subset of ImageNet, sorted."""
    lines = Path(__file__).with_name("imagenet100.txt").read_text("utf-8").splitlines()
    return sorted(line.strip() for line in lines if line.strip() and not line.startswith("#"))


class Photographs:
    """Pictures that are decoded on access: ``photographs[indices]`` is uint8 (k, 3, side, side)."""

    dtype = np.dtype(np.uint8)
    ndim = 4

    def __init__(self, root: Path, paths: Sequence[str], sizes: np.ndarray, side: int):
        self.root, self.paths, self.sizes, self.side = Path(root), paths, sizes, side

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.paths), 3, self.side, self.side

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, indices: int | np.integer | slice | Sequence[int] | np.ndarray) -> np.ndarray:
        if isinstance(indices, int | np.integer):
            return decode_square(self.root / self.paths[indices], self.side)
        rows = np.arange(len(self))[indices]
        pictures = np.empty((len(rows), 3, self.side, self.side), np.uint8)
        for place, row in enumerate(rows):
            pictures[place] = self[row]
        return pictures


def decode_square(path: Path, side: int) -> np.ndarray:
    """uint8 (3, side, side) of an image file."""
    try:
        with Image.open(path, formats=FORMATS) as picture:
            # let the decoder shrink by powers of two, to no less than twice the size wanted
            picture.draft("RGB", (2 * side, 2 * side))
            small = picture.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    except (OSError, SyntaxError, Image.DecompressionBombError) as failure:
        raise UserError(f"{path} cannot be decoded ({failure}); fetch the image again") from None
    return np.asarray(small).transpose(2, 0, 1)


def prepare(
    source: Path, folder: Path, side: int | None, class_ids: Sequence[str] | None, counts: dict[str, int] | None
) -> dict:
    """Index both splits; every file's header is read, so that missing and damaged files are known now."""
    side = DEFAULT_SIDE if side is None else side
    if side < 1:
        raise UserError(f"image-folder: side is {side}; it is a number of pixels, from 1")
    if unknown_splits := set(counts or {}) - set(FOLDERS):
        raise UserError(f"image-folder: counts name {', '.join(sorted(unknown_splits))}; splits are train and test")
    roots = {split: split_root(source, split) for split in FOLDERS}
    wanted = sorted(class_ids) if class_ids is not None else class_folders(roots["train"])
    found = {split: index(root, split, wanted, class_ids is None) for split, root in roots.items()}
    for split, expected in (counts or {}).items():
        if len(found[split][0]) != expected:
            raise UserError(
                f"{roots[split]} has {len(found[split][0]):,} images in {len(wanted)} classes, expected {expected:,}: "
                "unpack it again"
            )
    splits = {}
    for split, (paths, labels) in found.items():
        sizes = read_sizes(roots[split], paths, split)
        splits[split] = write_index(folder / split, roots[split], paths, labels, sizes, wanted, side)
    return {"splits": splits}


def index(root: Path, split: str, classes: Sequence[str], complete: bool) -> tuple[list[str], np.ndarray]:
    """(paths below root, labels), classes and names in order; ``complete``: no other class folder may be there."""
    present = set(class_folders(root))
    if missing := [name for name in classes if name not in present]:
        raise UserError(f"{root} lacks {len(missing)} of {len(classes)} classes, the first is {missing[0]}")
    if complete and (extra := sorted(present - set(classes))):
        raise UserError(f"{root} has the class {extra[0]}, which the split train has not")
    paths: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(tqdm(classes, desc=f"list {split}", unit="class", disable=None)):
        names = sorted(entry.name for entry in os.scandir(root / name) if entry.name.lower().endswith(ENDINGS))
        if not names:
            raise UserError(f"{root / name} holds no image ({', '.join(ENDINGS)})")
        paths += [f"{name}/{file}" for file in names]
        labels += [label] * len(names)
    return paths, np.array(labels, np.int64)


def read_sizes(root: Path, paths: Sequence[str], split: str) -> np.ndarray:
    """int32 (n, 2) heights and widths, from the files' headers."""

    def size(path: str) -> tuple[int, int]:
        try:
            with Image.open(root / path, formats=FORMATS) as picture:
                return picture.height, picture.width
        except (OSError, SyntaxError, Image.DecompressionBombError) as failure:
            raise UserError(f"{root / path} is not an image ({failure}); fetch it again") from None

    with ThreadPoolExecutor(THREADS) as threads:
        bar = tqdm(threads.map(size, paths), total=len(paths), desc=f"index {split}", unit="image", disable=None)
        return np.array(list(bar), np.int32)


def write_index(
    folder: Path,
    root: Path,
    paths: Sequence[str],
    labels: np.ndarray,
    sizes: np.ndarray,
    classes: Sequence[str],
    side: int,
) -> dict:
    """paths.txt, labels.npy, sizes.npy, then split.json, which vouches for them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "split.json").unlink(missing_ok=True)
    listing, temporary = folder / "paths.txt", folder / f".paths.txt.{os.getpid()}.tmp"
    temporary.write_text("\n".join(paths) + "\n", "utf-8")
    os.replace(temporary, listing)
    files = {
        "paths.txt": {"sha256": sha256(listing), "bytes": listing.stat().st_size},
        "labels.npy": write_array(folder / "labels.npy", labels),
        "sizes.npy": write_array(folder / "sizes.npy", sizes),
    }
    about = {"kind": "image-folder", "examples": len(paths), "classes": list(classes), "side": side}
    about |= {"root": str(root), "files": files}
    write_json(folder / "split.json", about)
    return about
