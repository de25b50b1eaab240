"""Heads on frozen features and whole networks."""

import copy

import pytest
import torch
from torch import nn

from clrepro.errors import UserError
from clrepro.evaluation import fine_tune, linear_probe
from tests.evaluation.features import noisy


def test_a_head_on_frozen_features_is_the_mlp_of_the_paper():
    train, train_labels = noisy(200, seed=1, noise=0.7)
    test, test_labels = noisy(300, seed=2, noise=0.7)
    settings = fine_tune.HeadSettings(epochs=30, learning_rate=0.1, hidden=(16, 8, 4))
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
    frozen = fine_tune.evaluate(features, labels, features, labels, fine_tune.HeadSettings(**how))
    whole = fine_tune.HeadSettings(**how, frozen=False)
    batches = linear_probe.shuffled(inputs, labels, 32, 0)
    trained = fine_tune.evaluate_network(encoder, batches, lambda: [(inputs[:100], labels[:100])], 2, whole)
    assert frozen["top1"] < 70 < 95 < trained["top1"]
    assert all(torch.equal(part, before[name]) for name, part in encoder.state_dict().items())
    with pytest.raises(UserError, match="`frozen: false` needs images"):
        fine_tune.evaluate(features, labels, features, labels, whole)
    with pytest.raises(UserError, match="`frozen: true` takes stored features"):
        fine_tune.evaluate_network(encoder, batches, list, 2, fine_tune.HeadSettings())
