"""CIFAR from its archives: the authors' pickles, and a zip of JPEG files."""

import io
import pickle
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tqdm import tqdm

from clrepro.errors import UserError
from clrepro.modalities.image.arrays import Split

SIDE = 32
PIXELS = 3 * SIDE * SIDE
LARGEST_JPEG = 100_000  # bytes; these pictures have about a thousand


@dataclass(frozen=True)
class Layout:
    """Members of an archive: split -> {file: its rows}; the key of the labels; the file and key of the classes."""

    folder: str
    files: dict[str, dict[str, int]]
    labels: bytes
    names: tuple[str, bytes]
    classes: int


LAYOUTS = {
    "cifar10": Layout(
        "cifar-10-batches-py",
        {"train": {f"data_batch_{number}": 10000 for number in range(1, 6)}, "test": {"test_batch": 10000}},
        b"labels",
        ("batches.meta", b"label_names"),
        10,
    ),
    "cifar100": Layout(
        "cifar-100-python",
        {"train": {"train": 50000}, "test": {"test": 10000}},
        b"fine_labels",
        ("meta", b"fine_label_names"),
        100,
    ),
}
JPEG_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
JPEG_COUNTS = {"train": 5000, "test": 1000}  # of each class


ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


class ArraysOnly(pickle.Unpickler):
    """Reads numbers, strings, lists, dictionaries and numpy arrays; anything else that a pickle names is refused.

    A pickle can name any function of any module and have it called; the archives need these three.
    """

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ADMITTED:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which no image archive needs")
        # numpy 2 keeps the old module only as a deprecated alias
        return np._core.multiarray._reconstruct if name == "_reconstruct" else getattr(np, name)


def cifar_archive(kind: str, source: Path) -> Iterator[tuple[str, Split]]:
    """The splits of cifar-10-python.tar.gz or cifar-100-python.tar.gz, read without unpacking."""
    layout = LAYOUTS[kind]
    content = read_members(source, layout)
    file, key = layout.names
    names = content[file].get(key) if isinstance(content[file], dict) else None
    if not isinstance(names, list) or [type(name) for name in names] != [bytes] * layout.classes:
        raise UserError(f"{source}: {layout.folder}/{file} does not name {layout.classes} classes; fetch it again")
    classes = [name.decode("latin-1") for name in names]
    for split, files in layout.files.items():
        parts = [
            batch(content[name], f"{source}: {layout.folder}/{name}", rows, layout) for name, rows in files.items()
        ]
        images, labels = (np.concatenate(side) for side in zip(*parts, strict=True))
        yield split, Split(images, labels, classes)


def read_members(source: Path, layout: Layout) -> dict[str, Any]:
    """Every file of the layout, unpickled: {name: content}."""
    wanted = [layout.names[0], *(name for files in layout.files.values() for name in files)]
    raw: dict[str, bytes] = {}
    try:
        with tarfile.open(source) as archive:
            # in the order of the archive, so that it is unpacked once
            for member in archive:
                folder, _, name = member.name.rpartition("/")
                if folder == layout.folder and name in wanted and member.isfile():
                    # twice what the pixels take: a member is read into memory whole
                    rows = max((files[name] for files in layout.files.values() if name in files), default=0)
                    if member.size > 2 * rows * PIXELS + (1 << 20):
                        raise tarfile.TarError(f"its member '{member.name}' has {member.size:,} bytes, far too many")
                    raw[name] = archive.extractfile(member).read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as failure:
        raise UserError(f"{source} is not a complete tar archive ({failure}); fetch it again") from None
    if missing := [name for name in wanted if name not in raw]:
        raise UserError(f"{source} lacks {layout.folder}/{', '.join(missing)}; is it the archive of another set?")
    content = {}
    for name in wanted:
        try:
            content[name] = ArraysOnly(io.BytesIO(raw.pop(name)), encoding="bytes").load()
        except Exception as failure:  # a damaged pickle raises nearly anything
            place = f"{source}: {layout.folder}/{name}"
            raise UserError(f"{place} is not one of CIFAR's files ({failure}); fetch it again") from None
    return content


def batch(content: Any, place: str, rows: int, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """(images (rows, 3, 32, 32), labels (rows,)) of one file."""
    pixels = content.get(b"data") if isinstance(content, dict) else None
    labels = content.get(layout.labels) if isinstance(content, dict) else None
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.shape != (rows, PIXELS):
        found = f"{pixels.dtype} {pixels.shape}" if isinstance(pixels, np.ndarray) else type(pixels).__name__
        raise UserError(f"{place}: expected pixels as uint8 ({rows}, {PIXELS}), found {found}")
    if not isinstance(labels, list) or len(labels) != rows:
        found = len(labels) if isinstance(labels, list) else "none"
        raise UserError(f"{place}: expected {rows} labels, found {found}")
    if not all(type(label) is int and 0 <= label < layout.classes for label in labels):
        raise UserError(f"{place}: a label is not an integer from 0 to {layout.classes - 1}")
    return pixels.reshape(rows, 3, SIDE, SIDE), np.array(labels, np.int64)


def jpeg_zip(source: Path) -> Iterator[tuple[str, Split]]:
    """The splits of a zip of <train|test>/<class>/<index>.jpg; classes in alphabetical, that is official, order."""
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError) as failure:
        raise UserError(f"{source} is not a complete zip archive ({failure}); fetch it again") from None
    with archive:
        members = index_zip(archive, source)
        total = sum(len(files) for files in members.values())
        with tqdm(total=total, desc="decode", unit="image", disable=None) as bar:
            for split in JPEG_COUNTS:
                images = np.empty((len(JPEG_CLASSES) * JPEG_COUNTS[split], 3, SIDE, SIDE), np.uint8)
                names = [name for label in JPEG_CLASSES for name in members[split, label]]
                for row, name in enumerate(names):
                    images[row] = decode_member(archive, name, source)
                    bar.update()
                labels = np.repeat(np.arange(len(JPEG_CLASSES)), JPEG_COUNTS[split])
                yield split, Split(images, labels, list(JPEG_CLASSES))


def index_zip(archive: zipfile.ZipFile, source: Path) -> dict[tuple[str, str], list[str]]:
    """{(split, class): member names by index}, every count checked."""
    found: dict[tuple[str, str], dict[int, str]] = {
        (split, label): {} for split in JPEG_COUNTS for label in JPEG_CLASSES
    }
    for info in archive.infolist():
        name = info.filename
        parts = name.split("/")
        if name.endswith("/"):
            continue
        index = parts[-1].removesuffix(".jpg")
        if len(parts) != 3 or tuple(parts[:2]) not in found or not (index.isascii() and index.isdigit()):
            raise UserError(f"{source}: its member '{name[:80]}' is not <train|test>/<class>/<index>.jpg")
        if info.file_size > LARGEST_JPEG:
            raise UserError(f"{source}: its member '{name}' has {info.file_size:,} bytes, which no such picture has")
        files = found[parts[0], parts[1]]
        if int(index) in files:
            raise UserError(f"{source}: {parts[0]}/{parts[1]} has index {int(index)} twice")
        files[int(index)] = name
    for (split, label), files in found.items():
        if len(files) != JPEG_COUNTS[split]:
            raise UserError(f"{source}: {split}/{label} has {len(files)} images, expected {JPEG_COUNTS[split]}")
    return {key: [files[index] for index in sorted(files)] for key, files in found.items()}


def decode_member(archive: zipfile.ZipFile, name: str, source: Path) -> np.ndarray:
    """uint8 (3, 32, 32)."""
    try:
        with Image.open(io.BytesIO(archive.read(name)), formats=["JPEG"]) as picture:
            if picture.size != (SIDE, SIDE):
                raise UserError(
                    f"{source}: {name} has {picture.width} x {picture.height} pixels, expected {SIDE} x {SIDE}"
                )
            pixels = np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, Image.DecompressionBombError, zipfile.BadZipFile, zlib.error) as failure:
        raise UserError(f"{source}: {name} is not a complete JPEG file ({failure}); fetch the archive again") from None
    return pixels.transpose(2, 0, 1)
