"""GraphCL's and MACL's graph classification as Shen-Lab/GraphCL at b4d7501 runs it, one node after the other.

The reference for the fast implementation: Python loops, NumPy, and plain torch in float64 where a gradient is
needed; nothing is shared with the library. "Released" is what that code computes, "written" what the text of GraphCL
says. The sections that the docstrings name are those of the project's facts sheet on the graph experiments: 2 the
losses, 3 classification (3.1 data, 3.2 augmentations, 3.3 views, 3.4 encoder), 6 golden values.

Edges are directed pairs (source, target): an undirected edge is there in both directions. Random draws come from
NumPy's legacy global generator, in the released order; the ``..._distribution`` functions give the exact
probabilities of the same outcomes as fractions, for implementations with another generator.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import torch

LABELLED = ("MUTAG", "PTC_MR", "DD", "PROTEINS", "NCI1", "NCI109")
CHOICES = {
    "random2": ("drop_nodes", "subgraph"),
    "random3": ("drop_nodes", "permute_edges", "subgraph"),
    "random4": ("drop_nodes", "permute_edges", "subgraph", "mask_nodes"),
}
REMOVING = ("drop_nodes", "subgraph", "random2", "random3", "random4")


@dataclass(frozen=True)
class Graph:
    """A graph: number of nodes, directed edges, a feature row for every node, and its class."""

    nodes: int
    edges: tuple[tuple[int, int], ...]
    features: np.ndarray
    label: int = 0


@dataclass(frozen=True)
class Augmented:
    """An augmented graph before the removal of section 3.3: every node still has its row.

    ``kept`` are the nodes that were not dropped, ascending; ``start`` is subgraph's first node, else None.
    """

    graph: Graph
    kept: tuple[int, ...]
    start: int | None = None


# Data (3.1)


def node_count(sources: list[int]) -> int:
    """Nodes of a graph without labels as released (3.1): the last of the sorted edge sources, plus one.

    Isolated nodes behind it vanish. The rule has no answer for a graph without edges.
    """
    if not sources:
        raise ValueError("the released rule counts no nodes where there are no edges")
    return sorted(sources)[-1] + 1


def read_tu(folder: Path, name: str, one_hot: bool | None = None) -> list[Graph]:
    """Read a set in the TU text format (3.1), graphs in the order of their numbers.

    Edges are unique and sorted by source, then target; no self loops are added. Classes are numbered from 0 in the
    order of the labels as integers. With ``one_hot`` (unless given: for the sets in ``LABELLED``) the features are
    node label one-hots whose width is the largest label minus the smallest plus one over the whole set (so DD has 89
    columns for 82 labels); else the feature is a constant 1 and ``node_count`` gives the number of nodes.
    """
    one_hot = name in LABELLED if one_hot is None else one_hot

    def integers(part):
        lines = (Path(folder) / f"{name}_{part}.txt").read_text("utf-8").splitlines()
        return [[int(number) for number in line.split(",")] for line in lines if line.strip()]

    owners = [row[0] for row in integers("graph_indicator")]
    labels = [row[0] for row in integers("graph_labels")]
    node_labels = [row[0] for row in integers("node_labels")] if one_hot else []
    members = {number: [] for number in range(1, len(labels) + 1)}
    place = []
    for node, owner in enumerate(owners):
        place.append(len(members[owner]))
        members[owner].append(node)
    edges = {number: set() for number in members}
    for source, target in integers("A"):
        if owners[source - 1] != owners[target - 1]:
            raise ValueError(f"edge {source}, {target} joins two graphs")
        edges[owners[source - 1]].add((place[source - 1], place[target - 1]))
    classes = sorted(set(labels))
    lowest, width = (min(node_labels), max(node_labels) - min(node_labels) + 1) if one_hot else (0, 1)
    graphs = []
    for number, nodes in members.items():
        ordered = tuple(sorted(edges[number]))
        if one_hot:
            features = np.zeros((len(nodes), width))
            for row, node in enumerate(nodes):
                features[row, node_labels[node] - lowest] = 1.0
        else:
            features = np.ones((node_count([source for source, _ in ordered]), 1))
        graphs.append(Graph(len(features), ordered, features, classes.index(labels[number - 1])))
    return graphs


def with_self_loops(graph: Graph) -> Graph:
    """Append the released self loops (3.1): on nodes 0 ... m - 1, m the largest index that occurs in an edge."""
    last = max((max(edge) for edge in graph.edges), default=0)
    return replace(graph, edges=(*graph.edges, *((node, node) for node in range(last))))


# Augmentations (3.2), on graphs that have their self loops


def only_nodes(graph: Graph, kept) -> Graph:
    """Take away the edges of all other nodes (3.2): the rest unique, by source, then target; all rows stay."""
    return replace(graph, edges=tuple(sorted({(a, b) for a, b in graph.edges if a in kept and b in kept})))


def drop_nodes(graph: Graph) -> Augmented:
    """Drop int(n / 10) nodes, drawn without replacement (3.2)."""
    dropped = np.random.choice(graph.nodes, int(graph.nodes / 10), replace=False)
    kept = tuple(node for node in range(graph.nodes) if node not in dropped)
    return Augmented(only_nodes(graph, kept), kept)


def permute_edges(graph: Graph, written: bool = False) -> Augmented:
    """Keep E - m of the E directed edges, self loops among them, m = int(E / 10), in drawn order (3.2).

    Released: m ordered pairs of nodes are drawn first, uniform and with replacement, and not used. Written: these m
    pairs are appended as they are, whether or not the graph has them, so there are E edges again.
    """
    edges = len(graph.edges)
    changed = int(edges / 10)
    added = [(int(source), int(target)) for source, target in np.random.choice(graph.nodes, (changed, 2))]
    kept = [graph.edges[int(number)] for number in np.random.choice(edges, edges - changed, replace=False)]
    return Augmented(replace(graph, edges=tuple(kept + (added if written else []))), tuple(range(graph.nodes)))


def targets(edges, node: int) -> set[int]:
    """The nodes that an edge from ``node`` leads to, itself where it has a self loop, put in in the edges' order."""
    return {target for source, target in edges if source == node}


def grow(nodes: int, edges, wanted: int, written: bool = False) -> list[int]:
    """Draw subgraph's nodes, in the order of drawing (3.2).

    Released: the list starts with a uniform node. While it has at most ``wanted`` nodes, and at most n times, draw
    uniformly from the start node's neighbours (itself included by its self loop); append the node unless it is there.

    Written: the list starts with a uniform node. Candidates are the neighbours of all nodes in the list together;
    one is drawn uniformly and skipped if it is in the list; until there are ``wanted`` + 1 nodes or no candidate
    outside the list is left. The number of tries has no limit.

    Released candidates are listed in the order of a Python set (ascending in small graphs), written ones ascending.
    """
    chosen = [int(np.random.randint(nodes))]
    near = targets(edges, chosen[0])
    tries = 0
    while len(chosen) <= wanted and near:
        if near <= set(chosen) if written else tries == nodes:
            break
        tries += 1
        node = int(np.random.choice(sorted(near) if written else list(near)))
        if node not in chosen:
            chosen.append(node)
            near = near | targets(edges, node) if written else near
    return chosen


def subgraph(graph: Graph, written: bool = False) -> Augmented:
    """Keep the nodes that ``grow`` draws, int(0.2 n) + 1 at most (3.2), and drop the others."""
    chosen = grow(graph.nodes, graph.edges, int(0.2 * graph.nodes), written)
    return Augmented(only_nodes(graph, chosen), tuple(sorted(chosen)), chosen[0])


def mask_nodes(graph: Graph) -> Augmented:
    """Replace int(n / 10) rows, drawn without replacement, by draws of N(0.5, 0.5), second the deviation (3.2)."""
    masked = int(graph.nodes / 10)
    rows = np.random.choice(graph.nodes, masked, replace=False)
    features = graph.features.copy()
    features[rows] = np.random.normal(0.5, 0.5, (masked, features.shape[1]))
    return Augmented(replace(graph, features=features), tuple(range(graph.nodes)))


def augment(graph: Graph, name: str, written: bool = False) -> Augmented:
    """Apply an augmentation by name (3.2); random2, random3 and random4 draw one of their list for every access."""
    if name in CHOICES:
        name = CHOICES[name][int(np.random.randint(len(CHOICES[name])))]
    if name == "permute_edges":
        return permute_edges(graph, written)
    if name == "subgraph":
        return subgraph(graph, written)
    return {"drop_nodes": drop_nodes, "mask_nodes": mask_nodes}[name](graph)


# Views (3.3)


def survivors(augmented: Augmented, guard: bool = True) -> tuple[int, ...]:
    """The nodes that occur in an edge of the augmented graph, self loops counted (3.3 a).

    ``guard`` is a choice of this project: where none is left, the start node stays, or the lowest kept node.
    """
    left = tuple(sorted({node for edge in augmented.graph.edges for node in edge}))
    if left or not guard:
        return left
    return (min(augmented.kept) if augmented.start is None else augmented.start,)


def cleared(augmented: Augmented, guard: bool = True) -> Graph:
    """View 2 of an augmented graph (3.3): only the survivors, numbered anew in order, and no self loops."""
    left = survivors(augmented, guard)
    edges = [(left.index(a), left.index(b)) for a, b in augmented.graph.edges if a != b]
    features = augmented.graph.features[list(left)]
    return replace(augmented.graph, nodes=len(left), edges=tuple(edges), features=features)


def second_view(graph: Graph, name: str, written: bool = False, guard: bool = True) -> Graph:
    """View 2 of a graph that has its self loops (3.3); permute_edges and mask_nodes alone are not cleared."""
    augmented = augment(graph, name, written)
    return cleared(augmented, guard) if name in REMOVING else augmented.graph


# Exact distributions of the same draws


def drop_distribution(count: int, dropped: int) -> dict[tuple[int, ...], Fraction]:
    """Probability of every choice that remains, ascending, when ``dropped`` of ``count`` nodes (or edges) go (3.2)."""
    remaining = list(combinations(range(count), count - dropped))
    return {kept: Fraction(1, len(remaining)) for kept in remaining}


def grow_distribution(nodes: int, edges, wanted: int, written: bool = False) -> dict[tuple[int, ...], Fraction]:
    """Probability of every list that ``grow`` may return, in the order of drawing, by enumeration of its draws.

    Written: as a draw that is skipped changes nothing, the next node is uniform over the candidates outside.
    """
    growing = {(node,): Fraction(1, nodes) for node in range(nodes)}
    result = defaultdict(Fraction)
    tries = 0
    while growing:
        following = defaultdict(Fraction)
        for chosen, probability in growing.items():
            near = set().union(*(targets(edges, node) for node in (chosen if written else chosen[:1])))
            outside = near - set(chosen)
            if len(chosen) > wanted or not outside or (tries == nodes and not written):
                result[chosen] += probability
                continue
            draws = len(outside) if written else len(near)
            for node in outside:
                following[(*chosen, node)] += probability / draws
            if draws > len(outside):
                following[chosen] += probability * Fraction(draws - len(outside), draws)
        growing = following
        tries += 1
    return dict(result)


def augmented_distribution(graph: Graph, name: str, written: bool = False) -> list[tuple[Augmented, Fraction]]:
    """What ``augment`` may return, with probabilities; mask_nodes with its features as they were (3.2).

    The written permute_edges is left out: it has too many outcomes.
    """
    everything = tuple(range(graph.nodes))
    if name in CHOICES:
        parts = [augmented_distribution(graph, one, written) for one in CHOICES[name]]
        return [(augmented, probability / len(parts)) for part in parts for augmented, probability in part]
    if name == "drop_nodes":
        drawn = drop_distribution(graph.nodes, int(graph.nodes / 10))
        return [(Augmented(only_nodes(graph, kept), kept), drawn[kept]) for kept in drawn]
    if name == "subgraph":
        drawn = grow_distribution(graph.nodes, graph.edges, int(0.2 * graph.nodes), written)
        return [(Augmented(only_nodes(graph, kept), tuple(sorted(kept)), kept[0]), drawn[kept]) for kept in drawn]
    if name == "permute_edges" and not written:
        drawn = drop_distribution(len(graph.edges), int(len(graph.edges) / 10))
        thinned = {kept: replace(graph, edges=tuple(graph.edges[number] for number in kept)) for kept in drawn}
        return [(Augmented(thinned[kept], everything), drawn[kept]) for kept in drawn]
    if name == "mask_nodes":
        return [(Augmented(graph, everything), Fraction(1))]
    raise ValueError(f"no distribution of {name}")


def second_view_distribution(graph: Graph, name: str, written: bool = False, guard: bool = True) -> dict:
    """Probability of every structure of view 2 (3.3): (the graph's nodes that are left, the view's edges sorted).

    Give the nodes different features to tell them apart in a view; masked rows are not told from others.
    """
    result = defaultdict(Fraction)
    for augmented, probability in augmented_distribution(graph, name, written):
        if name in REMOVING:
            key = survivors(augmented, guard), tuple(sorted(cleared(augmented, guard).edges))
        else:
            key = augmented.kept, tuple(sorted(augmented.graph.edges))
        result[key] += probability
    return dict(result)


# Encoder, head (3.4) and losses (2)


def weights(k: int, outputs: int, inputs: int) -> np.ndarray:
    """The k-th weight matrix of section 6: W_ij = 0.6 cos(1 + 2.3 i + 1.7 j + 0.9 k), i output, j input."""
    return np.array([[0.6 * math.cos(1 + 2.3 * i + 1.7 * j + 0.9 * k) for j in range(inputs)] for i in range(outputs)])


def biases(k: int, outputs: int) -> np.ndarray:
    """The k-th vector of biases of section 6: 0.1 cos(0.5 + 1.1 i + k)."""
    return np.array([0.1 * math.cos(0.5 + 1.1 * i + k) for i in range(outputs)])


def trainable(array: np.ndarray) -> torch.Tensor:
    """A float64 tensor that collects gradients."""
    return torch.tensor(np.asarray(array), dtype=torch.float64, requires_grad=True)


def linear(k: int, outputs: int, inputs: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of the k-th linear layer of section 6."""
    return trainable(weights(k, outputs, inputs)), trainable(biases(k, outputs))


def two_layers(first, second, rows: torch.Tensor) -> torch.Tensor:
    """An MLP, a head (3.4, 4.2): linear, ReLU, linear, where linear is W x + b."""
    return torch.relu(rows @ first[0].T + first[1]) @ second[0].T + second[1]


class BatchNorm:
    """Batch normalisation over rows (3.4): eps 1e-5, momentum 0.1; the running variance is the unbiased one."""

    def __init__(self, width: int):
        self.scale, self.shift = trainable(np.ones(width)), trainable(np.zeros(width))
        self.running_mean = torch.zeros(width, dtype=torch.float64)
        self.running_variance = torch.ones(width, dtype=torch.float64)

    def __call__(self, rows: torch.Tensor, training: bool) -> torch.Tensor:
        mean, variance = self.running_mean, self.running_variance
        if training:
            count = len(rows)
            mean = rows.sum(0) / count
            variance = ((rows - mean) ** 2).sum(0) / count
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean.detach()
            self.running_variance = 0.9 * self.running_variance + 0.1 * variance.detach() * count / (count - 1)
        return (rows - mean) / torch.sqrt(variance + 1e-5) * self.scale + self.shift


@dataclass
class Encoder:
    """GIN and head (3.4): two linear layers (weight, bias) and a BatchNorm a convolution, two linear layers after."""

    convolutions: list[tuple]
    norms: list[BatchNorm]
    head: tuple

    def convolution_parameters(self) -> list[torch.Tensor]:
        return [tensor for convolution in self.convolutions for layer in convolution for tensor in layer]

    def head_parameters(self) -> list[torch.Tensor]:
        return [tensor for layer in self.head for tensor in layer]


def formula_encoder(inputs: int = 3, width: int = 4, layers: int = 3) -> Encoder:
    """The encoder of section 6.1: convolutions k 0 to 2 layers - 1, then the head; BatchNorm fresh."""
    convolutions = []
    for layer in range(layers):
        into = inputs if layer == 0 else width
        convolutions.append((linear(2 * layer, width, into), linear(2 * layer + 1, width, width)))
    total = width * layers
    head = (linear(2 * layers, total, total), linear(2 * layers + 1, total, total))
    return Encoder(convolutions, [BatchNorm(width) for _ in range(layers)], head)


def encode(encoder: Encoder, graphs: list[Graph], training: bool = False) -> torch.Tensor:
    """Embeddings of a batch before the head (3.4), (graphs, layers x width).

    Layer: m_i = MLP(x_i + sum over edges j -> i of x_j), MLP = linear, ReLU, linear; ReLU; BatchNorm over the nodes
    of the batch. The outputs of every layer are summed over a graph's nodes and the sums put side by side. A graph
    without nodes gets a row of zeros. Training changes the running statistics.
    """
    starts = [sum(graph.nodes for graph in graphs[:number]) for number in range(len(graphs))]
    edges = [(start + a, start + b) for start, graph in zip(starts, graphs, strict=True) for a, b in graph.edges]
    rows = torch.tensor(np.concatenate([graph.features for graph in graphs]), dtype=torch.float64)
    pooled = []
    for (first, second), norm in zip(encoder.convolutions, encoder.norms, strict=True):
        sums = list(rows)
        for source, target in edges:
            sums[target] = sums[target] + rows[source]
        rows = norm(torch.relu(two_layers(first, second, torch.stack(sums))), training)
        owned = [rows[start : start + graph.nodes] for start, graph in zip(starts, graphs, strict=True)]
        pooled.append(torch.stack([own.sum(0) for own in owned]))
    return torch.cat(pooled, 1)


def cosines(view1: torch.Tensor, view2: torch.Tensor) -> torch.Tensor:
    """s_ij = cos(z1_i, z2_j), without eps (section 2): a row of zeros gives not-a-number."""
    unit1 = [row / torch.sqrt((row * row).sum()) for row in view1]
    unit2 = [row / torch.sqrt((row * row).sum()) for row in view2]
    return torch.stack([torch.stack([(a * b).sum() for b in unit2]) for a in unit1])


def graphcl_loss(view1: torch.Tensor, view2: torch.Tensor, temperature: float) -> torch.Tensor:
    """L = mean_i [-s_ii / T + log sum_{j != i} exp(s_ij / T)] (section 2), exponentials without a shift."""
    s = cosines(view1, view2)
    terms = []
    for i in range(len(s)):
        negatives = sum(torch.exp(s[i, j] / temperature) for j in range(len(s)) if j != i)
        terms.append(-s[i, i] / temperature + torch.log(negatives))
    return sum(terms) / len(terms)


def adapted_temperature(view1, view2, base: float, alpha: float, threshold: float) -> tuple[float, float]:
    """(A, tau_a) (section 2): A = mean_i s_ii without gradient, tau_a = tau_0 (1 + alpha (A - A_0))."""
    s = cosines(view1, view2).detach()
    aligned = sum(float(s[i, i]) for i in range(len(s))) / len(s)
    return aligned, base * (1 + alpha * (aligned - threshold))


def macl_loss(view1, view2, base: float, alpha: float, threshold: float, reweight: bool = True) -> torch.Tensor:
    """L = mean_i V_i (-log P_i) (section 2): P_i the positive's softmax over all j at tau_a, V_i = 1 / (1 - P_i).

    Neither A in tau_a nor V has a gradient; V_i = 1 without reweighting.
    """
    s = cosines(view1, view2)
    temperature = adapted_temperature(view1, view2, base, alpha, threshold)[1]
    terms = []
    for i in range(len(s)):
        probability = torch.exp(s[i, i] / temperature) / sum(torch.exp(value / temperature) for value in s[i])
        factor = 1 / (1 - probability.detach()) if reweight else 1.0
        terms.append(-torch.log(probability) * factor)
    return sum(terms) / len(terms)


def gradient_norm(loss: torch.Tensor, parameters: list[torch.Tensor]) -> float:
    """Euclidean norm of the loss's gradient with respect to all the parameters together (6.2, 6.4)."""
    gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
    return math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))


# The toy graphs of section 6.1

TOY = {
    "A": ("01 12 23 34 04 25 56", (0, 1, 0, 2, 1, 0, 2), 3),
    "B": ("01 02 03 04", (1, 0, 0, 2, 2), 4),
    "C": ("01 12 23 34 45", (2, 2, 1, 0, 1, 0), 0),
    "D": ("01 12 23 03 02", (0, 0, 1, 2), 1),
}


def toy_graph(name: str) -> Graph:
    """One of A to D (6.1) without self loops; edges in both directions, one-hots of width 3."""
    pairs, labels, _ = TOY[name]
    undirected = [(int(pair[0]), int(pair[1])) for pair in pairs.split()]
    edges = sorted({*undirected, *((b, a) for a, b in undirected)})
    return Graph(len(labels), tuple(edges), np.eye(3)[list(labels)])


def toy_views() -> tuple[list[Graph], list[Graph]]:
    """Both views of A to D (6.1): with self loops; and with one node removed, the others numbered anew, no loops."""
    view1, view2 = [], []
    for name in TOY:
        graph = toy_graph(name)
        dropped = TOY[name][2]
        left = [node for node in range(graph.nodes) if node != dropped]
        edges = [(left.index(a), left.index(b)) for a, b in only_nodes(graph, left).edges]
        view1.append(with_self_loops(graph))
        view2.append(Graph(len(left), tuple(edges), graph.features[left]))
    return view1, view2
