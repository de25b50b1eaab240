"""The encoder of molecules of Hu et al. (2020): a graph isomorphism network whose messages carry bonds.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/model.py:17-50, 200-290.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from clrepro.modalities.graph import weights
from clrepro.modalities.graph.molecules.storage import Batch

ELEMENTS, CHIRALITIES = 120, 3
BOND_TYPES, DIRECTIONS = 6, 3
SELF_LOOP = 4  # the bond type of the message from an atom to itself; its direction is 0


@dataclass(frozen=True, eq=False)
class Inputs:
    """A batch on a device.

    atoms: (n, 2). sources, targets: (E,). bonds: (n, 9) how many messages of each bond type, and of each direction,
    reach an atom, its own included. sizes: (B,). molecule: (n,).
    """

    atoms: Tensor
    sources: Tensor
    targets: Tensor
    bonds: Tensor
    sizes: Tensor
    molecule: Tensor

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> "Inputs":
        count = len(batch.atoms)
        columns = BOND_TYPES + DIRECTIONS
        types, directions = (batch.edges[1] * columns + batch.kinds[:, part] for part in (0, 1))
        places = np.concatenate([types, directions + BOND_TYPES])
        bonds = np.bincount(places, minlength=count * columns).reshape(count, columns)
        bonds[:, [SELF_LOOP, BOND_TYPES]] += 1
        arrays = (batch.atoms.astype(np.int64), *batch.edges, bonds.astype(np.float32), batch.sizes, batch.graph)
        arrays = map(np.ascontiguousarray, arrays)
        return cls(*(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays))


class Layer(nn.Module):
    """x_i -> BatchNorm(MLP(sum of x_j + b_ij over bonded j and j = i)), b_ij an embedding of the bond.

    The embeddings are summed as counts of each kind of bond times its table.
    """

    def __init__(self, width: int):
        super().__init__()
        self.types, self.directions = xavier(BOND_TYPES, width), xavier(DIRECTIONS, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor, inputs: Inputs) -> Tensor:
        """x: (n, width). Returns (n, width)."""
        tables = torch.cat([self.types.weight, self.directions.weight])
        summed = x + inputs.bonds.to(x.dtype) @ tables
        summed = summed.index_add(0, inputs.targets, x.index_select(0, inputs.sources))
        return self.norm(self.mlp(summed))


def xavier(rows: int, width: int) -> nn.Embedding:
    table = nn.Embedding(rows, width)
    nn.init.xavier_uniform_(table.weight)
    return table


def dropped(x: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """Dropout, from a generator on the device of x; on a CPU in half the time of torch's."""
    kept = torch.rand(x.shape, generator=generator, device=x.device) >= share
    return x * (kept * (1 / (1 - share)))


class MoleculeEncoder(nn.Module):
    """Inputs -> (B, width): the mean over a molecule's atoms of the last layer's outputs.

    dropout: after every layer while it trains; it is no part of what is saved.
    """

    def __init__(self, width: int, layers: int):
        super().__init__()
        self.width, self.dropout = width, 0.0
        self.description = {"architecture": "gin_bonds", "width": width, "layers": layers}
        self.elements, self.chiralities = xavier(ELEMENTS, width), xavier(CHIRALITIES, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, inputs: Inputs, generator: torch.Generator | None = None) -> Tensor:
        """generator: on the inputs' device, for dropout; None: torch's own."""
        x = self.elements(inputs.atoms[:, 0]) + self.chiralities(inputs.atoms[:, 1])
        for number, layer in enumerate(self.layers, 1):
            x = layer(x, inputs)
            if number < len(self.layers):
                x = functional.relu(x)
            if self.training and self.dropout:
                x = dropped(x, self.dropout, generator)
        summed = x.new_zeros(len(inputs.sizes), self.width).index_add(0, inputs.molecule, x)
        return summed / inputs.sizes[:, None]


class Projected(nn.Module):
    """An encoder with GraphCL's head for pre-training: Linear, ReLU, Linear of the encoder's width."""

    def __init__(self, encoder: MoleculeEncoder):
        super().__init__()
        width = encoder.width
        self.encoder = encoder
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, inputs: Inputs) -> Tensor:
        return self.head(self.encoder(inputs))


def load(folder: Path) -> MoleculeEncoder:
    """The encoder that was exported to a folder, on the CPU."""
    return weights.load(MoleculeEncoder, folder)
