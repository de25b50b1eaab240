"""Augmentations of molecules: replayed draws of the released code, exact distributions, and what changes no view."""

from collections import Counter

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.modalities.graph import rules
from clrepro.modalities.graph.molecules.augment import Augmentation
from tests.modalities.graph.molecules.drawn import SMILES, everything, stored
from tests.oracles import golden_graphs as golden
from tests.oracles import molecules as oracle

TIMES = 6000


def named(whole):
    """The molecule with the number of each atom as its element, so that views tell which atoms are left."""
    atoms = tuple((number, 0) for number in range(len(whole.atoms)))
    return oracle.Molecule(atoms, whole.bonds)


def kept_of(batch):
    """The atoms of each molecule that are left, by their elements."""
    return [tuple(part[:, 0].tolist()) for part in np.split(batch.atoms, batch.starts[1:-1])]


def targets(whole, atom):
    return sorted({b for a, b, *_ in whole.bonds if a == atom})


@pytest.mark.parametrize("seed", [0, 1])
def test_replayed_draws_keep_what_the_released_code_keeps(seed):
    ring = oracle.molecule([5] * 12, [(*pair, 3) for pair in golden.RING_WITH_CHORDS])
    batch = everything(stored([ring]))
    np.random.seed(seed)
    keys = np.empty(12)
    keys[np.random.permutation(12)] = np.arange(12)
    assert tuple(np.flatnonzero(rules.kept_nodes(batch, keys, 0.2))) == golden.MOLECULE_DROP[seed]
    np.random.seed(seed)
    start = np.random.randint(12)
    near = targets(ring, start)
    tries = (np.array([near.index(np.random.choice(near)) for _ in range(12)]) + 0.5) / len(near)
    kept = rules.subgraph(batch, np.array([(start + 0.5) / 12]), tries, 0.2)
    assert set(np.flatnonzero(kept)) == set(golden.MOLECULE_SUBGRAPH[seed])


@pytest.mark.parametrize(
    ("name", "behaviour"),
    [("drop_nodes", "released"), ("subgraph", "released"), ("random2", "released"), ("subgraph", "written")],
)
def test_views_have_the_exact_probabilities(name, behaviour):
    whole = oracle.molecule_from_smiles("CC(=O)N(C)C1CC1")
    exact = oracle.kept_distribution(whole, name.replace("random2", "random"), 0.3, behaviour == "written")
    expected = Counter()
    for kept, probability in exact.items():
        expected[tuple(sorted(kept))] += float(probability)
    batch = everything(stored([named(whole)] * TIMES))
    counts = Counter(kept_of(Augmentation(name, behaviour, 0.3, 0.3).view(batch, np.arange(TIMES), 7, 3, 1)))
    assert set(counts) <= set(expected)
    deviations = [(counts[kept] - TIMES * share) ** 2 / (TIMES * share) for kept, share in expected.items()]
    assert sum(deviations) < len(expected) + 5 * np.sqrt(2 * len(expected))  # chi square


def test_the_released_code_gives_back_what_has_no_bonds_and_the_text_does_not():
    path = everything(stored([oracle.molecule([5] * 4, [(0, 1, 0), (1, 2, 0), (2, 3, 0)])]))
    rows = np.array([0])
    sizes = {
        behaviour: {
            len(Augmentation("subgraph", behaviour, 0.2, 0.2).view(path, rows, seed, 0, 0).atoms) for seed in range(20)
        }
        for behaviour in ("released", "written")
    }
    assert sizes == {"released": {4}, "written": {1}}
    ring = everything(stored([oracle.molecule([5] * 30, [(at, (at + 1) % 30, 3) for at in range(30)])] * 50))
    rows = np.arange(50)
    sizes = {
        behaviour: set(Augmentation("subgraph", behaviour, 0.2, 0.2).view(ring, rows, 0, 0, 0).sizes.tolist())
        for behaviour in ("released", "written")
    }
    assert sizes == {"released": {3}, "written": {7}}


@pytest.mark.parametrize("behaviour", ["released", "written"])
def test_a_view_depends_on_seed_epoch_and_number_and_never_on_the_batch(behaviour):
    molecules = stored([oracle.molecule_from_smiles(text) for text in SMILES] * 4)
    made = Augmentation("random2", behaviour, 0.2, 0.2)

    def views(rows, *key):
        view = made.view(molecules.batch(rows), rows, *key)
        edges = view.edges - view.starts[view.graph[view.edges]]
        inside = [view.graph[view.edges[0]] == number for number in range(len(rows))]
        return [
            (atoms.tolist(), sorted(map(tuple, np.concatenate([edges[:, part].T, view.kinds[part]], 1).tolist())))
            for atoms, part in zip(np.split(view.atoms, view.starts[1:-1]), inside, strict=True)
        ]

    rows = np.arange(len(molecules))
    whole = views(rows, 1, 2, 0)
    mixed = np.random.default_rng(0).permutation(rows)
    assert views(mixed, 1, 2, 0) == [whole[row] for row in mixed]
    assert [views(rows[row : row + 1], 1, 2, 0)[0] for row in rows] == whole
    assert all(views(rows, *key) != whole for key in ((2, 2, 0), (1, 3, 0), (1, 2, 1)))


def test_bonds_between_kept_atoms_stay_with_their_kinds():
    (whole,) = [oracle.molecule_from_smiles("F/C=C/[C@H](N)C#N")]
    batch = everything(stored([whole]))
    view = batch.keep(np.arange(len(batch.atoms)) != 1)
    expected, _ = oracle.only_atoms(whole, [0, 2, 3, 4, 5, 6])
    assert tuple(map(tuple, view.atoms.tolist())) == expected.atoms
    assert sorted(map(tuple, np.concatenate([view.edges.T, view.kinds], 1).tolist())) == sorted(expected.bonds)


def test_augmentations_that_molecules_do_not_have_are_refused():
    with pytest.raises(UserError, match="unknown augmentation 'mask_nodes' in a training on molecules"):
        Augmentation("mask_nodes", "released", 0.2, 0.2)
