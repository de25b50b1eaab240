"""Objectives against slow independent NumPy oracles, published golden values and finite differences."""

import importlib
import inspect
import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clrepro import objectives
from clrepro.errors import UserError
from tests.oracles import GOLDEN, ORACLES, golden_views, numeric_gradient

EVERY = [(name, variant) for name in objectives.names() for variant in objectives.signatures(name)]


def tensors(*views, dtype=torch.float64):
    return [torch.tensor(np.asarray(view), dtype=dtype, requires_grad=True) for view in views]


def random_views(seed, n=7, d=5, noise=0.3):
    rng = np.random.default_rng(seed)
    view = rng.normal(size=(n, d))
    return view, view + noise * rng.normal(size=(n, d))


def test_every_variant_has_an_oracle_and_a_documented_function():
    assert set(EVERY) == set(ORACLES)
    for name, variant in EVERY:
        module = importlib.import_module(f"clrepro.objectives.{name}")
        assert "Source:" in module.__doc__ or "equation" in module.__doc__
        assert module.VARIANTS[variant].__doc__


@pytest.mark.parametrize("name", objectives.names())
def test_signatures_read_from_source_are_the_functions_own(name):
    module = importlib.import_module(f"clrepro.objectives.{name}")
    for variant, defaults in objectives.signatures(name).items():
        parameters = inspect.signature(module.VARIANTS[variant]).parameters.values()
        assert {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY} == defaults


@pytest.mark.parametrize(("name", "variant"), EVERY)
@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])  # 3.0: hardest negatives beyond 90 degrees occur as well
def test_value_and_gradient_equal_the_oracle(name, variant, noise):
    for seed in range(3):
        views = random_views(seed, n=4 if noise == 3.0 else 7, d=3, noise=noise)
        objective = objectives.make(name, variant)
        view1, view2 = tensors(*views)
        loss = objective(view1, view2)
        loss.backward()
        oracle = partial(ORACLES[name, variant], **objective.params)
        assert loss.dtype == torch.float64
        assert loss.item() == pytest.approx(oracle(*views), abs=1e-10)
        for ours, numeric in zip((view1.grad, view2.grad), numeric_gradient(oracle, *views), strict=True):
            np.testing.assert_allclose(ours.numpy(), numeric, atol=2e-6)


def test_released_floor_and_cap_differ_from_written_where_all_negatives_are_far():
    view1, view2 = np.eye(2), np.array([[1.0, -0.5], [-0.5, 1.0]])
    for name, margin in (("mpt", 1.2), ("mat", 1.5)):
        ours = [objectives.make(name, v, margin=margin)(*tensors(view1, view2)).item() for v in ("released", "written")]
        expected = [ORACLES[name, v](view1, view2, margin=margin) for v in ("released", "written")]
        assert ours == pytest.approx(expected)
        assert ours[0] > ours[1]


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_golden_values_of_the_released_codes(row):
    name, variant, params, value, *norms = row
    view1, view2 = tensors(*golden_views())
    loss = objectives.make(name, variant, **params)(view1, view2)
    loss.backward()
    assert loss.item() == pytest.approx(value, abs=5.01e-7)
    assert [view1.grad.norm().item(), view2.grad.norm().item()] == pytest.approx(norms, abs=5.01e-7)


@pytest.mark.parametrize(("name", "variant"), EVERY)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 9))
def test_order_and_length_of_the_rows_do_not_matter(name, variant, seed, n):
    view1, view2 = random_views(seed, n=n)
    rng = np.random.default_rng(seed)
    order, lengths = rng.permutation(n), rng.uniform(0.1, 10, (n, 1))
    objective = objectives.make(name, variant)
    before = objective(*tensors(view1, view2)).item()
    after = objective(*tensors((view1 * lengths)[order], (view2 * lengths)[order])).item()
    assert after == pytest.approx(before, abs=1e-9)


HARD_VIEWS = {
    "identical views": lambda n: (torch.randn(n, 16), None),
    "opposite views": lambda n: (lambda v: (v, -v))(torch.randn(n, 16)),
    "one point": lambda n: (torch.ones(n, 16), torch.ones(n, 16)),
    "zero rows": lambda n: (torch.zeros(n, 16), torch.randn(n, 16)),
    "unequal scales": lambda n: (1e4 * torch.randn(n, 16), 0.1 * torch.randn(n, 16)),
}


@pytest.mark.parametrize("case", HARD_VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_finite_value_and_gradient_in_hard_cases(name, variant, dtype, case):
    torch.manual_seed(0)
    view1, view2 = HARD_VIEWS[case](8)
    view1 = view1.to(dtype).requires_grad_()
    view2 = (view1.detach().clone() if view2 is None else view2.to(dtype)).requires_grad_()
    params = {"temperature": 0.005} if "temperature" in objectives.signatures(name)[variant] else {}
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.bfloat16):
        loss = objectives.make(name, variant, **params)(view1, view2)
    loss.backward()
    assert loss.dtype == torch.float32
    assert torch.isfinite(loss)
    assert torch.isfinite(view1.grad).all()
    assert torch.isfinite(view2.grad).all()


def test_a_variant_left_out_is_the_released_one_and_defaults_are_filled_in():
    objective = objectives.make("mat")
    assert objective.variant == "released"
    assert objective.params == {"margin": pytest.approx(0.15 * math.pi)}
    assert repr(objectives.make("dcl", temperature=0.01)) == "dcl[released](temperature=0.01)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(name="infonc"), "unknown objective 'infonc'. Did you mean infonce"),
        (dict(name="mpt", variant="releasd"), "unknown variant of mpt 'releasd'. Did you mean released"),
        (dict(name="dcl", temprature=0.1), "unknown parameter of dcl 'temprature'. Did you mean temperature"),
        (dict(name="dcl", temperature="warm"), "dcl: temperature must be a number, not 'warm'"),
    ],
)
def test_wrong_names_are_refused_with_near_matches(arguments, message):
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        objectives.make(**arguments)


def test_views_of_different_shape_or_a_single_row_are_refused():
    objective = objectives.make("infonce")
    for shapes in (((3, 4), (3, 5)), ((1, 4), (1, 4)), ((4,), (4,))):
        with pytest.raises(ValueError, match="two views"):
            objective(*(torch.ones(shape) for shape in shapes))
