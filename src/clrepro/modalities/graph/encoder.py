"""GraphCL's graph encoder: a graph isomorphism network (GIN) with sum pooling after every layer.

Shen-Lab/GraphCL at b4d7501, unsupervised_TU/gin.py:21-61 and gsimclr.py:90-112.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from clrepro.modalities.graph import weights
from clrepro.modalities.graph.augment import View, plain
from clrepro.modalities.graph.graph_sets import GraphSet

warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")  # torch says so once a process


class SparseSum(torch.autograd.Function):
    """Sums of rows: y_i = sum of x_j over the j of row i of a sparse 0/1 matrix, which may have entries twice.

    The matrix and its transpose come as compressed rows, (pointers, columns) each: the sums run 4 times as fast as
    with index_add, and backwards is the product with the transpose.
    """

    @staticmethod
    def forward(context, x: Tensor, pointers: Tensor, columns: Tensor, back: Tensor, rows: Tensor) -> Tensor:
        context.save_for_backward(back, rows)
        context.columns = x.shape[0]
        return multiplied(pointers, columns, x)

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple:
        back, rows = context.saved_tensors
        return multiplied(back, rows, gradient.contiguous()), None, None, None, None


def multiplied(pointers: Tensor, columns: Tensor, x: Tensor) -> Tensor:
    values = torch.ones(len(columns), dtype=x.dtype, device=x.device)
    shape = (len(pointers) - 1, x.shape[0])
    return torch.sparse_csr_tensor(pointers, columns, values, shape, check_invariants=False) @ x


@dataclass(frozen=True, eq=False)
class Batch:
    """A view as the encoder takes it, on a device.

    kinds: (n,) node labels. masked, features: rows with features of their own. neighbours: the matrix A + I of the
    graphs, then its transpose; pool: the matrix that sums nodes by graph, then its transpose; compressed rows.
    """

    kinds: Tensor
    masked: Tensor
    features: Tensor
    neighbours: tuple[Tensor, ...]
    pool: tuple[Tensor, ...]

    @classmethod
    def of(cls, view: View, device: torch.device) -> "Batch":
        graphs, count = view.graphs, len(view.graphs.kinds)
        itself = np.arange(count)
        sources, targets = (np.concatenate([ends, itself]) for ends in graphs.edges)
        order = np.argsort(targets, kind="stable")
        neighbours = (
            *compressed(targets[order], sources[order], count),
            *compressed_transpose(sources, targets, count),
        )
        pool = (graphs.starts, itself, np.arange(count + 1), graphs.graph)

        def moved(arrays: tuple[np.ndarray, ...]) -> tuple[Tensor, ...]:
            arrays = map(np.ascontiguousarray, arrays)
            return tuple(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays)

        kinds, masked, features = moved((graphs.kinds, view.masked, view.features))
        return cls(kinds, masked, features, moved(neighbours), moved(pool))


def compressed(rows: np.ndarray, columns: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(pointers, columns) of entries that lie in the order of rows."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]), columns


def compressed_transpose(rows: np.ndarray, columns: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(rows, kind="stable")
    return compressed(rows[order], columns[order], count)


class Layer(nn.Module):
    """x_i -> BatchNorm(ReLU(W2 ReLU(W1 (x_i + sum of x_j over edges j -> i) + b1) + b2))."""

    def __init__(self, inputs: int, width: int):
        super().__init__()
        self.first, self.second = xavier(nn.Linear(inputs, width)), xavier(nn.Linear(width, width))
        self.norm = nn.BatchNorm1d(width)

    def forward(self, projected: Tensor, neighbours: tuple[Tensor, ...]) -> Tensor:
        """projected: W1 x of every node, (n, width), which is summed in place of the wider x: the sum is linear."""
        hidden = functional.relu(SparseSum.apply(projected, *neighbours) + self.first.bias)
        return self.norm(functional.relu(self.second(hidden)))


def xavier(linear: nn.Linear) -> nn.Linear:
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


class GIN(nn.Module):
    """Batch -> (graphs, layers * width): the sums of every layer's outputs over a graph's nodes, side by side."""

    def __init__(self, inputs: int, width: int, layers: int):
        super().__init__()
        self.description = {"architecture": "gin", "inputs": inputs, "width": width, "layers": layers}
        self.layers = nn.ModuleList(Layer(width if number else inputs, width) for number in range(layers))

    def forward(self, batch: Batch) -> Tensor:
        weight = self.layers[0].first.weight
        projected = functional.embedding(batch.kinds, weight.T.contiguous())  # W1 of a one-hot row is a column of W1
        if len(batch.masked):
            projected = projected.index_copy(0, batch.masked, batch.features.to(weight.dtype) @ weight.T)
        found = []
        for number, layer in enumerate(self.layers):
            x = layer(projected, batch.neighbours)
            found.append(SparseSum.apply(x, *batch.pool))
            if number + 1 < len(self.layers):
                projected = x @ self.layers[number + 1].first.weight.T
        return torch.cat(found, dim=1)


class Projected(nn.Module):
    """An encoder with GraphCL's head: Linear, ReLU, Linear of the encoder's own output width."""

    def __init__(self, encoder: nn.Module, width: int):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Sequential(xavier(nn.Linear(width, width)), nn.ReLU(), xavier(nn.Linear(width, width)))

    def forward(self, batch: Batch) -> Tensor:
        return self.head(self.encoder(batch))


def embed(encoder: GIN, graphs: GraphSet, device: torch.device, batch_size: int = 128) -> np.ndarray:
    """(G, layers * width) float32 in evaluation mode."""
    encoder = encoder.to(device).eval()
    found = []
    with torch.no_grad():
        for start in range(0, len(graphs), batch_size):
            rows = np.arange(start, min(start + batch_size, len(graphs)))
            found.append(encoder(Batch.of(plain(graphs.select(rows)), device)).float().cpu().numpy())
    return np.concatenate(found)


def load(folder: Path) -> GIN:
    """The encoder that was exported to a folder, on the CPU."""
    return weights.load(GIN, folder)
