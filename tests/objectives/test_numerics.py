"""Order, length, blocks, memory and precision."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from clrepro import objectives
from clrepro.objectives import _pairs
from clrepro.objectives._anchors import orthonormal_anchors
from clrepro.objectives.memory import KeyQueue
from tests.objectives.cases import CASES, case_id, coldest, loss_and_gradients, random_views, tensors

# raw outputs are standardised or taken as they are, not normalised row by row
RAW = [("barlow_twins", "original"), ("vicreg", "original")]


@pytest.mark.parametrize("case", CASES, ids=case_id)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 9))
def test_order_and_length_of_the_rows_do_not_matter(case, seed, n):
    name, variant, params = case
    view1, view2 = random_views(seed, n=n)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    lengths = np.ones((n, 1)) if (name, variant) in RAW else rng.uniform(0.1, 10, (n, 1))
    objective = objectives.make(name, variant, **params)
    before, gradients = loss_and_gradients(objective, view1, view2)
    after, permuted = loss_and_gradients(objective, (view1 * lengths)[order], (view2 * lengths)[order])
    assert after.item() == pytest.approx(before.item(), rel=1e-9, abs=1e-9)
    for a, b in zip(gradients, permuted, strict=True):
        np.testing.assert_allclose((a / lengths)[order], b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_blocks_of_rows_give_what_one_matrix_gives(case, monkeypatch):
    name, variant, params = case
    objective = objectives.make(name, variant, **params)
    whole, gradients = loss_and_gradients(objective, *random_views(11))
    monkeypatch.setattr(_pairs, "BLOCK", 24)  # 3 rows of 7, or 1 of 14
    parts, again = loss_and_gradients(objective, *random_views(11))
    assert parts.item() == pytest.approx(whole.item(), rel=1e-12)
    for a, b in zip(gradients, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-14)


class LargestTensor(TorchDispatchMode):
    """Remembers how many entries the largest tensor had that any operation made."""

    entries = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for part in result if isinstance(result, tuple | list) else (result,):
            if isinstance(part, torch.Tensor):
                self.entries = max(self.entries, part.numel())
        return result


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_no_tensor_is_larger_than_the_similarities_of_both_views(case):
    name, variant, params = case
    n, d = 32, 48
    objective = objectives.make(name, variant, **params)
    with LargestTensor() as largest:
        objective(*tensors(*random_views(0, n=n, d=d))).backward()
    assert largest.entries <= (2 * n) ** 2


HARD_VIEWS = {
    "identical views": lambda n: (torch.randn(n, 16), None),
    "opposite views": lambda n: (lambda v: (v, -v))(torch.randn(n, 16)),
    "one point": lambda n: (torch.ones(n, 16), torch.ones(n, 16)),
    "two points": lambda n: (torch.ones(n, 16), -torch.ones(n, 16)),
    "zero rows": lambda n: (torch.zeros(n, 16), torch.randn(n, 16)),
    "unequal scales": lambda n: (1e4 * torch.randn(n, 16), 0.1 * torch.randn(n, 16)),
}


@pytest.mark.parametrize("view", HARD_VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_finite_value_and_gradient_in_hard_cases(case, dtype, view):
    name, variant, params = case
    if (name, variant) == ("vicreg", "original") and view == "unequal scales" and dtype is torch.float16:
        dtype = torch.float32  # its gradient grows with the cube of the raw outputs: over 65,504 in truth
    torch.manual_seed(0)
    view1, view2 = HARD_VIEWS[view](8)
    view1 = view1.to(dtype).requires_grad_()
    view2 = (view1.detach().clone() if view2 is None else view2.to(dtype)).requires_grad_()
    cold = {key: value for key, value in coldest(name, variant).items() if params.get(key, 0) is not None}
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.bfloat16):
        loss = objectives.make(name, variant, **params | cold)(view1, view2)
    loss.backward()
    assert loss.dtype == torch.float32
    assert torch.isfinite(loss)
    assert torch.isfinite(view1.grad).all()
    assert torch.isfinite(view2.grad).all()


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_float32_stays_near_float64_at_the_coldest_temperature(case):
    name, variant, params = case
    cold = {key: value for key, value in coldest(name, variant).items() if params.get(key, 0) is not None}
    objective = objectives.make(name, variant, **params | cold)
    views = random_views(2, n=24, d=16)
    exact, gradients = loss_and_gradients(objective, *views)
    single = tensors(*views, dtype=torch.float32)
    loss = objective(*single)
    loss.backward()
    assert loss.item() == pytest.approx(exact.item(), rel=1e-4, abs=1e-4)
    for view, gradient in zip(single, gradients, strict=True):
        assert np.linalg.norm(view.grad.numpy() - gradient) <= 1e-3 * np.linalg.norm(gradient) + 1e-6


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["infonce", "macl"])
def test_a_queue_of_any_precision_serves_views_of_any(name, dtype):
    views = [torch.tensor(view) for view in random_views(4, d=3)]
    queue = KeyQueue(6, 3)
    queue.push(1e4 * views[0].to(torch.float16))  # a norm over half precision's largest number
    assert torch.allclose(queue.keys.norm(dim=1), torch.ones(6))
    expected = objectives.make(name)(*views, queue=queue.keys).item()
    value = objectives.make(name)(*(view.to(dtype) for view in views), queue=queue.keys.to(dtype))
    assert value.item() == pytest.approx(expected, rel=0.05)
    assert value.dtype == (torch.float64 if dtype is torch.float64 else torch.float32)


@pytest.mark.parametrize("view", HARD_VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_labels_and_anchors_stay_finite_in_hard_cases(dtype, view):
    torch.manual_seed(0)
    view1, view2 = HARD_VIEWS[view](8)
    view1 = view1.to(dtype).requires_grad_()
    view2 = view1.detach().clone() if view2 is None else view2.to(dtype)
    state = {"labels": torch.tensor([0, 1, 2, 0, -1, -1, 1, 2]), "anchors": orthonormal_anchors(3, 16)}
    loss = objectives.make("oar", temperature=0.005)(view1, view2, **state)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(view1.grad).all()


@pytest.mark.parametrize("name", ["paradigm", "modified_barlow_twins", "modified_vicreg"])
@pytest.mark.parametrize("n", [4, 8])
def test_high_powers_of_small_cosines_do_not_vanish(name, n):
    params = {"power": 40, "margin": None} | ({} if name == "paradigm" else {"temperature": None})
    for variant in objectives.signatures(name):
        loss, gradients = loss_and_gradients(objectives.make(name, variant, **params), np.eye(n), np.eye(n))
        single = [torch.eye(n, requires_grad=True) for _ in range(2)]
        again = objectives.make(name, variant, **params)(*single)
        again.backward()
        assert again.item() == pytest.approx(loss.item(), rel=1e-4)
        np.testing.assert_allclose(single[0].grad.numpy(), gradients[0], atol=1e-5)


def test_a_learned_temperature_has_its_gradient():
    anchors, keys = (torch.tensor(view) for view in random_views(6))
    temperature = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(lambda tau: _pairs.log_sum_exp(anchors, keys, tau), temperature)


@pytest.mark.parametrize(("name", "scale"), [("vicreg", 30.0), ("barlow_twins", 1.0)])
def test_decorrelated_columns_cost_nothing_in_float32(name, scale):
    columns = torch.linalg.qr(torch.randn(256, 65, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).Q
    # centred and orthogonal: the first direction is the mean's
    columns = torch.linalg.qr(torch.cat([torch.ones(256, 1, dtype=torch.float64), columns], 1)).Q[:, 1:65]
    view = (scale * math.sqrt(255) * columns).float()
    lam = {"lam": 1.0} if name == "barlow_twins" else {}
    assert 0 <= objectives.make(name, "original", **lam)(view, view).item() < 2e-6
