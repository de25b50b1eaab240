"""Evaluations of image encoders against scikit-learn, torch's own optimiser, loops and exact cases."""

import copy
import itertools
import math

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from torch import nn

from clrepro.catalogue.figures import PICTURES
from clrepro.errors import UserError
from clrepro.evaluation import collapse, fine_tune, knn, linear_probe, plane
from clrepro.evaluation.linear_probe import Settings
from clrepro.modalities.image import label_shares, pictures
from clrepro.modalities.image.probes import Features


def noisy(count, classes=6, width=12, seed=0, noise=2.0):
    """Features (n, D) float32 whose classes overlap, and labels; some classes are rarer than others."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(classes, count, p=np.arange(1, classes + 1) / sum(range(1, classes + 1)))
    centres = np.random.default_rng(99).normal(size=(classes, width))
    return (centres[labels] + noise * rng.normal(size=(count, width))).astype(np.float32), labels


# what counts as right


def test_accuracies_rank_ties_by_class_and_refuse_nan():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (300, 7)).astype(np.float32)  # ties everywhere
    labels = rng.integers(0, 7, 300)
    ranks = [
        sorted(range(7), key=lambda c, row=row: (-row[c], c)).index(y) for row, y in zip(scores, labels, strict=True)
    ]
    found = linear_probe.accuracies(torch.from_numpy(scores), torch.from_numpy(labels))
    assert found == {f"top{n}": pytest.approx(100 * np.mean([rank < n for rank in ranks])) for n in (1, 5)}
    scores[:] = np.nan
    assert linear_probe.accuracies(torch.from_numpy(scores), torch.from_numpy(labels)) == {"top1": 0, "top5": 0}


# kNN


@pytest.mark.parametrize("k", [1, 2, 20, 200])
@pytest.mark.parametrize("weighting", ["plain", "weighted"])
def test_knn_is_scikit_learns(k, weighting):
    train, train_labels = noisy(300, seed=1)
    test, test_labels = noisy(400, seed=2)
    weights = {"plain": "uniform", "weighted": lambda distances: np.exp((1 - distances) / 0.1)}[weighting]
    theirs = KNeighborsClassifier(k, weights=weights, metric="cosine", algorithm="brute").fit(train, train_labels)
    ours = knn.evaluate(train, train_labels, test, test_labels, k, weighting)
    assert ours["top1"] == pytest.approx(100 * theirs.score(test, test_labels), abs=1e-9)
    assert 30 < ours["top1"] < 90  # neither guessing nor trivial
    highest = np.argsort(-theirs.predict_proba(test), axis=1, kind="stable")[:, :5]
    assert ours["top5"] == pytest.approx(100 * (highest == test_labels[:, None]).any(1).mean(), abs=1e-9)


@pytest.mark.parametrize("weighting", ["plain", "weighted"])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_knn_ties_are_broken_as_documented_whatever_the_block(k, weighting):
    rng = np.random.default_rng(k)
    corners = np.array(list(itertools.product([-1, 1], repeat=4)), np.float32)  # cosines are exact multiples of 1/2
    train, test = corners[rng.integers(0, 16, 90)], corners[rng.integers(0, 16, 120)]
    train_labels, test_labels = rng.integers(0, 4, 90), rng.integers(0, 4, 120)
    right = 0
    for row, label in zip(test, test_labels, strict=True):
        cosines = [float(row @ other) / 4 for other in train]
        nearest = sorted(range(90), key=lambda i: (-cosines[i], i))[:k]
        weight = {i: math.exp(cosines[i] / 0.1) if weighting == "weighted" else 1.0 for i in nearest}
        votes = [math.fsum(weight[i] for i in nearest if train_labels[i] == c) for c in range(4)]
        right += votes.index(max(votes)) == label
    for block in (1, 50, 1000):
        found = knn.evaluate(train, train_labels, test, test_labels, k, weighting, block=block)["top1"]
        assert found == pytest.approx(100 * right / 120)


def test_knn_of_diverged_or_collapsed_features():
    labels = np.array([1] * 5 + [0] * 5)
    nothing = np.full((10, 3), np.nan, np.float32)
    for weighting in ("plain", "weighted"):
        assert knn.evaluate(nothing, labels, nothing, labels, 3, weighting)["top1"] == 0
        # all equally near: the first three, which are of class 1
        assert knn.evaluate(np.ones((10, 3)), labels, np.ones((4, 3)), [1, 1, 1, 0], 3, weighting)["top1"] == 75


def test_knn_refuses_what_it_cannot_do():
    train, labels = noisy(20)
    with pytest.raises(UserError, match="k = 21 neighbours of 20"):
        knn.evaluate(train, labels, train, labels, 21)
    with pytest.raises(UserError, match="unknown weighting 'weigthed' in kNN. Did you mean weighted"):
        knn.evaluate(train, labels, train, labels, 5, "weigthed")
    with pytest.raises(UserError, match="do not go with labels"):
        knn.evaluate(train, labels[:-1], train, labels, 5)
    with pytest.raises(UserError, match="train labels hold -1"):
        knn.evaluate(train, labels - 1, train, labels, 5)


# linear probe


@pytest.mark.parametrize(
    "settings",
    [
        Settings(epochs=6, batch_size=32),
        Settings(epochs=6, batch_size=50, learning_rate=0.3, weight_decay=1e-2, schedule="cosine", nesterov=True),
        Settings(epochs=10, batch_size=32, learning_rate=1.0, momentum=0, schedule="steps", seed=3),
    ],
    ids=["huang2023", "nesterov", "steps"],
)
def test_probe_takes_the_steps_of_torchs_sgd(settings):
    features, labels = (torch.from_numpy(part) for part in noisy(170))
    batches = linear_probe.shuffled(features, labels, settings.batch_size, settings.seed)
    layer = nn.Linear(12, 6)
    start = linear_probe.initial(12, 6, torch.Generator().manual_seed(settings.seed))
    layer.weight.data, layer.bias.data = (part.clone() for part in start)
    optimiser = torch.optim.SGD(
        layer.parameters(), settings.learning_rate, settings.momentum, 0, settings.weight_decay, settings.nesterov
    )
    schedule = {
        "constant": lambda: torch.optim.lr_scheduler.ConstantLR(optimiser, 1.0),
        "cosine": lambda: torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.epochs),
        "steps": lambda: torch.optim.lr_scheduler.MultiStepLR(optimiser, [6, 8]),
    }[settings.schedule]()
    for epoch in range(settings.epochs):
        for rows, answers in batches(epoch):
            optimiser.zero_grad()
            nn.functional.cross_entropy(layer(rows), answers).backward()
            optimiser.step()
        schedule.step()
    weights, biases = linear_probe.fit(batches, 12, 6, settings)
    torch.testing.assert_close(weights, layer.weight.data, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(biases, layer.bias.data, atol=1e-6, rtol=1e-6)
    assert (weights - start[0]).abs().max() > 0.1  # it went somewhere


@pytest.mark.filterwarnings("error")
def test_probe_scores_the_test_set_and_repeats_itself():
    train, train_labels = noisy(400, seed=1, noise=1.0)
    test, test_labels = noisy(300, seed=2, noise=1.0)
    train.setflags(write=False)  # as a mapped file is
    settings = Settings(epochs=5)
    found = linear_probe.evaluate(train, train_labels, test, test_labels, settings)
    torch.rand(3)  # random numbers of others change nothing
    assert linear_probe.evaluate(train, train_labels, test, test_labels, settings) == found
    batches = linear_probe.shuffled(torch.from_numpy(train.copy()), torch.from_numpy(train_labels), 128, 0)
    scores = linear_probe.logits(torch.from_numpy(test), *linear_probe.fit(batches, 12, 6, settings)).numpy()
    assert found["top1"] == pytest.approx(100 * (scores.argmax(1) == test_labels).mean())
    highest = np.argsort(-scores, axis=1)[:, :5]
    assert found["top5"] == pytest.approx(100 * (highest == test_labels[:, None]).any(1).mean())
    assert found["top1"] > 60
    assert linear_probe.evaluate(train, train_labels, test, test_labels, Settings(epochs=5, seed=1)) != found


def test_a_probe_of_collapsed_features_names_one_class_and_a_diverged_one_none():
    labels = np.array([0, 1, 1, 2] * 10)
    parts = (np.ones((40, 3)), labels, np.ones((4, 3)), labels[:4])
    assert linear_probe.evaluate(*parts, Settings(epochs=50, learning_rate=0.5))["top1"] == 50
    nothing = np.full((40, 3), np.nan)
    assert linear_probe.evaluate(nothing, labels, nothing[:4], labels[:4], Settings(epochs=3))["top1"] == 0


def test_batches_hold_every_example_once_an_epoch_in_new_orders():
    inputs = torch.arange(23)
    batches = linear_probe.shuffled(inputs, inputs + 100, 5, 0)
    orders = [torch.cat([rows for rows, _ in batches(epoch)]).tolist() for epoch in range(3)]
    assert all(sorted(order) == inputs.tolist() for order in orders)
    assert orders[0] != orders[1] != orders[2] != inputs.tolist()
    assert [len(rows) for rows, _ in batches(0)] == [5, 5, 5, 5, 3]
    assert all(torch.equal(rows + 100, labels) for rows, labels in batches(2))


# fine-tuning


def test_shares_of_labels_are_stratified_nested_and_seeded():
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 7], [500, 100, 40, 3]))
    kept = {share: label_shares.label_subset(labels, share, seed=4) for share in (0.1, 0.5, 1)}
    counts = {share: np.bincount(labels[rows], minlength=8)[[0, 1, 2, 7]].tolist() for share, rows in kept.items()}
    assert counts == {0.1: [50, 10, 4, 1], 0.5: [250, 50, 20, 2], 1: [500, 100, 40, 3]}  # one of a class at least
    assert set(kept[0.1]) < set(kept[0.5]) < set(kept[1])
    assert kept[1].tolist() == list(range(643))
    selection = label_shares.selection_rows(labels, seed=4)
    assert np.bincount(labels[selection]).tolist()[:3] == [50, 10, 4]
    assert not set(selection) & set(kept[0.5])
    assert kept[0.1].tolist() == label_shares.label_subset(labels, 0.1, seed=4).tolist() == sorted(kept[0.1])
    assert kept[0.1].tolist() != label_shares.label_subset(labels, 0.1, seed=5).tolist()
    with pytest.raises(UserError, match="a share of 10 of the labels"):
        label_shares.label_subset(labels, 10)


def test_a_head_on_frozen_features_is_the_mlp_of_the_paper():
    train, train_labels = noisy(200, seed=1, noise=0.7)
    test, test_labels = noisy(300, seed=2, noise=0.7)
    settings = fine_tune.Settings(epochs=30, learning_rate=0.1, hidden=(16, 8, 4))
    found = fine_tune.evaluate(train, train_labels, test, test_labels, settings)
    # oracle: weights as plain tensors, the default optimiser
    head = fine_tune.make_head(12, (16, 8, 4), 6, seed=0)
    parameters = [part.detach().clone().requires_grad_() for part in head.parameters()]
    assert [tuple(part.shape) for part in parameters[::2]] == [(16, 12), (8, 16), (4, 8), (6, 4)]

    def forward(rows):
        for weights, biases in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            rows = (rows @ weights.T + biases).clamp(min=0)
        return rows @ parameters[-2].T + parameters[-1]

    optimiser = torch.optim.SGD(parameters, 0.1, 0.9)
    batches = linear_probe.shuffled(torch.from_numpy(train), torch.from_numpy(train_labels), 32, 0)
    for epoch in range(30):
        for rows, answers in batches(epoch):
            optimiser.zero_grad()
            nn.functional.cross_entropy(forward(rows), answers).backward()
            optimiser.step()
    scores = forward(torch.from_numpy(test)).detach().numpy()
    assert found["top1"] == pytest.approx(100 * (scores.argmax(1) == test_labels).mean(), abs=0.4)
    assert 40 < found["top1"] < 99
    assert found == fine_tune.evaluate(train, train_labels, test, test_labels, settings)


class Blind(nn.Module):
    """An encoder that does not see the one input that decides, until it is trained."""

    width = 3

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.layers[0].weight.data = torch.tensor([[0.0, 1.0], [0.0, -1.0], [0.0, 2.0]])

    def forward(self, rows):
        return self.layers(rows)


def test_the_whole_network_learns_what_a_frozen_encoder_lacks_and_the_encoder_given_stays():
    inputs = torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    labels = (inputs[:, 0] > 0).long()
    encoder = Blind()
    before = copy.deepcopy(encoder.state_dict())
    how = dict(hidden=(16, 16, 16), epochs=20, learning_rate=0.05)
    with torch.no_grad():
        features = encoder.eval()(inputs)
    frozen = fine_tune.evaluate(features, labels, features, labels, fine_tune.Settings(**how))
    whole = fine_tune.Settings(**how, frozen=False)
    batches = linear_probe.shuffled(inputs, labels, 32, 0)
    trained = fine_tune.evaluate_network(encoder, batches, lambda: [(inputs[:100], labels[:100])], 2, whole)
    assert frozen["top1"] < 70 < 95 < trained["top1"]
    assert all(torch.equal(part, before[name]) for name, part in encoder.state_dict().items())
    with pytest.raises(UserError, match="`frozen: false` needs images"):
        fine_tune.evaluate(features, labels, features, labels, whole)
    with pytest.raises(UserError, match="`frozen: true` takes stored features"):
        fine_tune.evaluate_network(encoder, batches, list, 2, fine_tune.Settings())


# collapse


def test_variance_and_rank_of_known_shapes():
    rng = np.random.default_rng(0)
    line = np.outer(rng.normal(size=200), rng.normal(size=8))
    on_line = collapse.statistics(line)
    assert on_line["rank_of_squares_raw"] == on_line["rank_of_values_unit"] == 1
    assert on_line["variance_raw"] == pytest.approx(np.cov(line.T, bias=True).trace())
    point = collapse.statistics(np.tile(rng.normal(size=8), (50, 1)))
    assert point["variance_raw"] == pytest.approx(0, abs=1e-12)
    assert point["variance_unit"] == pytest.approx(0, abs=1e-12)
    cloud = rng.normal(size=(60, 8)) + 1
    unit = cloud / np.linalg.norm(cloud, axis=1, keepdims=True)
    assert collapse.statistics(cloud)["variance_unit"] == pytest.approx(1 - np.linalg.norm(unit.mean(0)) ** 2)
    assert set(map(math.isnan, collapse.statistics(np.full((3, 2), np.nan)).values())) == {True}


def test_effective_rank_counts_squares_or_values():
    left, right = (np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 3)))[0] for seed in (0, 1))
    values = collapse.singular_values(left @ np.diag([5.0, 1.0, 1.0]) @ right.T)
    assert values[:3] == pytest.approx([5, 1, 1])
    assert collapse.effective_rank(values) == 2  # 26 of 27
    assert collapse.effective_rank(values, power=1) == 3  # 6 of 7 are too few
    assert collapse.effective_rank(np.ones(20)) == 19  # 19 of 20 are 95 %
    assert collapse.effective_rank(np.full(100, 0.3)) == 95  # which rounding misses
    assert collapse.effective_rank(np.zeros(4)) == 0
    with pytest.raises(UserError, match="1 of 3 embeddings are not finite"):
        collapse.singular_values(np.array([[1.0, 2], [np.inf, 0], [0, 1]]))


def test_affinity_is_ordered_by_class_and_samples_do_not_repeat():
    rows, labels = noisy(30)
    cosines, ordered = collapse.affinity(rows, labels)
    order = sorted(range(30), key=lambda i: (labels[i], i))
    assert ordered.tolist() == [labels[i] for i in order]
    for i, j in itertools.product(range(0, 30, 7), range(30)):
        a, b = rows[order[i]].astype(float), rows[order[j]].astype(float)
        assert cosines[i, j] == pytest.approx(a @ b / math.sqrt((a @ a) * (b @ b)))
    drawn = collapse.sample(5000, seed=1)
    assert len(set(drawn.tolist())) == len(drawn) == 1000
    assert drawn.tolist() == collapse.sample(5000, seed=1).tolist() != collapse.sample(5000, seed=2).tolist()
    assert collapse.sample(7).tolist() == list(range(7))


def test_the_class_contrast_is_that_of_all_pairs():
    rows, labels = noisy(40, classes=3, width=5)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = {same: [] for same in (True, False)}
    for i, j in itertools.permutations(range(40), 2):
        pairs[labels[i] == labels[j]].append(float(unit[i] @ unit[j]))
    assert collapse.class_contrast(rows, labels) == pytest.approx(np.mean(pairs[True]) - np.mean(pairs[False]))
    anchors = np.eye(4)[[0, 1, 2, 3, 0, 1, 2, 3]] * np.arange(1, 9)[:, None]
    assert collapse.class_contrast(anchors, [0, 1, 2, 3] * 2) == pytest.approx(1)
    assert collapse.class_contrast(np.ones((8, 4)), [0, 1, 2, 3] * 2) == pytest.approx(0, abs=1e-12)
    assert math.isnan(collapse.class_contrast(np.full((8, 4), np.nan), [0, 1, 2, 3] * 2))


# picture


def test_separability_counts_neighbours_of_the_class_among_the_central_half_alone():
    # a line: the central half is 4 to 11; two classes, mixed in the middle and pure outside or the other way round
    x, y = np.arange(16.0), np.zeros(16)
    mixed = np.array([0] * 4 + [0, 1] * 4 + [1] * 4)
    nearest = {i: sorted((abs(i - j), j) for j in range(16) if j != i)[:2] for i in range(4, 12)}
    expected = np.mean([mixed[i] == mixed[j] for i, near in nearest.items() for _, j in near])
    assert plane.central_separability(x, y, mixed, neighbours=2) == pytest.approx(100 * expected)
    outside = np.array([0, 1] * 2 + [0] * 8 + [1, 0] * 2)
    assert plane.central_separability(x[2:14], y[2:14], outside[2:14], neighbours=1) == 100
    assert plane.central_separability(np.zeros(6), np.zeros(6), np.zeros(6)) == 100  # all at one place


def test_the_plane_keeps_neighbours_and_repeats_itself():
    rows, labels = noisy(120, classes=3, width=30, noise=0.3)
    first = plane.places(rows, seed=1, neighbours=10)
    assert np.array_equal(first, plane.places(rows, seed=1, neighbours=10))
    near = KNeighborsClassifier(3).fit(first, labels)
    assert near.score(first, labels) == 1
    assert np.isfinite(plane.places(rows[:4])).all()
    with pytest.raises(UserError, match="3 embeddings are too few"):
        plane.places(rows[:3])
    assert np.isfinite(plane.places(np.ones((20, 4)))).all()  # a collapsed encoder is a picture, too


def test_pictures_keep_what_is_shown_of_the_drawn_test_images():
    rows, labels = noisy(1203, classes=5, width=6)
    features = Features(rows[:3], labels[:3], rows[3:], labels[3:])
    found = pictures.arrays("spectrum", features)
    drawn = np.sort(np.random.default_rng(0).permutation(1200)[:1000])
    tested, classes = rows[3:][drawn].astype(float), labels[3:][drawn]
    assert found["singular_value"] == pytest.approx(np.linalg.svd(tested, compute_uv=False), rel=1e-4)
    ordered = tested[np.argsort(classes, kind="stable")]
    unit = ordered / np.linalg.norm(ordered, axis=1, keepdims=True)
    square = (unit @ unit.T).reshape(50, 20, 50, 20).mean((1, 3))  # 1,000 rows as 50 blocks of 20
    assert found["affinity"] == pytest.approx(square.ravel(), abs=1e-4)
    assert pictures.blocks(np.arange(9.0).reshape(3, 3), 2).tolist() == [[2, 3.5], [6.5, 8]]
    assert pictures.blocks(np.eye(2), 50).tolist() == [[1, 0], [0, 1]]

    few = Features(rows[:3], labels[:3], rows[3:103], labels[3:103])
    found = pictures.arrays("places", few)
    assert found["class"] == labels[3:103].tolist()
    assert list(zip(found["x"], found["y"], strict=True)) == [
        pytest.approx(at, rel=1e-4) for at in plane.places(few.test)
    ]
    told = plane.central_separability(np.array(found["x"]), np.array(found["y"]), labels[3:103])
    assert pictures.rows("places", found) == [["places", "test", "central_separability", pytest.approx(told)]]
    assert pictures.rows("places", {}) == pictures.rows("spectrum", found) == []
    diverged = Features(rows[:3], labels[:3], np.full((4, 2), np.nan), labels[:4])
    assert pictures.arrays("spectrum", diverged) == pictures.arrays("places", diverged) == {}
    assert {kind: tuple(pictures.PICTURES[kind](few)) for kind in PICTURES} == PICTURES
