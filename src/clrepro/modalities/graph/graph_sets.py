"""A set of graphs in flat arrays, one graph behind the other."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.modalities.graph import ragged
from clrepro.paths import replacing

FILE = "graphs.npz"


@dataclass(frozen=True, eq=False)
class GraphSet:
    """G graphs of N nodes and E directed edges in all.

    sizes: (G,) nodes of each graph. kinds: (N,) a node's label, from 0; its feature is one-hot, (width,). edges: (2, E)
    sources and targets, numbered over all nodes, in the order of targets. labels: (G,) the graphs' classes, from 0.
    """

    sizes: np.ndarray
    kinds: np.ndarray
    edges: np.ndarray
    labels: np.ndarray
    width: int

    @classmethod
    def made(
        cls, sizes: np.ndarray, kinds: np.ndarray, edges: np.ndarray, labels: np.ndarray, width: int
    ) -> "GraphSet":
        return cls(sizes, kinds, edges[:, np.lexsort(edges)], labels, width)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def starts(self) -> np.ndarray:
        """(G + 1,) the first node of each graph."""
        return ragged.starts(self.sizes)

    @cached_property
    def graph(self) -> np.ndarray:
        """(N,) the graph of each node."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def edge_starts(self) -> np.ndarray:
        """(G + 1,) the first edge of each graph."""
        return np.searchsorted(self.edges[1], self.starts)

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """As `rules.Graphs` has them: by the edges that lead to a node."""
        return np.searchsorted(self.edges[1], np.arange(len(self.kinds) + 1)), self.edges[0]

    @cached_property
    def last_connected(self) -> np.ndarray:
        """(G,) the largest node, numbered within its graph, that an edge joins; -1 where there is no edge."""
        found = np.full(len(self), -1)
        for ends in self.edges:
            np.maximum.at(found, self.graph[ends], ends - self.starts[self.graph[ends]])
        return found

    def with_released_loops(self) -> "GraphSet":
        """With the self loops of GraphCL's code: on every node before the last connected one."""
        looped = ragged.rows(self.starts[:-1], np.maximum(self.last_connected, 0))
        edges = np.concatenate([self.edges, np.stack([looped, looped])], axis=1)
        return replace(self, edges=edges[:, np.lexsort(edges)])

    def select(self, rows: np.ndarray) -> "GraphSet":
        """The graphs of some rows, in their order."""
        sizes = self.sizes[rows]
        nodes = ragged.rows(self.starts[rows], sizes)
        counts = self.edge_starts[rows + 1] - self.edge_starts[rows]
        edges = ragged.rows(self.edge_starts[rows], counts)
        moved = ragged.starts(sizes)[:-1] - self.starts[rows]
        return GraphSet(
            sizes, self.kinds[nodes], self.edges[:, edges] + np.repeat(moved, counts), self.labels[rows], self.width
        )

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in ("sizes", "kinds", "edges", "labels", "width")}
        with replacing(folder / FILE) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)


def load(folder: Path) -> GraphSet:
    """The set that `save` wrote."""
    try:
        with np.load(folder / FILE) as stored:
            return GraphSet(
                **{name: stored[name] for name in stored.files if name != "width"}, width=int(stored["width"])
            )
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise UserError(f"{folder / FILE} cannot be read ({failure!r}); delete {folder} and start again") from None
