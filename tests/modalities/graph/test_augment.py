"""Augmentations of graphs: replayed draws of the released code, exact distributions, and what never changes a view."""

from collections import Counter

import numpy as np
import pytest

from clrepro.modalities.graph import rules
from clrepro.modalities.graph.augment import Augmentation, View
from tests.modalities.graph.drawn import as_set, named
from tests.oracles import golden_graphs as golden
from tests.oracles import graphs as oracle

RING = oracle.with_self_loops(named(golden.RING_WITH_CHORDS))
STAR = [(0, leaf) for leaf in range(1, 31)]


@pytest.mark.parametrize("seed", [0, 1])
def test_replayed_draws_drop_and_keep_what_the_released_code_does(seed):
    graphs = as_set([RING])
    assert graphs.edges.shape[1] == golden.RING_EDGES
    np.random.seed(seed)
    dropped = np.random.choice(12, 1, replace=False)
    keys = np.ones(12)
    keys[dropped] = 0
    kept = rules.kept_nodes(graphs, keys, 0.1)
    assert tuple(np.flatnonzero(~kept)) == golden.RING_DROPPED.get(seed, tuple(dropped))
    np.random.seed(seed)
    start = np.random.randint(12)
    near = sorted(oracle.targets(RING.edges, start))
    tries = np.array([near.index(np.random.choice(near)) + 0.5 for _ in range(12)]) / len(near)
    kept = rules.subgraph(graphs, np.array([(start + 0.5) / 12]), tries, 0.2)
    assert tuple(np.flatnonzero(kept)) == golden.RING_SUBGRAPH[seed]
    kept = rules.kept_edges(np.zeros(39, int), np.array([39]), np.random.rand(39), 0.1)
    assert kept.sum() == golden.RING_EDGES_KEPT


def drawn(graph: oracle.Graph, name: str, behaviour: str = "released", times: int = 1, number: int = 1) -> list[View]:
    """Views of so many copies of a graph, each with random numbers of its own."""
    graphs = as_set([graph] * times)
    made = Augmentation(name, behaviour, 0.1, 0.2)
    return parts(made.view(graphs, np.arange(times), 7, 3, number))


def parts(view: View) -> list[tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]:
    """Of every graph of a view the nodes that are left, by their labels, and its edges."""
    found = []
    for number in range(len(view.graphs)):
        one = view.graphs.select(np.array([number]))
        edges = tuple(sorted(map(tuple, one.edges.T.tolist())))
        found.append((tuple(one.kinds.tolist()), edges))
    return found


@pytest.mark.parametrize("name", ["drop_nodes", "permute_edges", "subgraph", "random2", "random4"])
def test_second_views_have_the_exact_probabilities_of_the_released_code(name):
    # eleven nodes, so that one is dropped and at most three are kept
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (4, 6), (6, 7), (1, 8), (8, 9), (9, 10)]
    graph = oracle.with_self_loops(named(pairs))
    if name in ("permute_edges", "random4"):  # a shorter graph has fewer outcomes
        graph = oracle.with_self_loops(named([(0, 1), (1, 2), (2, 3), (2, 0)]))
    expected = oracle.second_view_distribution(graph, name)
    times = 20_000
    counts = Counter(drawn(graph, name, times=times))
    assert set(counts) <= set(expected)
    for outcome, probability in expected.items():
        deviation = (times * float(probability) * (1 - float(probability))) ** 0.5
        assert abs(counts[outcome] - times * float(probability)) <= 5 * deviation + 1, outcome


def test_subgraphs_stay_in_the_neighbourhood_as_released_and_grow_as_written():
    ring = oracle.with_self_loops(named([(node, (node + 1) % 30) for node in range(30)]))
    star = oracle.with_self_loops(named(STAR))
    graphs = as_set([ring, star])
    generator = np.random.default_rng(0)
    for _ in range(50):
        starts, tries = generator.random(2), generator.random(61)
        kept = rules.subgraph(graphs, starts, tries, 0.2)
        assert kept[:30].sum() <= 3
        assert kept[30:].sum() <= (7 if int(starts[1] * 31) == 0 else 2)
        grown = rules.growing_subgraph(graphs, starts, tries, 0.2)
        assert grown[:30].sum() == 7
        assert grown[30:].sum() == 7


def test_written_subgraphs_have_the_exact_probabilities_of_growing():
    graph = named([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (4, 6), (6, 7), (1, 8), (8, 9)])
    lists = oracle.grow_distribution(graph.nodes, graph.edges, 2, written=True)
    expected = Counter()
    for chosen, probability in lists.items():
        expected[tuple(sorted(chosen))] += float(probability)
    times = 20_000
    counts = Counter(nodes for nodes, _ in drawn(graph, "subgraph", "written", times))
    assert set(counts) == set(expected)
    for outcome, probability in expected.items():
        assert abs(counts[outcome] / times - probability) < 5 * (probability / times) ** 0.5


def test_written_permutations_keep_the_number_of_nodes_and_the_symmetry():
    graph = named(golden.RING_WITH_CHORDS)
    changed = 0
    for nodes, edges in drawn(graph, "permute_edges", "written", 200):
        assert nodes == tuple(range(12))
        assert set(edges) == {(b, a) for a, b in edges}
        assert all(a != b for a, b in edges)
        assert 13 <= len(edges) / 2 <= 14
        changed += set(edges) != set(graph.edges)
    assert changed > 150


def test_masks_replace_a_tenth_of_the_rows_by_noise():
    graph = oracle.with_self_loops(named(golden.RING_WITH_CHORDS))
    graphs = as_set([graph] * 500)
    view = Augmentation("mask_nodes", "released", 0.1, 0.2).view(graphs, np.arange(500), 0, 0, 1)
    assert len(view.masked) == 500
    assert (np.bincount(view.graphs.graph[view.masked]) == 1).all()
    assert np.array_equal(view.graphs.edges, graphs.edges)  # alone it removes nothing
    assert view.features.mean() == pytest.approx(0.5, abs=0.02)
    assert view.features.std() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("behaviour", ["released", "written"])
def test_a_view_depends_on_seed_epoch_and_graph_alone(behaviour):
    made = Augmentation("random4", behaviour, 0.1, 0.2)
    graphs = as_set([named(STAR), named(golden.RING_WITH_CHORDS), named([(0, 1), (1, 2)])] * 5)
    graphs = graphs.with_released_loops() if behaviour == "released" else graphs
    rows = np.random.default_rng(0).permutation(15)

    def views(order: list[np.ndarray], **changed: int) -> dict:
        about = {"seed": 3, "epoch": 2, "number": 1, **changed}
        return {
            int(row): part
            for some in order
            for row, part in zip(some, parts(made.view(graphs.select(some), some, **about)), strict=True)
        }

    whole = views([rows])
    assert views([rows[:4], rows[4:5], rows[5:]]) == whole
    for changed in ({"seed": 4}, {"epoch": 3}, {"number": 0}):
        assert views([rows], **changed) != whole


def test_no_graph_vanishes():
    pair, lonely = named([(0, 1)]), oracle.Graph(4, ((1, 2), (2, 1)), np.eye(4))
    graphs = as_set([pair] * 200)
    view = Augmentation("subgraph", "released", 0.1, 0.2).view(graphs.with_released_loops(), np.arange(200), 0, 0, 1)
    assert set(view.graphs.sizes) == {1}
    assert set(view.graphs.kinds) == {0, 1}  # node 1 has no self loop and stays as the start
    graphs = as_set([lonely] * 200).with_released_loops()
    view = Augmentation("subgraph", "released", 0.1, 0.2).view(graphs, np.arange(200), 0, 0, 1)
    assert set(view.graphs.kinds) == {0, 1, 2, 3}
    assert (view.graphs.sizes == 1).all()
