"""The rules of the augmentations: which nodes and edges are kept, from random numbers that are given.

GraphCL's, as its code has them (Shen-Lab/GraphCL at b4d7501, unsupervised_TU/aug.py:302-405 for graphs,
transferLearning_MoleculeNet_PPI/chem/loader.py:769-860 for molecules), and `growing_subgraph` as its text has it.
Random numbers come as uniforms in (0, 1), so that the draws of any generator can be replayed.
"""

from typing import Protocol

import numpy as np

from clrepro.modalities.graph import ragged


class Graphs(Protocol):
    """B graphs of n nodes in all. sizes: (B,). starts: (B + 1,) where each begins. graph: (n,) that of each node.

    neighbours: those of all nodes, one node after the other, each in ascending order: (n + 1,) where they begin, and
    (E,) themselves. A self loop makes a node its own neighbour.
    """

    sizes: np.ndarray
    starts: np.ndarray
    graph: np.ndarray
    neighbours: tuple[np.ndarray, np.ndarray]


def kept_nodes(graphs: Graphs, keys: np.ndarray, share: float) -> np.ndarray:
    """drop_nodes: (n,) False for the int(share size) nodes of each graph with the smallest keys (n,)."""
    return ragged.ranks(keys, graphs.graph) >= ragged.counted(graphs.sizes, share)[graphs.graph]


def kept_edges(of: np.ndarray, counts: np.ndarray, keys: np.ndarray, share: float) -> np.ndarray:
    """permute_edges: (E,) False for the int(share count) edges of each graph with the smallest keys (E,).

    of: (E,) the graph of each edge, directed ones and self loops alike; counts: (B,). The released code draws edges to
    add as well and then does not use them.
    """
    return ragged.ranks(keys, of) >= ragged.counted(counts, share)[of]


def first_nodes(graphs: Graphs, starts: np.ndarray) -> np.ndarray:
    """(B,) node int(size start) of each graph."""
    return graphs.starts[:-1] + (starts * graphs.sizes).astype(np.int64)


def subgraph(graphs: Graphs, starts: np.ndarray, tries: np.ndarray, share: float) -> np.ndarray:
    """The released subgraph: (n,) True for a start node of each graph and those of its neighbours that are drawn.

    starts: (B,). tries: (n,), one draw a node of the graph, uniform over the start's neighbours; those that are there
    already are skipped, and drawing ends with int(share size) + 1 nodes. The neighbours of what is drawn never come in,
    so it stays in the start's neighbourhood.
    """
    begins, others = graphs.neighbours
    first = first_nodes(graphs, starts)
    degrees = np.diff(begins)[first]
    drawing = degrees[graphs.graph] > 0
    of = graphs.graph[drawing]
    drawn = others[begins[first[of]] + (tries[drawing] * degrees[of]).astype(np.int64)]
    once = np.sort(np.unique(drawn, return_index=True)[1])  # the first time that each node is drawn
    once = once[drawn[once] != first[of[once]]]
    taken = once[ragged.ranks(once, of[once]) < ragged.counted(graphs.sizes, share)[of[once]]]
    kept = np.zeros(len(graphs.graph), bool)
    kept[first] = kept[drawn[taken]] = True
    return kept


def growing_subgraph(graphs: Graphs, starts: np.ndarray, tries: np.ndarray, share: float) -> np.ndarray:
    """The subgraph as written, with the same arguments: the neighbours of every node that is taken can be drawn.

    Each draw is uniform over the neighbours that are not taken yet, in ascending order; drawing ends with
    int(share size) + 1 nodes, or where no neighbour is left.
    """
    begins, others = graphs.neighbours
    kept, border = np.zeros(len(graphs.graph), bool), np.zeros(len(graphs.graph), bool)
    taken, wanted = first_nodes(graphs, starts), ragged.counted(graphs.sizes, share)
    for number in range(wanted.max(initial=0) + 1):
        kept[taken] = True
        border[others[ragged.rows(begins[taken], np.diff(begins)[taken])]] = True
        border &= ~kept
        rows = np.flatnonzero(border)
        counts = np.bincount(graphs.graph[rows], minlength=len(graphs.sizes))
        active = np.flatnonzero((counts > 0) & (wanted > number))
        draws = tries[graphs.starts[active] + number]
        taken = rows[ragged.starts(counts)[active] + (draws * counts[active]).astype(np.int64)]
    return kept
