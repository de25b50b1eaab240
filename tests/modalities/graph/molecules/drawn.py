"""Molecules of the oracles as the library stores them, and an encoder with the golden values' parameters."""

import numpy as np
import torch

from clrepro.modalities.graph.molecules.encoder import MoleculeEncoder, Projected
from clrepro.modalities.graph.molecules.storage import Molecules
from tests.oracles import graphs
from tests.oracles.molecules import Molecule

SMILES = (
    "CC(=O)NC1CC1", "F/C=C/[C@H](N)C#N", "c1ccccc1", "C", "OCC", "C1CC1.[Na+]", "CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C1CCC2(CC1)OCCO2", "N#Cc1ccc(Br)cc1S(=O)(=O)NCC=C",
)  # fmt: skip


def stored(molecules: list[Molecule], labels=None, parts=None) -> Molecules:
    bonds = [one.bonds[::2] for one in molecules]
    flat = [bond for part in bonds for bond in part]
    return Molecules(
        np.array([atom for one in molecules for atom in one.atoms], np.uint8).reshape(-1, 2),
        np.array([len(one.atoms) for one in molecules], np.int32),
        np.array([bond[:2] for bond in flat], np.uint16).reshape(-1, 2),
        np.array([len(part) for part in bonds], np.int32),
        np.array([bond[2:] for bond in flat], np.uint8).reshape(-1, 2),
        labels,
        parts,
    )


def everything(molecules: Molecules):
    return molecules.batch(np.arange(len(molecules)))


def golden_model(width: int = 4, layers: int = 5) -> Projected:
    """Encoder and head of the golden values, float64."""
    model = Projected(MoleculeEncoder(width, layers)).double()
    encoder = model.encoder
    tables = [encoder.elements, encoder.chiralities]
    parts = [[layer.mlp[0], layer.mlp[2], layer.types, layer.directions] for layer in encoder.layers]
    matrices = [*tables, *(one for part in parts for one in part), model.head[0], model.head[2]]
    with torch.no_grad():
        for k, matrix in enumerate(matrices):
            matrix.weight.copy_(torch.from_numpy(graphs.weights(k, *matrix.weight.shape)))
            if hasattr(matrix, "bias"):
                matrix.bias.copy_(torch.from_numpy(graphs.biases(k, len(matrix.bias))))
    return model
