"""Augmented views of a batch of molecules: atoms dropped, or a small part kept.

`released` is GraphCL's code with its defects (Shen-Lab/GraphCL at b4d7501,
transferLearning_MoleculeNet_PPI/chem/loader.py:769-860): a subgraph never leaves its start's neighbours, and a result
without bonds is given up for the whole molecule. `written` is what its text describes: subgraphs grow, and results
without bonds stay. The rules take uniforms in (0, 1), so that the draws of any generator can be replayed.
"""

from dataclasses import dataclass

import numpy as np

from clrepro.errors import unknown
from clrepro.modalities.graph import ragged
from clrepro.modalities.graph.draws import uniforms
from clrepro.modalities.graph.molecules.storage import Batch

CHOICES = {"drop_nodes": ("drop_nodes",), "subgraph": ("subgraph",), "random2": ("drop_nodes", "subgraph")}
CHOICE, ATOMS, START, TRIES = range(4)  # what a stream of random numbers is for
STREAMS = 4  # for one view


def counted(sizes: np.ndarray, share: float) -> np.ndarray:
    """int(share n) for each n."""
    return (sizes * share).astype(np.int64)


def drop_atoms(batch: Batch, keys: np.ndarray, share: float) -> np.ndarray:
    """(n,) False for the int(share n) atoms of each molecule with the smallest keys (n,)."""
    return ragged.ranks(keys, batch.molecule) >= counted(batch.sizes, share)[batch.molecule]


def neighbours(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours of all atoms, those of an atom in ascending order: (n + 1,) where they begin, and (E,) them."""
    order = np.lexsort((batch.edges[1], batch.edges[0]))
    return ragged.starts(np.bincount(batch.edges[0], minlength=len(batch.atoms))), batch.edges[1, order]


def subgraph(batch: Batch, starts: np.ndarray, tries: np.ndarray, share: float) -> np.ndarray:
    """(n,) True for a start atom of each molecule and those of its neighbours that are drawn: the released rule.

    starts: (B,), the start is atom int(n starts). tries: (n,), in each molecule one draw an atom, uniform over the
    start's neighbours; what is there already is skipped, and drawing ends with int(share n) + 1 atoms.
    """
    begins, others = neighbours(batch)
    first = batch.starts[:-1] + (starts * batch.sizes).astype(np.int64)
    degrees = np.diff(begins)[first]
    drawing = degrees[batch.molecule] > 0
    of = batch.molecule[drawing]
    drawn = others[begins[first[of]] + (tries[drawing] * degrees[of]).astype(np.int64)]
    once = np.sort(np.unique(drawn, return_index=True)[1])  # the first time that each atom is drawn
    taken = once[ragged.ranks(once, of[once]) < counted(batch.sizes, share)[of[once]]]
    kept = np.zeros(len(batch.atoms), bool)
    kept[first] = kept[drawn[taken]] = True
    return kept


def growing_subgraph(batch: Batch, starts: np.ndarray, tries: np.ndarray, share: float) -> np.ndarray:
    """The rule as written, with the same arguments: the neighbours of every atom that is taken can be drawn as well.

    Each draw is uniform over the neighbours that are not taken yet, in ascending order; drawing ends with
    int(share n) + 1 atoms, or where no neighbour is left.
    """
    begins, others = neighbours(batch)
    kept, border = np.zeros(len(batch.atoms), bool), np.zeros(len(batch.atoms), bool)
    taken = batch.starts[:-1] + (starts * batch.sizes).astype(np.int64)
    wanted = counted(batch.sizes, share)
    for number in range(wanted.max(initial=0) + 1):
        kept[taken] = True
        border[others[ragged.rows(begins[taken], np.diff(begins)[taken])]] = True
        border &= ~kept
        rows = np.flatnonzero(border)
        counts = np.bincount(batch.molecule[rows], minlength=len(batch.sizes))
        active = np.flatnonzero((counts > 0) & (wanted > number))
        draws = tries[batch.starts[active] + number]
        taken = rows[ragged.starts(counts)[active] + (draws * counts[active]).astype(np.int64)]
    return kept


def with_bonds_or_whole(batch: Batch, kept: np.ndarray) -> np.ndarray:
    """The mask, but True for all atoms of a molecule of which no bond is left."""
    bonds = kept[batch.edges].all(axis=0)
    left = np.bincount(batch.molecule[batch.edges[0, bonds]], minlength=len(batch.sizes))
    return kept | (left == 0)[batch.molecule]


@dataclass(frozen=True)
class Augmentation:
    """name: `drop_nodes`, `subgraph`, or `random2`, one of the two for each molecule, in every epoch anew."""

    name: str
    behaviour: str
    drop_share: float
    subgraph_share: float

    def __post_init__(self) -> None:
        if self.name not in CHOICES:
            raise unknown("augmentation", self.name, CHOICES, "a training on molecules")

    def view(self, batch: Batch, rows: np.ndarray, seed: int, epoch: int, number: int) -> Batch:
        """The view with a number of a batch. rows: (B,) the molecules' numbers in their set, which their random numbers
        are drawn by.
        """
        atoms, streams = np.arange(len(batch.atoms)) - batch.starts[batch.molecule], number * STREAMS

        def of_molecules(stream: int) -> np.ndarray:
            return uniforms(seed, epoch, rows, np.zeros(len(rows), np.int64), streams + stream)

        def of_atoms(stream: int) -> np.ndarray:
            return uniforms(seed, epoch, rows[batch.molecule], atoms, streams + stream)

        names = CHOICES[self.name]
        chosen = (of_molecules(CHOICE) * len(names)).astype(np.int64)
        kept = np.ones(len(batch.atoms), bool)
        for choice, name in enumerate(names):
            if name == "drop_nodes":
                found = drop_atoms(batch, of_atoms(ATOMS), self.drop_share)
            else:
                rule = subgraph if self.behaviour == "released" else growing_subgraph
                found = rule(batch, of_molecules(START), of_atoms(TRIES), self.subgraph_share)
            kept &= found | (chosen != choice)[batch.molecule]
        return batch.keep(with_bonds_or_whole(batch, kept) if self.behaviour == "released" else kept)
