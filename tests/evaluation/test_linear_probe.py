"""The linear probe against torch's own optimiser."""

import numpy as np
import pytest
import torch
from torch import nn

from clrepro.evaluation import linear_probe
from clrepro.evaluation.linear_probe import ProbeSettings
from tests.evaluation.features import noisy

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


# linear probe


def test_a_probe_starts_as_torchs_layers_do():
    for found, wanted in zip(
        linear_probe.initial(400, 50, torch.Generator().manual_seed(0)),
        (nn.Linear(400, 50).weight, nn.Linear(400, 5000).bias), strict=True,
    ):  # fmt: skip
        assert found.abs().max() <= 1 / 20
        assert found.abs().mean() == pytest.approx(float(wanted.detach().abs().mean()), rel=0.3)


@pytest.mark.parametrize(
    "settings",
    [
        ProbeSettings(epochs=6, batch_size=32),
        ProbeSettings(epochs=6, batch_size=50, learning_rate=0.3, weight_decay=1e-2, schedule="cosine", nesterov=True),
        ProbeSettings(epochs=10, batch_size=32, learning_rate=1.0, momentum=0, schedule="steps", seed=3),
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
    settings = ProbeSettings(epochs=5)
    found = linear_probe.evaluate(train, train_labels, test, test_labels, settings)
    torch.rand(3)  # random numbers of others change nothing
    assert linear_probe.evaluate(train, train_labels, test, test_labels, settings) == found
    batches = linear_probe.shuffled(torch.from_numpy(train.copy()), torch.from_numpy(train_labels), 128, 0)
    scores = linear_probe.logits(torch.from_numpy(test), *linear_probe.fit(batches, 12, 6, settings)).numpy()
    assert found["top1"] == pytest.approx(100 * (scores.argmax(1) == test_labels).mean())
    highest = np.argsort(-scores, axis=1)[:, :5]
    assert found["top5"] == pytest.approx(100 * (highest == test_labels[:, None]).any(1).mean())
    assert found["top1"] > 60
    assert linear_probe.evaluate(train, train_labels, test, test_labels, ProbeSettings(epochs=5, seed=1)) != found


def test_a_probe_of_collapsed_features_names_one_class_and_a_diverged_one_none():
    labels = np.array([0, 1, 1, 2] * 10)
    parts = (np.ones((40, 3)), labels, np.ones((4, 3)), labels[:4])
    assert linear_probe.evaluate(*parts, ProbeSettings(epochs=50, learning_rate=0.5))["top1"] == 50
    nothing = np.full((40, 3), np.nan)
    assert linear_probe.evaluate(nothing, labels, nothing[:4], labels[:4], ProbeSettings(epochs=3))["top1"] == 0


def test_batches_hold_every_example_once_an_epoch_in_new_orders():
    inputs = torch.arange(23)
    batches = linear_probe.shuffled(inputs, inputs + 100, 5, 0)
    orders = [torch.cat([rows for rows, _ in batches(epoch)]).tolist() for epoch in range(3)]
    assert all(sorted(order) == inputs.tolist() for order in orders)
    assert orders[0] != orders[1] != orders[2] != inputs.tolist()
    assert [len(rows) for rows, _ in batches(0)] == [5, 5, 5, 5, 3]
    assert all(torch.equal(rows + 100, labels) for rows, labels in batches(2))
