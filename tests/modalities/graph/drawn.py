"""Graphs of the oracles as sets of graphs, and back."""

import numpy as np

from clrepro.modalities.graph.graph_sets import GraphSet
from tests.oracles.graphs import Graph


def as_set(graphs: list[Graph], labels=None) -> GraphSet:
    """Features of the oracles' graphs are one-hot rows."""
    sizes = np.array([graph.nodes for graph in graphs])
    offsets = np.cumsum(sizes) - sizes
    edges = [(a + offset, b + offset) for graph, offset in zip(graphs, offsets, strict=True) for a, b in graph.edges]
    kinds = np.concatenate([graph.features.argmax(axis=1) for graph in graphs])
    answers = np.array(labels if labels is not None else [graph.label for graph in graphs])
    ends = np.array(edges, np.int64).reshape(-1, 2).T
    return GraphSet.made(sizes, kinds, ends, answers, max(graph.features.shape[1] for graph in graphs))


def named(edges, loops: bool = False) -> Graph:
    """A graph of undirected edges, whose nodes have a label each, so that views tell which nodes are left."""
    both = sorted({*edges, *((b, a) for a, b in edges)})
    count = 1 + max(node for edge in both for node in edge)
    return Graph(count, tuple(both), np.eye(count))
