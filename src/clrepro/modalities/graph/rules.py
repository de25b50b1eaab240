"""The rules of the augmentations: which nodes and edges are kept, from random numbers that are given.

GraphCL's, as its code has them (Shen-Lab/GraphCL at b4d7501, unsupervised_TU/aug.py:302-405), and `growing_subgraph` as
its text has it. Random numbers come as uniforms in (0, 1), so that the draws of any generator can be replayed.
"""

import numpy as np

from clrepro.modalities.graph import ragged
from clrepro.modalities.graph.graph_sets import GraphSet


def kept_nodes(graphs: GraphSet, keys: np.ndarray, share: float) -> np.ndarray:
    """drop_nodes: (N,) False for the int(share n) nodes of each graph with the smallest keys (N,)."""
    return ragged.ranks(keys, graphs.graph) >= counted(graphs.sizes, share)[graphs.graph]


def kept_edges(graphs: GraphSet, keys: np.ndarray, share: float) -> np.ndarray:
    """permute_edges: (E,) False for the int(share E) directed edges of each graph, self loops among them, with the
    smallest keys (E,). The released code draws edges to add as well and then does not use them.
    """
    of = graphs.graph[graphs.edges[1]]
    return ragged.ranks(keys, of) >= counted(np.diff(graphs.edge_starts), share)[of]


def subgraph(graphs: GraphSet, starts: np.ndarray, tries: np.ndarray, share: float) -> np.ndarray:
    """The released subgraph: (N,) True for the start node and those of its neighbours that are drawn.

    starts: (G,), the start node is int(n starts). tries: (N,), one draw a node of the graph, uniform over the start's
    neighbours (itself included by its self loop); those that are there already are skipped, and drawing ends with
    int(share n) + 1 nodes. The neighbours of what is drawn never come in, so it stays in the start's neighbourhood.
    """
    first = graphs.starts[:-1] + (starts * graphs.sizes).astype(np.int64)
    begins = np.searchsorted(graphs.edges[1], first)
    degrees = np.searchsorted(graphs.edges[1], first, side="right") - begins
    drawing = degrees[graphs.graph] > 0
    of = graphs.graph[drawing]
    drawn = graphs.edges[0, begins[of] + (tries[drawing] * degrees[of]).astype(np.int64)]
    once = np.sort(np.unique(drawn, return_index=True)[1])  # the first time that each node is drawn
    once = once[drawn[once] != first[of[once]]]
    taken = once[ragged.ranks(once, of[once]) < counted(graphs.sizes, share)[of[once]]]
    kept = np.zeros(len(graphs.kinds), bool)
    kept[first] = kept[drawn[taken]] = True
    return kept


def growing_subgraph(graphs: GraphSet, starts: np.ndarray, tries: np.ndarray, share: float) -> np.ndarray:
    """The subgraph as written: the neighbours of every node that is taken can be drawn from then on.

    The same arguments; each draw is uniform over the neighbours that are not taken yet. It ends with int(share n) + 1
    nodes, or where no neighbour is left.
    """
    kept = np.zeros(len(graphs.kinds), bool)
    first = graphs.starts[:-1] + (starts * graphs.sizes).astype(np.int64)
    wanted = counted(graphs.sizes, share)
    sources, pointers = graphs.edges[0].tolist(), np.searchsorted(graphs.edges[1], np.arange(len(kept) + 1)).tolist()
    for node, count, offset in zip(first.tolist(), wanted.tolist(), graphs.starts.tolist(), strict=False):
        seen, border = {node}, []
        kept[node] = True
        for draw in tries[offset : offset + count].tolist():
            fresh = [other for other in sources[pointers[node] : pointers[node + 1]] if other not in seen]
            seen.update(fresh)
            border += dict.fromkeys(fresh)
            if not border:
                break
            place = int(draw * len(border))
            border[place], border[-1] = border[-1], border[place]
            node = border.pop()
            kept[node] = True
    return kept


def counted(sizes: np.ndarray, share: float) -> np.ndarray:
    """int(share n) for each n."""
    return (sizes * share).astype(np.int64)
