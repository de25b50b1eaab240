"""The oracles of the graph experiments give every golden value, and their exact distributions are those of the draws.

Sections are those of the project's facts sheet on the graph experiments.
"""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from tests.oracles import golden_graphs as golden
from tests.oracles import graphs, molecules

LOSSES = {"graphcl": graphs.graphcl_loss, "macl": graphs.macl_loss}


def printed(values, digits=6):
    """The value or values as golden values are given: rounded, and the same type of zero."""
    if isinstance(values, torch.Tensor):
        values = values.detach().numpy()
    return (np.asarray(values).round(digits) + 0.0).tolist()


def looped(nodes, pairs):
    """A graph with the undirected edges, released self loops and one column a node."""
    both = sorted({*pairs, *((b, a) for a, b in pairs)})
    return graphs.with_self_loops(graphs.Graph(nodes, tuple(both), np.eye(nodes)))


def ring(nodes):
    return looped(nodes, [(node, (node + 1) % nodes) for node in range(nodes)])


def star(nodes):
    return looped(nodes, [(0, leaf) for leaf in range(1, nodes)])


def path(nodes):
    return looped(nodes, [(node, node + 1) for node in range(nodes - 1)])


def shares(draw, times=4000):
    np.random.seed(0)
    counts = Counter(draw() for _ in range(times))
    return {outcome: count / times for outcome, count in counts.items()}


def assert_close_to(expected, found, tolerance=0.03):
    assert sum(expected.values()) == 1
    assert set(found) <= set(expected)
    for outcome, probability in expected.items():
        assert found.get(outcome, 0.0) == pytest.approx(float(probability), abs=tolerance)


@pytest.fixture
def toy():
    """The encoder of section 6.1, and both projections of one step in training mode, view 1 first."""
    encoder = graphs.formula_encoder()
    view1, view2 = graphs.toy_views()
    first = graphs.two_layers(*encoder.head, graphs.encode(encoder, view1, training=True))
    second = graphs.two_layers(*encoder.head, graphs.encode(encoder, view2, training=True))
    return encoder, first, second


def test_the_toy_graphs_embeddings():
    embeddings = graphs.encode(graphs.formula_encoder(), graphs.toy_views()[0])
    assert printed(embeddings) == golden.GRAPH_EMBEDDINGS


def test_the_toy_graphs_training_step(toy):
    encoder, first, second = toy
    assert printed(first[0]) == golden.FIRST_PROJECTION
    assert printed(encoder.norms[0].running_mean) == golden.RUNNING_MEAN
    assert printed(encoder.norms[0].running_variance) == golden.RUNNING_VARIANCE
    assert printed(graphs.cosines(first, second)) == golden.COSINES
    for base, adapted in golden.ADAPTED_TEMPERATURES.items():
        assert printed(graphs.adapted_temperature(first, second, base, 0.5, 0.0)) == [golden.ALIGNMENT, adapted]


@pytest.mark.parametrize(("loss", "parameters", "value", "convolutions", "head"), golden.GRAPH_LOSSES)
def test_the_toy_graphs_losses_and_gradients(toy, loss, parameters, value, convolutions, head):
    encoder, first, second = toy
    found = LOSSES[loss](first, second, **parameters)
    assert printed(found) == value
    assert printed(graphs.gradient_norm(found, encoder.convolution_parameters())) == convolutions
    assert printed(graphs.gradient_norm(found, encoder.head_parameters())) == head


def test_macl_has_graphcls_gradient_at_the_adapted_temperature(toy):
    encoder, first, second = toy
    parameters = encoder.convolution_parameters() + encoder.head_parameters()
    _, adapted = graphs.adapted_temperature(first, second, 0.2, 0.5, 0.0)
    macl = torch.autograd.grad(graphs.macl_loss(first, second, 0.2, 0.5, 0.0), parameters, retain_graph=True)
    graphcl = torch.autograd.grad(graphs.graphcl_loss(first, second, adapted), parameters)
    for one, other in zip(macl, graphcl, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_identical_views_and_a_row_of_zeros():
    views = torch.eye(3, dtype=torch.float64)
    assert printed(graphs.graphcl_loss(views, views, 0.1)) == golden.IDENTICAL_ORTHOGONAL_LOSS
    with_zero = views * torch.tensor([[1.0], [0.0], [1.0]])
    assert math.isnan(graphs.graphcl_loss(with_zero, views, 0.1))


def test_the_tu_format(tmp_path):
    def write(part, lines):
        (tmp_path / f"MUTAG_{part}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")

    write("A", ["2, 1", "1, 2", "1, 2", "5, 4", "4, 5", "4, 6", "6, 4"])  # the third is there twice
    write("graph_indicator", [1, 1, 1, 2, 2, 2])
    write("graph_labels", [1, -1])
    write("node_labels", [3, 6, 3, 4, 4, 6])
    first, second = graphs.read_tu(tmp_path, "MUTAG")
    assert (first.label, second.label) == (1, 0)
    assert (first.nodes, first.edges) == (3, ((0, 1), (1, 0)))
    assert (second.nodes, second.edges) == (3, ((0, 1), (0, 2), (1, 0), (2, 0)))
    assert first.features.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert graphs.with_self_loops(first).edges == ((0, 1), (1, 0), (0, 0))
    assert graphs.with_self_loops(second).edges[4:] == ((0, 0), (1, 1))
    constant, _ = graphs.read_tu(tmp_path, "MUTAG", one_hot=False)
    assert (constant.nodes, constant.features.tolist()) == (2, [[1], [1]])
    with pytest.raises(ValueError, match="no edges"):
        graphs.node_count([])


def test_the_draws_of_classification():
    graph = looped(12, golden.RING_WITH_CHORDS)
    assert len(graph.edges) == golden.RING_EDGES
    for seed, dropped in golden.RING_DROPPED.items():
        np.random.seed(seed)
        assert set(range(12)) - set(graphs.drop_nodes(graph).kept) == set(dropped)
    for seed, kept in golden.RING_SUBGRAPH.items():
        np.random.seed(seed)
        assert graphs.subgraph(graph).kept == kept
    np.random.seed(0)
    edges = graphs.permute_edges(graph).graph.edges
    assert len(set(edges)) == len(edges) == golden.RING_EDGES_KEPT
    assert set(edges) < set(graph.edges)
    np.random.seed(0)
    masked = graphs.mask_nodes(replace(graph, features=np.zeros((12, 3)))).graph.features
    assert (masked != 0).any(1).sum() == 1


def test_the_sizes_of_released_subgraphs():
    np.random.seed(0)
    assert {len(graphs.subgraph(ring(30)).kept) for _ in range(100)} == {3}
    found = [graphs.subgraph(star(31)) for _ in range(400)]
    assert {(one.start == 0, len(one.kept)) for one in found} == {(True, 7), (False, 2)}


def test_the_draws_on_a_molecule():
    whole = molecules.molecule([5] * 12, [(*pair, 3) for pair in golden.RING_WITH_CHORDS])
    for draw, expected in (
        (molecules.drop_nodes, golden.MOLECULE_DROP),
        (molecules.subgraph, golden.MOLECULE_SUBGRAPH),
    ):
        for seed, kept in expected.items():
            np.random.seed(seed)
            assert draw(whole)[1] == kept
    four = molecules.molecule([5] * 4, [(0, 1, 0), (1, 2, 0), (2, 3, 0)])
    assert molecules.subgraph(four) == (four, (0, 1, 2, 3))


def test_view_2_loses_self_loops_and_the_last_connected_node():
    graph = path(5)  # no self loop on node 4, so without node 3 it occurs in no edge; node 2 has its own
    view = graphs.cleared(graphs.Augmented(graphs.only_nodes(graph, {0, 1, 2, 4}), (0, 1, 2, 4)))
    assert (view.nodes, view.edges) == (3, ((0, 1), (1, 0), (1, 2), (2, 1)))
    assert view.features.tolist() == np.eye(5)[:3].tolist()
    lonely = graphs.cleared(graphs.Augmented(graphs.only_nodes(graph, {0, 2, 4}), (0, 2, 4)))
    assert (lonely.nodes, lonely.edges) == (2, ())


def test_a_graph_that_would_vanish_keeps_a_node():
    graph = path(4)
    last = graphs.Augmented(graphs.only_nodes(graph, {3}), (3,), start=3)
    assert graphs.cleared(last, guard=False).nodes == 0
    assert graphs.survivors(last) == (3,)
    assert graphs.survivors(replace(last, kept=(2, 3), start=None)) == (2,)
    assert graphs.second_view_distribution(graph, "subgraph") == {((node,), ()): Fraction(1, 4) for node in range(4)}
    rows = graphs.encode(graphs.formula_encoder(), [graphs.toy_graph("A"), graphs.Graph(0, (), np.zeros((0, 3)))])
    assert printed(rows[1]) == [0.0] * 12  # the released pool of a graph without nodes


def test_the_written_augmentations():
    np.random.seed(0)
    kept = {graphs.subgraph(ring(30), written=True).kept for _ in range(100)}
    assert {len(nodes) for nodes in kept} == {7}
    graph = looped(12, golden.RING_WITH_CHORDS)
    edges = graphs.permute_edges(graph, written=True).graph.edges
    assert len(edges) == golden.RING_EDGES
    assert len([edge for edge in edges[:36] if edge in graph.edges]) == 36


def test_the_probability_of_a_failing_try():
    # k = 1 and five tries: a leaf with a self loop draws the hub or itself, and fails with 2^-5
    distribution = graphs.grow_distribution(5, star(5).edges, 1)
    assert distribution[1,] == Fraction(1, 5 * 2**5)
    assert distribution[1, 0] == Fraction(1, 5) - distribution[1,]
    assert distribution[4, 0] == Fraction(1, 5)
    assert distribution[0, 1] == (Fraction(1, 5) - distribution[0,]) / 4


@pytest.mark.parametrize(
    ("name", "written", "nodes"),
    [
        *(("drop_nodes", False, 11), ("subgraph", False, 11), ("subgraph", True, 11), ("random2", True, 11)),
        *(("random4", False, 5), ("permute_edges", False, 5)),  # 12 edges with self loops: one goes
    ],
)
def test_the_distribution_of_view_2_is_that_of_the_draws(name, written, nodes):
    pairs = [(0, 1), (0, 2), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10)]
    graph = looped(nodes, [pair for pair in pairs if max(pair) < nodes])

    def draw():
        augmented = graphs.augment(graph, name, written)
        view = graphs.cleared(augmented) if name in graphs.REMOVING else augmented.graph
        return graphs.survivors(augmented), tuple(sorted(view.edges))

    assert_close_to(graphs.second_view_distribution(graph, name, written), shares(draw))


@pytest.mark.parametrize("written", [False, True])
def test_the_distribution_on_a_molecule_is_that_of_the_draws(written):
    whole = molecules.molecule_from_smiles("CC(=O)NC1CC1")
    expected = molecules.kept_distribution(whole, "random", written=written)
    assert_close_to(expected, shares(lambda: molecules.random(whole, written=written)[1]))


def test_the_features_of_a_smiles():
    whole = molecules.molecule_from_smiles("F/C=C/[C@H](N)C#N")
    assert whole.atoms == ((8, 0), (5, 0), (5, 0), (5, 2), (6, 0), (5, 0), (6, 0))
    assert whole.bonds[:4] == ((0, 1, 0, 1), (1, 0, 0, 1), (1, 2, 1, 0), (2, 1, 1, 0))
    assert whole.bonds[-2:] == ((5, 6, 2, 0), (6, 5, 2, 0))
    benzene = molecules.molecule_from_smiles("c1ccccc1")
    assert {bond[2:] for bond in benzene.bonds} == {(3, 0)}
    assert molecules.molecule_from_smiles("C").bonds == ()
    for wrong in ("C1CC", "*C"):
        with pytest.raises(ValueError, match=r"not a SMILES|not in tuple"):
            molecules.molecule_from_smiles(wrong)


def test_the_toy_molecules_embeddings_and_training_step():
    encoder, view1, view2 = molecules.formula_encoder(), [molecules.molecule(*one) for one in golden.MOLECULES], []
    assert printed(molecules.encode(encoder, view1)) == golden.MOLECULE_EMBEDDINGS
    for whole, left_out in zip(view1, golden.MOLECULES_LEFT_OUT, strict=True):
        kept = [atom for atom in range(len(whole.atoms)) if atom != left_out]
        view2.append(molecules.only_atoms(whole, kept)[0])
    first = graphs.two_layers(*encoder.head, molecules.encode(encoder, view1, training=True))
    second = graphs.two_layers(*encoder.head, molecules.encode(encoder, view2, training=True))
    loss = graphs.graphcl_loss(first, second, 0.1)
    assert printed(loss) == golden.MOLECULE_LOSS
    assert printed(graphs.gradient_norm(loss, encoder.parameters()), 5) == golden.MOLECULE_GRADIENT
    found = graphs.adapted_temperature(first, second, 0.1, 0.5, 0.0)
    assert printed(found) == [golden.MOLECULE_ALIGNMENT, golden.MOLECULE_TEMPERATURE]


def test_fine_tunings_loss_and_scores():
    assert printed(molecules.masked_bce(golden.LABELS, golden.LOGITS)) == golden.CROSS_ENTROPY
    assert molecules.task_aucs(golden.LABELS, golden.LOGITS) == golden.TASK_AUCS
    assert molecules.mean_auc(golden.LABELS, golden.LOGITS) == golden.MEAN_AUC
    assert molecules.roc_auc([1.0, 2.0], [1.0, 0.0]) == 0.875


def test_the_split_by_scaffold():
    assert molecules.split_sets(golden.SCAFFOLD_SETS) == golden.SPLIT
    smiles = [
        "c1ccccc1C",
        "CCO",
        "C",
        "Oc1ccccc1",
        "c1ccccc1CC",
        "C1CC1C",
        "C1CCC1",
        "Nc1ccccc1",
        "C1CCCC1",
        "OC1CCCC1",
    ]
    assert molecules.scaffold("CCO") == ""
    assert molecules.scaffold_split(smiles) == golden.SPLIT
    assert molecules.canonical_rows(["OCC", "C1CC"]) == ([0], ["CCO"])


@pytest.mark.parametrize(("seed", "scores"), golden.SVM_SCORES.items())
def test_the_scores_of_the_svm(seed, scores):
    classes = np.array([1 if 7 * i % 10 < 5 else 0 for i in range(60)])
    rows = [[math.sin(0.37 * i * (j + 1) + j) + 0.8 * classes[i] * math.cos(j) for j in range(6)] for i in range(60)]
    np.random.seed(seed)
    assert tuple(printed(molecules.svm_scores(np.array(rows), classes), 4)) == scores
