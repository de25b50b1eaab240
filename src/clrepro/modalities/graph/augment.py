"""Two views of a batch of graphs.

`released` is GraphCL's code with its defects: the first view is the plain graph, and both have self loops but for the
last connected node, which the second view loses again. `written` is what its text describes: both views are augmented,
no self loops, subgraphs grow, and as many edges are added as are taken away.
"""

from dataclasses import dataclass

import numpy as np

from clrepro.modalities.graph import ragged, rules
from clrepro.modalities.graph.draws import normals, uniforms
from clrepro.modalities.graph.graph_sets import GraphSet

CHOICES = {
    "random2": ("drop_nodes", "subgraph"),
    "random3": ("drop_nodes", "permute_edges", "subgraph"),
    "random4": ("drop_nodes", "permute_edges", "subgraph", "mask_nodes"),
}
CHOICE, NODES, EDGES, START, TRIES, NOISE, SOURCES, TARGETS = range(8)  # what a stream of random numbers is for
STREAMS = 8  # for one view


@dataclass(frozen=True, eq=False)
class View:
    """One view of a batch: its graphs, and the rows of nodes whose features are replaced, with the new ones."""

    graphs: GraphSet
    masked: np.ndarray
    features: np.ndarray


def plain(graphs: GraphSet) -> View:
    """The graphs as they are."""
    return View(graphs, np.empty(0, np.int64), np.empty((0, graphs.width), np.float32))


@dataclass(frozen=True)
class Augmentation:
    """name: of one augmentation, or of several of which each graph gets one, drawn in every epoch anew."""

    name: str
    behaviour: str
    drop_share: float
    subgraph_share: float

    @classmethod
    def of(cls, settings: dict) -> "Augmentation":
        """That of a recipe."""
        return cls(*(settings[name] for name in ("augmentation", "behaviour", "drop_share", "subgraph_share")))

    def view(self, graphs: GraphSet, rows: np.ndarray, seed: int, epoch: int, number: int) -> View:
        """The view with a number (0 or 1) of a batch.

        graphs: the batch, with self loops where `released`. rows: (B,) the graphs' numbers in their set, which their
        random numbers are drawn by.
        """
        streams = number * STREAMS
        chosen = self._chosen(rows, seed, epoch, streams + CHOICE)
        nodes, edges = np.ones(len(graphs.kinds), bool), np.ones(graphs.edges.shape[1], bool)
        added, masked, start = [], np.zeros(len(graphs.kinds), bool), graphs.starts[:-1].copy()
        for choice in np.unique(chosen):
            part = np.flatnonzero(chosen == choice)
            some, of = graphs.select(part), rows[part]
            in_nodes = np.repeat(chosen == choice, graphs.sizes)
            in_edges = np.repeat(chosen == choice, np.diff(graphs.edge_starts))

            def drawn(stream: int, sizes: np.ndarray, of: np.ndarray = of) -> np.ndarray:
                positions = ragged.rows(np.zeros(len(sizes), np.int64), sizes)
                return uniforms(seed, epoch, np.repeat(of, sizes), positions, streams + stream)

            if choice == "drop_nodes":
                nodes[in_nodes] = rules.kept_nodes(some, drawn(NODES, some.sizes), self.drop_share)
            elif choice == "subgraph":
                rule = rules.subgraph if self.behaviour == "released" else rules.growing_subgraph
                starts = uniforms(seed, epoch, of, np.zeros(len(of), np.int64), streams + START)
                nodes[in_nodes] = rule(some, starts, drawn(TRIES, some.sizes), self.subgraph_share)
                start[part] += (starts * some.sizes).astype(np.int64)
            elif choice == "mask_nodes":
                masked[in_nodes] = ~rules.kept_nodes(some, drawn(NODES, some.sizes), self.drop_share)
            elif self.behaviour == "released":
                counts = np.diff(some.edge_starts)
                of_edges = np.repeat(np.arange(len(some)), counts)
                edges[in_edges] = rules.kept_edges(of_edges, counts, drawn(EDGES, counts), self.drop_share)
            else:
                edges[in_edges], more = self._permuted(some, drawn)
                added.append(np.flatnonzero(in_nodes)[more])
        edges &= nodes[graphs.edges].all(axis=0)
        kept = graphs.edges[:, edges]
        if added:
            kept = np.unique(np.concatenate([kept, *added], axis=1), axis=1)
            kept = kept[:, np.lexsort(kept)]
        removes = self.behaviour == "released" and self.name not in ("permute_edges", "mask_nodes")
        if removes:
            nodes = self._connected(graphs, nodes, kept, start)
            kept = kept[:, kept[0] != kept[1]]
        features = self._noise(graphs, rows, np.flatnonzero(masked & nodes), seed, epoch, streams + NOISE)
        return assembled(graphs, nodes, kept, masked, features)

    def _chosen(self, rows: np.ndarray, seed: int, epoch: int, stream: int) -> np.ndarray:
        """(B,) the augmentation of each graph."""
        names = np.array(CHOICES.get(self.name, (self.name,)))
        draws = uniforms(seed, epoch, rows, np.zeros(len(rows), np.int64), stream)
        return names[(draws * len(names)).astype(np.int64)]

    @staticmethod
    def _connected(graphs: GraphSet, nodes: np.ndarray, edges: np.ndarray, start: np.ndarray) -> np.ndarray:
        """The released code removes nodes that no edge of an augmented graph has, self loops included.

        Of a graph that would vanish one node stays, the start of its subgraph or the first node that was kept: without
        it the released code pools nothing and its loss is not a number.
        """
        found = np.zeros(len(nodes), bool)
        found[edges] = True
        counts = np.bincount(graphs.graph[found], minlength=len(graphs))
        for graph in np.flatnonzero(counts == 0):
            begin, end = graphs.starts[graph : graph + 2]
            kept = begin + np.flatnonzero(nodes[begin:end])
            found[start[graph] if nodes[start[graph]] else kept[0]] = True
        return found

    def _permuted(self, some: GraphSet, drawn) -> tuple[np.ndarray, np.ndarray]:
        """Which edges stay, and as many edges (2, A) between random nodes instead; both directions of an edge stay,
        go and come together.
        """
        low, high = some.edges.min(axis=0), some.edges.max(axis=0)
        keys = drawn(EDGES, np.diff(some.edge_starts))
        pairs, of = np.unique(low * len(some.kinds) + high, return_inverse=True)
        first = np.full(len(pairs), np.inf)
        np.minimum.at(first, of, keys)
        graph = some.graph[pairs // len(some.kinds)]
        counts = np.bincount(graph, minlength=len(some))
        gone = ragged.counted(counts, self.drop_share)
        owner = np.repeat(np.arange(len(some)), gone)
        ends = [
            some.starts[owner] + (drawn(stream, gone) * some.sizes[owner]).astype(np.int64)
            for stream in (SOURCES, TARGETS)
        ]
        between = ends[0] != ends[1]
        pair = np.stack([ends[0][between], ends[1][between]])
        return (ragged.ranks(first, graph) >= gone[graph])[of], np.concatenate([pair, pair[::-1]], axis=1)

    @staticmethod
    def _noise(graphs: GraphSet, rows: np.ndarray, nodes: np.ndarray, seed: int, epoch: int, stream: int) -> np.ndarray:
        """Features of masked nodes, from N(0.5, 0.5)."""
        within = (nodes - graphs.starts[graphs.graph[nodes]])[:, None] * graphs.width + np.arange(graphs.width)
        items = np.broadcast_to(rows[graphs.graph[nodes]][:, None], within.shape)
        return (0.5 + 0.5 * normals(seed, epoch, items, within, stream)).astype(np.float32)


def assembled(graphs: GraphSet, nodes: np.ndarray, edges: np.ndarray, masked: np.ndarray, features: np.ndarray) -> View:
    """The kept nodes and edges, these in the order of targets, numbered anew."""
    numbers = np.cumsum(nodes) - 1
    sizes = np.bincount(graphs.graph[nodes], minlength=len(graphs))
    found = GraphSet(sizes, graphs.kinds[nodes], numbers[edges], graphs.labels, graphs.width)
    return View(found, np.flatnonzero(masked[nodes]), features)
