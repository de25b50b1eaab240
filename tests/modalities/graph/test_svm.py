"""The SVM evaluation against scikit-learn's own search, and against the released code's scores."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from clrepro.errors import UserError
from clrepro.modalities.graph import svm
from tests.oracles.golden_graphs import SVM_SCORES

COSTS = [0.01, 1.0, 10.0, 1000.0]
SETTINGS = {"folds": 3, "inner_folds": 2, "costs": COSTS, "gamma": "scale"}
RELEASED = {"folds": 10, "inner_folds": 5, "costs": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": "scale"}


def golden() -> tuple[np.ndarray, np.ndarray]:
    """60 vectors of width 6 and their labels, for which the released code's scores are known."""
    i, j = np.arange(60)[:, None], np.arange(6)
    labels = (7 * np.arange(60) % 10 < 5).astype(int)
    return np.sin(0.37 * i * (j + 1) + j) + 0.8 * labels[:, None] * np.cos(j), labels


def sums(seed: int, counts: tuple[int, ...], width: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the nodes of graphs of many sizes, up to some thousands, in float32; classes overlap."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    sizes = rng.integers(5, 400, len(labels))[:, None]
    centres = rng.normal(size=(len(counts), width))
    return (sizes * (1 + 0.3 * centres[labels] + rng.normal(size=(len(labels), width)))).astype(np.float32), labels


def repeated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten vectors far from zero, each several times with labels of both classes."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(10, 4))[rng.integers(0, 10, 80)] * 100 + 5e3, rng.permutation(np.arange(80) % 2)


def corners(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a lattice, thus many equal distances, with labels that say little."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (90, 3)).astype(float), rng.permutation(np.arange(90) % 2)


AWKWARD = {
    "unscaled sums": sums(0, (60, 60)),
    "unbalanced": sums(1, (100, 14)),
    "three classes": sums(2, (50, 30, 20)),
    "repeated": repeated(3),
    "lattice": corners(4),
    "constant": (np.full((40, 3), 7.3), np.arange(40) % 2),
}


def search(settings: dict) -> GridSearchCV:
    grid = {"C": settings["costs"]}
    return GridSearchCV(SVC(gamma=settings["gamma"]), grid, cv=settings["inner_folds"], scoring="accuracy")


def folds(labels: np.ndarray, settings: dict, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    cut = StratifiedKFold(settings["folds"], shuffle=True, random_state=seed)
    return list(cut.split(labels, labels))


def expected(vectors: np.ndarray, labels: np.ndarray, settings: dict, seed: int) -> list[float]:
    """The accuracies of scikit-learn's search in every fold."""
    parts = folds(labels, settings, seed)
    return [search(settings).fit(vectors[a], labels[a]).score(vectors[b], labels[b]) for a, b in parts]


@pytest.mark.parametrize("seed", SVM_SCORES)
def test_the_released_codes_scores(seed):
    """In percent, as the file of the evaluation holds them."""
    vectors, labels = golden()
    embedded, protocol = SimpleNamespace(vectors=vectors, labels=labels, seed=seed), {"svm": RELEASED}
    found = svm.evaluate(embedded, protocol, ["svm"])
    assert found["protocol"] is protocol
    assert found["rows"] == [["svm", "test", "accuracy", pytest.approx(100 * SVM_SCORES[seed][1], abs=1e-6)]]
    assert len(found["folds"]) == 10
    assert np.mean(found["folds"]) == pytest.approx(found["rows"][0][-1], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "gamma"), [*((name, "scale") for name in AWKWARD), ("lattice", "auto"), ("three classes", "auto")]
)
def test_accuracies_are_scikit_learns(name, gamma):
    vectors, labels = AWKWARD[name]
    settings = {**SETTINGS, "gamma": gamma}
    assert svm.accuracies(vectors, labels, settings, 5).tolist() == expected(vectors, labels, settings, 5)


@pytest.mark.parametrize("name", AWKWARD)
def test_every_prediction_of_every_cost_is_scikit_learns(name):
    vectors, labels = AWKWARD[name]
    machines = svm.Search(vectors, labels, SETTINGS)
    for train, held in folds(labels, SETTINGS, 0):
        found = machines.predict(train, held, COSTS)
        for cost, row in zip(COSTS, found, strict=True):
            theirs = SVC(C=cost, gamma="scale").fit(vectors[train], labels[train])
            assert row.tolist() == theirs.predict(vectors[held]).tolist(), cost


def test_of_equally_good_costs_the_first_is_taken():
    """As scikit-learn takes it: the order of the costs decides on this lattice."""
    vectors, labels = AWKWARD["lattice"]
    orders = [{**SETTINGS, "costs": costs} for costs in (COSTS, COSTS[::-1])]
    found = [svm.accuracies(vectors, labels, settings, 0).tolist() for settings in orders]
    assert found == [expected(vectors, labels, settings, 0) for settings in orders]
    assert found[0] != found[1]


def test_labels_of_any_kind_and_order():
    vectors, labels = sums(6, (40, 40))
    found = svm.accuracies(vectors, labels, SETTINGS, 0)
    assert svm.accuracies(vectors, np.where(labels, -1, 1), SETTINGS, 0).shape == found.shape
    assert svm.accuracies(vectors, 3 * labels + 2, SETTINGS, 0).tolist() == found.tolist()


def test_folds_are_drawn_by_the_seed():
    vectors, labels = sums(7, (60, 60))
    first, again, other = (svm.accuracies(vectors, labels, SETTINGS, seed).tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nothing_is_right_after_a_training_that_diverged(value):
    vectors, labels = sums(8, (20, 20))
    vectors = vectors.astype(float)
    vectors[3, 1] = value
    assert svm.accuracies(vectors, labels, SETTINGS, 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("counts", "inner", "message"),
    [
        ((30, 2), 2, "the smallest of 2 classes has 2 graphs, too few for 3 folds and 2 inner_folds"),
        ((30, 10, 1), 2, "the smallest of 3 classes has 1 graphs, too few for 3 folds"),
        ((30, 4), 3, "too few for 3 folds and 3 inner_folds of an SVM: set fewer `graph.training.folds`"),
    ],
)
def test_too_few_of_a_class_are_refused(counts, inner, message):
    with pytest.raises(UserError, match=message):
        svm.accuracies(*sums(9, counts), {**SETTINGS, "inner_folds": inner}, 0)


def test_the_fewest_that_folds_allow():
    vectors, labels = sums(9, (30, 4))
    assert svm.accuracies(vectors, labels, SETTINGS, 0).tolist() == expected(vectors, labels, SETTINGS, 0)


def test_a_single_class_is_refused():
    with pytest.raises(UserError, match="the smallest of 1 classes has 20 graphs"):
        svm.accuracies(np.eye(20), np.zeros(20), SETTINGS, 0)


def test_the_folds_are_those_of_the_run_s_seed():
    vectors, labels = AWKWARD["unscaled sums"]
    found = [
        svm.evaluate(SimpleNamespace(vectors=vectors, labels=labels, seed=seed), {"svm": SETTINGS}, ["svm"])["folds"]
        for seed in (0, 3, 3)
    ]
    assert found[0] != found[1] == found[2]
    assert found[1] == pytest.approx(100 * svm.accuracies(vectors, labels, SETTINGS, 3), abs=1e-6)
