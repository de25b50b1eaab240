"""Frameworks of image training against their equations."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import normalize

from clrepro import objectives
from clrepro.errors import UserError
from clrepro.modalities.image import frameworks
from clrepro.modalities.image.encoder import load, make_encoder, make_projector, save
from clrepro.training import optimisers

PROJECTOR = {"hidden": 16, "output": 8, "layers": 2}


class Stub(nn.Module):
    """An encoder simple enough to follow by hand: one matrix on flattened images."""

    def __init__(self, inputs=4, width=3, norm=False):
        super().__init__()
        self.linear = nn.Linear(inputs, width, bias=False)
        self.norm = nn.BatchNorm1d(width) if norm else nn.Identity()
        self.width = width

    def forward(self, images):
        return self.norm(self.linear(images.flatten(1)))


def identity_projector(framework):
    """Projectors would only blur what a test looks at."""
    framework.projector = framework.key_projector = nn.Identity()
    return framework


def unit(rows):
    return rows / np.sqrt((rows**2).sum(1, keepdims=True))


def test_batch_norm_sees_both_views_at_once():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(5, 4)), rng.normal(2.0, size=(5, 4))
    framework = frameworks.make("plain", Stub(norm=True).double())
    ((view1, view2, extras),) = framework(torch.tensor(first), torch.tensor(second))
    rows = np.concatenate([first, second]) @ framework.encoder.linear.weight.detach().numpy().T
    expected = (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-5)
    np.testing.assert_allclose(torch.cat([view1, view2]).detach().numpy(), expected, rtol=1e-10)
    assert extras == {}


@pytest.mark.parametrize("name", ["plain", "simclr"])
def test_symmetric_views_and_labels_reach_the_objective(name):
    torch.manual_seed(0)
    settings = {"projector": {**PROJECTOR, "norm": "none"}} if name == "simclr" else {}
    framework = frameworks.make(name, Stub(), symmetric=True, classes=3, **settings)
    images1, images2, labels = torch.rand(6, 4), torch.rand(6, 4), torch.tensor([0, 1, 2, -1, 1, -1])
    forward, backward = framework(images1, images2, labels)
    assert torch.equal(forward[0], backward[1])
    assert torch.equal(forward[1], backward[0])
    anchors = forward[2]["anchors"]
    assert anchors.shape == (3, 8 if name == "simclr" else 3)
    np.testing.assert_allclose(anchors @ anchors.T, np.eye(3), atol=1e-6)
    assert torch.equal(framework.state_dict()["anchors"], anchors)
    infonce, oar = objectives.make("infonce"), objectives.make("oar", lam=2.0)
    pulls = sum(
        1 - normalize(view)[row] @ anchors[label]
        for view in forward[:2]
        for row, label in enumerate(labels)
        if label >= 0
    )
    expected = infonce(*forward[:2]) + 2 * pulls / 12
    assert oar(*forward[:2], **forward[2]).item() == pytest.approx(expected.item(), rel=1e-5)
    assert [len(extras) for *_, extras in framework(images1, images2)] == [0, 0]


def test_moco_follows_its_equations():
    torch.manual_seed(0)
    settings = {"projector": {**PROJECTOR, "norm": "none", "output": 3}, "momentum": 0.75, "queue": 5}
    framework = identity_projector(frameworks.make("moco", Stub(), **settings).double())
    rng = np.random.default_rng(0)
    query = framework.encoder.linear.weight.detach().numpy().copy()
    momentum, queue = query.copy(), framework.queue.keys.numpy().copy()
    np.testing.assert_allclose((queue**2).sum(1), 1, rtol=1e-6)
    optimiser = optimisers.make("sgd", framework.parameters(), 0.5, momentum=0)
    objective = objectives.make("infonce", temperature=0.2)
    position = 0
    for _ in range(4):
        images1, images2 = rng.normal(size=(2, 3, 4))
        ((view1, view2, extras),) = framework(torch.tensor(images1), torch.tensor(images2))
        momentum = 0.75 * momentum + 0.25 * query
        np.testing.assert_allclose(view1.detach().numpy(), images1 @ query.T)
        np.testing.assert_allclose(view2.numpy(), images2 @ momentum.T)
        # the negatives of a step are those of the steps before
        np.testing.assert_allclose(extras["queue"].numpy(), queue)
        for row in unit(images2 @ momentum.T):
            queue[position] = row
            position = (position + 1) % 5
        optimiser.zero_grad()
        objective(view1, view2, **extras).backward()
        query = query - 0.5 * framework.encoder.linear.weight.grad.numpy()
        optimiser.step()
    state = framework.state_dict()
    np.testing.assert_allclose(state["key_encoder.linear.weight"], momentum)
    np.testing.assert_allclose(state["queue.keys"], queue)
    assert state["queue.position"] == position == 2
    assert framework.key_encoder.linear.weight.grad is None


def test_nnclr_compares_neighbours_with_predictions():
    torch.manual_seed(0)
    settings = {"projector": {**PROJECTOR, "norm": "none", "output": 3}, "hidden": 6, "support": 7}
    framework = identity_projector(frameworks.make("nnclr", Stub(), **settings).double())
    framework.predictor = nn.Linear(3, 3).double()
    rng = np.random.default_rng(0)
    support = framework.support.keys.numpy().copy()
    images = rng.normal(size=(2, 4, 4))
    (first, second) = framework(*torch.tensor(images))
    z = images @ framework.encoder.linear.weight.detach().numpy().T
    p = z @ framework.predictor.weight.detach().numpy().T + framework.predictor.bias.detach().numpy()
    for (neighbours, predictions, extras), own, other in ((first, 0, 1), (second, 1, 0)):
        nearest = support[(unit(z[own]) @ support.T).argmax(1)]
        np.testing.assert_allclose(neighbours.numpy(), nearest)
        np.testing.assert_allclose(predictions.detach().numpy(), p[other])
        assert not neighbours.requires_grad
        assert extras == {}
    np.testing.assert_allclose(framework.support.keys.numpy(), np.concatenate([unit(z[0]), support[4:]]))
    # by way of macl the gradient reaches encoder and predictor
    objectives.make("macl")(*first[:2]).backward()
    assert framework.encoder.linear.weight.grad.abs().sum() > 0


FRAMEWORKS = {
    "plain": ({"symmetric": True, "classes": 10}, "oar", "sgd"),
    "simclr": ({"projector": PROJECTOR}, "nt_xent", "lars"),
    "moco": ({"projector": {**PROJECTOR, "norm": "none"}, "queue": 20, "momentum": 0.9}, "macl", "sgd"),
    "nnclr": ({"projector": {**PROJECTOR, "norm": "all"}, "hidden": 16, "support": 20}, "macl", "adam"),
}


def training(name, seed):
    """(framework, optimiser, schedule, a step of it)."""
    settings, objective, optimiser = FRAMEWORKS[name]
    torch.manual_seed(seed)
    framework = frameworks.make(name, make_encoder("conv3", None, 1), **settings)
    optimiser = optimisers.make(optimiser, framework.parameters(), 0.05, 1e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, optimisers.schedule("cosine", 8, 2))
    objective = objectives.make(objective)

    def step(number):
        generator = torch.Generator().manual_seed(number)
        images = torch.rand(2, 6, 1, 8, 8, generator=generator)
        labels = torch.arange(6) if name == "plain" else None
        terms = framework(*images, labels)
        loss = sum(objective(view1, view2, **extras) for view1, view2, extras in terms) / len(terms)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()

    return framework, optimiser, schedule, step


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_resumed_training_ends_in_the_same_weights_to_the_bit(name, tmp_path):
    framework, *_, step = training(name, 0)
    for number in range(6):
        step(number)

    *parts, step = training(name, 0)
    for number in range(3):
        step(number)
    torch.save([part.state_dict() for part in parts], tmp_path / "state.pt")
    *parts, step = training(name, 1)
    for part, state in zip(parts, torch.load(tmp_path / "state.pt", weights_only=True), strict=True):
        part.load_state_dict(state)
    for number in range(3, 6):
        step(number)

    expected, found = framework.state_dict(), parts[0].state_dict()
    assert expected.keys() == found.keys()
    different = [key for key in expected if not torch.equal(expected[key], found[key])]
    assert different == []


@pytest.mark.parametrize("name", ["moco", "nnclr"])
def test_looking_leaves_no_trace(name):
    framework, *_ = training(name, 0)
    before = {key: value.clone() for key, value in framework.state_dict().items()}
    framework.eval()
    framework(*torch.rand(2, 6, 1, 8, 8))
    framework.train()
    with torch.no_grad():
        framework(*torch.rand(2, 6, 1, 8, 8))
    after = framework.state_dict()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert all("running_" in key or "num_batches" in key for key in changed)


def test_bad_input_is_named(tmp_path):
    with pytest.raises(UserError, match="architecture 'resnet81'.*resnet18"):
        make_encoder("resnet81", "cifar", 3)
    with pytest.raises(UserError, match="stem 'cifa'.*cifar"):
        make_encoder("resnet18", "cifa", 3)
    with pytest.raises(UserError, match="norm 'hiden'.*hidden"):
        make_projector(8, 8, 8, 2, "hiden")
    with pytest.raises(UserError, match="layers is 0"):
        make_projector(8, 8, 8, 0)
    with pytest.raises(UserError, match="framework 'mocco'.*moco"):
        frameworks.make("mocco", Stub())
    with pytest.raises(UserError, match="setting 'ques'.*framework moco.*queue"):
        frameworks.make("moco", Stub(), projector=PROJECTOR, ques=3)
    with pytest.raises(UserError, match="nnclr needs a projector"):
        frameworks.make("nnclr", Stub())
    with pytest.raises(UserError, match="4 classes.*have 3"):
        frameworks.make("plain", Stub(), classes=4)
    with pytest.raises(UserError, match="set `classes`"):
        frameworks.make("plain", Stub())(torch.rand(3, 4), torch.rand(3, 4), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        load(tmp_path)
    save(make_encoder("conv3", None, 1), tmp_path)
    (tmp_path / "config.json").write_text('{"architecture": "conv3", "stem": null, "channels": 3}')
    with pytest.raises(UserError, match="cannot be loaded"):
        load(tmp_path)
