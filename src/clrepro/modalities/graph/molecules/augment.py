"""Augmented views of a batch of molecules: atoms dropped, or a small part kept.

`released` is GraphCL's code with its defects (Shen-Lab/GraphCL at b4d7501,
transferLearning_MoleculeNet_PPI/chem/loader.py:769-860): a subgraph never leaves its start's neighbours, and a result
without bonds is given up for the whole molecule. `written` is what its text describes: subgraphs grow, and results
without bonds stay.
"""

from dataclasses import dataclass

import numpy as np

from clrepro.errors import unknown
from clrepro.modalities.graph import rules
from clrepro.modalities.graph.draws import uniforms
from clrepro.modalities.graph.molecules.storage import Batch

CHOICES = {"drop_nodes": ("drop_nodes",), "subgraph": ("subgraph",), "random2": ("drop_nodes", "subgraph")}
CHOICE, ATOMS, START, TRIES = range(4)  # what a stream of random numbers is for
STREAMS = 4  # for one view


def with_bonds_or_whole(batch: Batch, kept: np.ndarray) -> np.ndarray:
    """The mask, but True for all atoms of a molecule of which no bond is left."""
    bonds = kept[batch.edges].all(axis=0)
    left = np.bincount(batch.graph[batch.edges[0, bonds]], minlength=len(batch.sizes))
    return kept | (left == 0)[batch.graph]


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

    @classmethod
    def of(cls, settings: dict) -> "Augmentation":
        """That of a recipe."""
        return cls(*(settings[name] for name in ("augmentation", "behaviour", "drop_share", "subgraph_share")))

    def view(self, batch: Batch, rows: np.ndarray, seed: int, epoch: int, number: int) -> Batch:
        """The view with a number of a batch. rows: (B,) the molecules' numbers in their set, which their random numbers
        are drawn by.
        """
        atoms, streams = np.arange(len(batch.atoms)) - batch.starts[batch.graph], number * STREAMS

        def of_molecules(stream: int) -> np.ndarray:
            return uniforms(seed, epoch, rows, np.zeros(len(rows), np.int64), streams + stream)

        def of_atoms(stream: int) -> np.ndarray:
            return uniforms(seed, epoch, rows[batch.graph], atoms, streams + stream)

        names = CHOICES[self.name]
        chosen = (of_molecules(CHOICE) * len(names)).astype(np.int64)
        kept = np.ones(len(batch.atoms), bool)
        for choice, name in enumerate(names):
            if name == "drop_nodes":
                found = rules.kept_nodes(batch, of_atoms(ATOMS), self.drop_share)
            else:
                rule = rules.subgraph if self.behaviour == "released" else rules.growing_subgraph
                found = rule(batch, of_molecules(START), of_atoms(TRIES), self.subgraph_share)
            kept &= found | (chosen != choice)[batch.graph]
        return batch.keep(with_bonds_or_whole(batch, kept) if self.behaviour == "released" else kept)
