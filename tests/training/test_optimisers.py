import math

import numpy as np
import pytest
import torch
from torch import nn

from clrepro.errors import UserError
from clrepro.training.names import OPTIMISERS
from clrepro.training.optimisers import make, scaled_learning_rate, schedule


def rates(name, steps, warmup=0, base=0.5):
    """The learning rates that an optimiser really gets."""
    optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], base)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimiser, schedule(name, steps, warmup))
    found = []
    for _ in range(steps):
        found.append(scheduler.get_last_lr()[0])
        optimiser.step()
        scheduler.step()
    return [*found, scheduler.get_last_lr()[0]]


def test_lars_is_you_et_al_and_spares_vectors():
    rng = np.random.default_rng(0)
    start = {"matrix": rng.normal(size=(4, 3)), "bias": rng.normal(size=3), "zero": np.zeros((2, 2))}
    parameters = {key: nn.Parameter(torch.tensor(value)) for key, value in start.items()}
    frozen = nn.Parameter(torch.ones(2, 2), requires_grad=False)
    decay, momentum, eta = 0.1, 0.9, 0.001
    optimiser = make("lars", [*parameters.values(), frozen], 0.3, decay, momentum)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimiser, schedule("linear", 10))

    weights, velocities = dict(start), {key: np.zeros_like(value) for key, value in start.items()}
    for step in range(4):
        gradients = {key: rng.normal(size=value.shape) for key, value in start.items()}
        for key, parameter in parameters.items():
            parameter.grad = torch.tensor(gradients[key])
        optimiser.step()
        scheduler.step()
        rate = 0.3 * (1 - step / 10)
        for key, w in weights.items():
            g, d = gradients[key], 0.0 if key == "bias" else decay
            size, below = np.sqrt((w**2).sum()), np.sqrt((gradients[key] ** 2).sum()) + decay * np.sqrt((w**2).sum())
            ratio = 1.0 if key == "bias" or size == 0 else eta * size / below
            velocities[key] = momentum * velocities[key] + rate * ratio * (g + d * w)
            weights[key] = w - velocities[key]
    for key, parameter in parameters.items():
        np.testing.assert_allclose(parameter.detach().numpy(), weights[key], rtol=1e-12)
    assert torch.equal(frozen, torch.ones(2, 2))


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd"])
def test_first_step_by_hand(name):
    # after one step Adam's moments cancel to the gradient's sign
    w, g, rate, decay = np.array([[2.0, -1.0]]), np.array([[0.5, 0.25]]), 0.1, 0.01
    expected = {
        "sgd": w - rate * (g + decay * w),
        "adam": w - rate * np.sign(g + decay * w),
        "adamw": w * (1 - rate * decay) - rate * np.sign(g),
    }[name]
    parameter = nn.Parameter(torch.tensor(w))
    parameter.grad = torch.tensor(g)
    make(name, [parameter], rate, decay).step()
    np.testing.assert_allclose(parameter.detach().numpy(), expected, rtol=1e-6)


def transformers_adamw(weights, gradients, rates, eps=1e-8):
    """Weights after AdamW as transformers 4.2.1 and 4.18.0 computed it, without weight decay; arrays of one shape."""
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for t, (g, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        mean = 0.9 * mean + 0.1 * g
        square = 0.999 * square + 0.001 * g * g
        step_size = rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        weights = weights - step_size * mean / (np.sqrt(square) + eps)
    return weights


def take_steps(optimiser, scheduler, parameters, gradients, scaler=None):
    """gradients: (steps, parameters, entries)."""
    for gradient in gradients:
        if scaler:
            scaler.scale(torch.zeros(()))  # as a loss is, before its gradients
        for parameter, part in zip(parameters, gradient, strict=True):
            parameter.grad = torch.tensor(part * (scaler.get_scale() if scaler else 1), dtype=parameter.dtype)
        if scaler:
            scaler.unscale_(optimiser)  # as clipping does
            scaler.step(optimiser)
            scaler.update()
        else:
            optimiser.step()
        scheduler.step()


def with_transformers_adamw(start, dtype=torch.float64):
    parameters = [nn.Parameter(torch.tensor(row, dtype=dtype)) for row in start]
    optimiser = make("adamw_transformers", parameters, 0.01)
    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, schedule("linear", 25)), parameters


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_adamw_of_transformers_is_the_published_rule_before_and_after_a_save(dtype, tolerance):
    rng = np.random.default_rng(1)
    # from far above epsilon to far below it; their sizes change from step to step
    gradients = rng.normal(size=(20, 2, 8)) * 10 ** rng.uniform(-10, -2, (20, 2, 8))
    start = rng.uniform(-1, 1, (2, 8))
    before = with_transformers_adamw(start, dtype)
    take_steps(*before, gradients[:7])
    after = with_transformers_adamw([parameter.detach().numpy() for parameter in before[2]], dtype)
    for saved, loaded in zip(before[:2], after[:2], strict=True):
        loaded.load_state_dict(saved.state_dict())
    take_steps(*after, gradients[7:])
    expected = transformers_adamw(start, gradients, [0.01 * (1 - step / 25) for step in range(20)])
    found = np.stack([parameter.detach().numpy() for parameter in after[2]])
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert np.abs(expected - start).max() > 0.05  # beside which the tolerance is small


def test_a_step_that_a_gradient_scaler_leaves_out_does_not_count():
    rng = np.random.default_rng(2)
    start, gradients = rng.normal(size=(1, 4)), rng.normal(size=(5, 1, 4)) * 1e-8
    optimiser, _, parameters = with_transformers_adamw(start)
    constant = torch.optim.lr_scheduler.LambdaLR(optimiser, schedule("constant", 10))
    overflow = np.full((1, 1, 4), np.inf)
    steps = [*overflow, *gradients[:2], *overflow, *gradients[2:]]
    take_steps(optimiser, constant, parameters, steps, torch.amp.GradScaler("cpu"))
    expected = transformers_adamw(start, gradients, [0.01] * 5)
    np.testing.assert_allclose(parameters[0].detach().numpy(), expected[0], rtol=1e-12)


def test_momentum_reaches_sgd():
    parameter = nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimiser = make("sgd", [parameter], 1.0, momentum=0.5)
    for _ in range(3):
        parameter.grad = torch.ones(1, dtype=torch.float64)
        optimiser.step()
    assert parameter.item() == -(1 + 1.5 + 1.75)


def test_schedules_at_exact_points():
    assert rates("constant", 3) == [0.5] * 4
    assert rates("linear", 4) == [0.5, 0.375, 0.25, 0.125, 0.0]
    # 4 steps up, then a half cosine over 8: its first, second and last quarter and the end
    found = rates("cosine", 12, 4)
    assert found[:5] == [0.0, 0.125, 0.25, 0.375, 0.5]
    corner = math.sqrt(0.5)
    for step, factor in [(6, (1 + corner) / 2), (8, 0.5), (10, (1 - corner) / 2), (12, 0.0)]:
        assert found[step] == pytest.approx(0.5 * factor, abs=1e-15)
    assert rates("cosine", 2) == [0.5, pytest.approx(0.25), pytest.approx(0.0)]


def test_learning_rates_as_the_paper_prints_them():
    assert scaled_learning_rate(0.3, 256, "linear") == 0.3
    assert scaled_learning_rate(0.3, 512, "linear") == 0.6
    assert scaled_learning_rate(0.075, 256, "square_root") == pytest.approx(1.2)
    rule = "linear_above_256"
    assert [scaled_learning_rate(1e-3, batch, rule) for batch in (64, 256, 512, 1024)] == [1e-3, 1e-3, 2e-3, 4e-3]
    assert scaled_learning_rate(0.8, 512, "fixed") == 0.8


def test_bad_input_is_named():
    with pytest.raises(UserError, match="optimiser 'lasr'.*lars"):
        make("lasr", [], 0.1)
    with pytest.raises(UserError, match="weight_decay 0.01.*adamw_transformers has none.*optimiser: adamw"):
        make("adamw_transformers", [], 0.1, 0.01)
    with pytest.raises(UserError, match="schedule 'cosin'.*cosine"):
        schedule("cosin", 10)
    with pytest.raises(UserError, match="warm-up of 10 steps does not fit in a training of 10"):
        schedule("cosine", 10, 10)
    with pytest.raises(UserError, match="linear has no warm-up"):
        schedule("linear", 10, 2)
    with pytest.raises(UserError, match="learning-rate rule 'root'"):
        scaled_learning_rate(0.1, 64, "root")
    assert set(OPTIMISERS) == {"adam", "adamw", "adamw_transformers", "sgd", "lars"}
