"""The transfer classifiers against a one-by-one reference that was written without them."""

import numpy as np
import pytest
import torch

from clrepro.errors import UserError
from clrepro.evaluation.senteval import classifier, relatedness, transfer
from clrepro.evaluation.senteval.batched import fit_together
from clrepro.evaluation.senteval.files import Labelled
from clrepro.evaluation.senteval.protocols import PROTOCOLS
from tests.oracles import senteval as oracle


def clusters(classes: int, count: int, width: int = 24, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes, so that strengths and stopping matter: (n, D) float32 and labels."""
    numbers = np.random.default_rng(seed)
    labels = numbers.integers(0, classes, count)
    centres = numbers.normal(size=(classes, width))
    return (0.3 * centres[labels] + 0.6 * numbers.normal(size=(count, width))).astype(np.float32), labels


@pytest.mark.parametrize(("width", "classes"), [(384, 2), (1536, 2), (768, 6), (33, 5)])
def test_the_initial_weights_are_torchs(width, classes):
    torch.manual_seed(classifier.SEED)
    layer = torch.nn.Linear(width, classes)
    weights, biases = classifier.initial_weights(width, classes)
    np.testing.assert_array_equal(weights, layer.weight.detach().numpy())
    np.testing.assert_array_equal(biases, layer.bias.detach().numpy())


@pytest.mark.parametrize("protocol", ["test", "fast"])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_one_classifier_a_strength_as_the_reference_trains_them(classes, protocol):
    x, y = clusters(classes, 330, seed=classes)
    task = transfer.Task(x, y, protocol)
    settings = oracle.PROTOCOLS[protocol]
    keys = {key: settings[key] for key in ("optimiser", "batch", "tenacity", "epoch_size")}
    train, dev = np.arange(250), np.arange(250, 330)
    for held, carve in ((dev, None), (None, 0.05)):
        (found,) = task.solve([transfer.Problem(train, held)])
        for number, strength in enumerate(classifier.STRENGTHS):
            stop = (x[dev], y[dev]) if held is not None else (None, None)
            accuracy, weights, bias, rounds = oracle.fit(
                x[train], y[train], *stop, classes, strength, **keys, carve=carve
            )
            assert found.accuracy[number] == accuracy
            assert found.rounds[number] == rounds
            np.testing.assert_allclose(found.weights[number], weights, atol=2e-4)
            np.testing.assert_allclose(found.biases[number], bias, atol=2e-4)


@pytest.mark.parametrize("protocol", ["test", "fast"])
def test_whole_tasks_as_the_reference_evaluates_them(protocol):
    x, y = clusters(2, 400)
    expected = oracle.nested(x[:160], y[:160], 2, protocol, outer_folds=[0])
    found = transfer.nested(transfer.Task(x[:160], y[:160], protocol), [0])
    assert found == {"dev": expected["dev"], "test": expected["test"]}
    train, test = np.arange(300), np.arange(300, 400)
    expected = oracle.with_test(x[train], y[train], x[test], y[test], 2, protocol)
    found = transfer.with_test(transfer.Task(x, y, protocol), train, test)
    assert found == {"dev": expected["dev"], "test": expected["test"], "f1": expected["f1"]}
    train, dev = np.arange(200), np.arange(200, 300)
    expected = oracle.with_dev(x[train], y[train], x[dev], y[dev], x[test], y[test], 2, protocol)
    found = transfer.with_dev(transfer.Task(x, y, protocol), train, dev, test)
    assert found == {"dev": expected["dev"], "test": expected["test"]}


@pytest.mark.parametrize("protocol", ["test", "fast"])
def test_all_problems_together_are_each_by_itself(protocol):
    """What a GPU runs, here on the CPU: folds of unequal size, two of which end a minibatch apart."""
    x, y = clusters(3, 322)
    task = transfer.Task(x, y, protocol)
    size = task.protocol.batch * 2
    problems = [transfer.Problem(np.arange(size + more), np.arange(300, 322 - more)) for more in (0, 1, 5)]
    problems.append(transfer.Problem(np.arange(100, 250), None))
    rows = list(zip(*(task.shuffles.rows(*problem[:2]) for problem in problems), strict=True))
    strengths = np.array([problem.strengths for problem in problems])
    together = fit_together(task.x, task.y, *rows, strengths, task.initial, task.protocol, torch.device("cpu"))
    for one, other in zip(task.solve(problems), together, strict=True):
        np.testing.assert_array_equal(one.accuracy, other.accuracy)
        np.testing.assert_array_equal(one.rounds, other.rounds)
        np.testing.assert_allclose(one.weights, other.weights, atol=2e-4)
        np.testing.assert_allclose(one.biases, other.biases, atol=2e-4)


def test_another_device_gets_all_problems_together(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "clrepro.evaluation.senteval.batched.fit_together", lambda *given: asked.append(given) or [None]
    )
    x, y = clusters(2, 60)
    transfer.Task(x, y, "fast", device="meta").solve([transfer.Problem(np.arange(40), np.arange(40, 60))])
    assert len(asked) == 1
    assert asked[0][-1] == torch.device("meta")


def test_the_regressor_as_the_reference_trains_it(monkeypatch):
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=(260, 24)).astype(np.float32)
    gold = np.clip(2.5 + x[:, :3].sum(1) + numbers.normal(size=260), 0, 5)
    np.testing.assert_array_equal(relatedness.distributions(gold), oracle.score_distributions(gold))
    monkeypatch.setattr(relatedness, "MOST_PASSES", 60)
    parts = [(x[part], gold[part]) for part in (slice(0, 160), slice(160, 210), slice(210, 260))]
    found = relatedness.evaluate_relatedness(*parts)
    expected = oracle.relatedness(*(side for part in parts for side in part), max_passes=60)
    for key in ("dev", "spearman", "pearson"):
        assert found[key] == pytest.approx(expected[key], abs=2e-4)


def test_threads_do_not_change_a_bit(monkeypatch):
    x, y = clusters(3, 300)
    problems = [transfer.Problem(*pair) for pair in transfer.folds_of(y, 5, np.arange(300))]
    several = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        several.append(transfer.Task(x, y, "fast").solve(problems))
    for one, other in zip(*several, strict=True):
        assert (one.weights == other.weights).all()
        assert (one.accuracy == other.accuracy).all()


def test_examples_are_sorted_by_tokens_then_labels_and_ties_stay():
    part = Labelled(["c c", "a", "b", "", "d d"], [1, 1, 0, 1, 0])
    assert transfer.by_length(part) == oracle.sentence_order(part.first, part.labels) == [3, 2, 1, 4, 0]
    pairs = Labelled(["a", "b b", "c"], [1, 0, 0], ["x x", "y", "z"])
    assert transfer.by_length(pairs) == oracle.pair_order(pairs.first, pairs.second, pairs.labels) == [2, 0, 1]
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)
    rows = {sentence: row for row, sentence in enumerate(["a", "b b", "c", "x x", "y", "z"])}
    x, y = transfer.features(pairs, vectors, rows)
    assert y.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(x, oracle.pair_features(vectors[[2, 0, 1]], vectors[[5, 3, 4]]))


def test_means_round_as_numpy_does():
    # NumPy scales by 100 and rounds 0.5 to the even 0; Python sees a binary number a little above 0.005
    assert transfer.mean_percent([0.0, 0.01]) == 0.0 != round(float(np.mean([0.0, 0.01])), 2)


def test_what_cannot_be_evaluated_is_refused(tmp_path):
    with pytest.raises(UserError, match="the embedding of 'a bad one' is not finite"):
        transfer.evaluate_transfer(np.array([[0.0, 1.0], [np.nan, 1.0]]), ["good", "a bad one"], tmp_path, "fast", ())
    with pytest.raises(UserError, match="6 examples cannot be cut into 10 folds"):
        transfer.folds_of(np.array([0, 1, 0, 1, 0, 1]), 10, np.arange(6))


@pytest.mark.parametrize("name", ["fast", "test"])
def test_there_is_an_order_for_every_pass_of_the_longest_training(name):
    """A round of several passes may begin once 200 are done."""
    protocol = PROTOCOLS[name]
    train, dev, orders = classifier.Shuffles(protocol).rows(np.arange(40), None)
    assert orders.shape == (200 + protocol.passes, 38)
    assert sorted([*train, *dev]) == list(range(40))
    assert all(sorted(order) == list(range(38)) for order in orders[::50])
