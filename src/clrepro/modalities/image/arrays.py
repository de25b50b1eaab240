"""Arrays of an image set on disk."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clrepro.paths import sha256


@dataclass(frozen=True)
class Split:
    """Decoded pictures uint8 (n, C, H, W), class numbers (n,), and the classes' names."""

    images: np.ndarray
    labels: np.ndarray
    classes: list[str]


def write_array(path: Path, array: np.ndarray) -> dict:
    """Write by a temporary name and a rename; {"sha256", "bytes", "shape"}."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        entry = {"sha256": sha256(temporary), "bytes": temporary.stat().st_size, "shape": list(array.shape)}
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return entry
