"""Molecules in flat arrays, one behind the other, and batches of them."""

import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.modalities.graph import ragged
from clrepro.paths import replacing

FILE = "molecules.npz"
KINDS = {
    "atoms": (np.uint8, 2),
    "sizes": (np.int32, None),
    "bonds": (np.uint16, 2),
    "bond_counts": (np.int32, None),
    "bond_kinds": (np.uint8, 2),
}


@dataclass(frozen=True, eq=False)
class Batch:
    """Molecules as a graph of several parts.

    atoms: (n, 2) element and chirality. sizes: (B,) atoms of each molecule. edges: (2, E) atoms, both directions of
    every bond. kinds: (E, 2) type and direction of the bond.
    """

    atoms: np.ndarray
    sizes: np.ndarray
    edges: np.ndarray
    kinds: np.ndarray

    @cached_property
    def graph(self) -> np.ndarray:
        """(n,) the molecule that each atom is in."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def starts(self) -> np.ndarray:
        """(B + 1,) where each molecule's atoms begin."""
        return ragged.starts(self.sizes)

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """As `rules.Graphs` has them."""
        order = np.lexsort((self.edges[1], self.edges[0]))
        return ragged.starts(np.bincount(self.edges[0], minlength=len(self.atoms))), self.edges[1, order]

    def keep(self, kept: np.ndarray) -> "Batch":
        """With the atoms of a mask (n,) alone, in their order, and the bonds between them."""
        numbers = np.cumsum(kept) - 1
        both = kept[self.edges].all(axis=0)
        sizes = np.bincount(self.graph[kept], minlength=len(self.sizes))
        return Batch(self.atoms[kept], sizes, numbers[self.edges[:, both]], self.kinds[both])


@dataclass(frozen=True, eq=False)
class Molecules:
    """All molecules of a set.

    atoms: (N, 2) element and chirality. sizes: (M,). bonds: (E, 2) the two atoms, numbered within the molecule;
    bond_counts: (M,); bond_kinds: (E, 2) type and direction. labels: (M, T) 1, -1, or 0 where missing. parts: (M,) of
    the scaffold split.
    """

    atoms: np.ndarray
    sizes: np.ndarray
    bonds: np.ndarray
    bond_counts: np.ndarray
    bond_kinds: np.ndarray
    labels: np.ndarray | None = None
    parts: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def starts(self) -> np.ndarray:
        return ragged.starts(self.sizes)

    @cached_property
    def bond_starts(self) -> np.ndarray:
        return ragged.starts(self.bond_counts)

    def batch(self, rows: np.ndarray) -> Batch:
        """The molecules of some rows."""
        sizes, counts = self.sizes[rows].astype(np.int64), self.bond_counts[rows].astype(np.int64)
        atoms, bonds = ragged.rows(self.starts[rows], sizes), ragged.rows(self.bond_starts[rows], counts)
        offsets = np.repeat(np.cumsum(sizes) - sizes, counts)
        ends = self.bonds[bonds].T + offsets
        kinds = self.bond_kinds[bonds]
        return Batch(self.atoms[atoms], sizes, np.concatenate([ends, ends[::-1]], 1), np.concatenate([kinds, kinds]))

    def save(self, folder: Path) -> Path:
        file = folder / FILE
        content = {name: getattr(self, name) for name in (*KINDS, "labels", "parts")}
        with replacing(file) as temporary, open(temporary, "wb") as opened:
            np.savez(opened, **{name: array for name, array in content.items() if array is not None})
        return file


def load(folder: Path) -> Molecules:
    """What `Molecules.save` wrote; UserError for a file that is missing, damaged, or not of this layout."""
    file = folder / FILE
    try:
        with np.load(file, allow_pickle=False) as stored:
            content = {name: stored[name] for name in stored.files}
        found = Molecules(**content)
        for name, (kind, width) in KINDS.items():
            array = content[name]
            if array.dtype != kind or array.shape[1:] != (() if width is None else (width,)):
                raise ValueError(f"{name} is {array.dtype} {array.shape}")
        lengths = (found.sizes.sum(), found.bond_counts.sum(), len(found.bonds), len(found))
        if lengths != (len(found.atoms), len(found.bonds), len(found.bond_kinds), len(found.bond_counts)):
            raise ValueError("the lengths of its arrays do not fit each other")
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as failure:
        raise UserError(f"{file} cannot be used ({failure}); delete {folder} to prepare it again") from None
    return found
