"""Objectives against slow independent NumPy oracles, published golden values and identities."""

import importlib
from functools import partial

import numpy as np
import pytest
import torch

from clrepro import objectives
from clrepro.objectives._anchors import orthonormal_anchors
from tests.objectives.cases import CASES, EVERY, case_id, loss_and_gradients, random_views, tensors
from tests.oracles import GOLDEN, ORACLES, golden_views, numeric_gradient


def oracle_of(name, variant):
    if (name, variant) not in ORACLES:
        pytest.fail(
            f"('{name}', '{variant}') has no oracle: write one and enter it in ORACLES of tests/oracles/__init__.py"
        )
    return ORACLES[name, variant]


def assert_equals_oracle(name, variant, params, views, **state):
    objective = objectives.make(name, variant, **params)
    loss, gradients = loss_and_gradients(
        objective, *views, **{key: torch.as_tensor(value) for key, value in state.items()}
    )
    oracle = partial(oracle_of(name, variant), **objective.params, **state)
    assert loss.dtype == torch.float64
    assert loss.item() == pytest.approx(oracle(*views), rel=1e-9, abs=1e-10)
    # what the equation detaches stays where it is while the live views move
    numeric = numeric_gradient(lambda a, b: oracle(a, b, *views), *views)
    for ours, expected in zip(gradients, numeric, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=2e-6)


def test_every_variant_has_an_oracle_and_a_documented_function():
    assert set(ORACLES) <= set(EVERY)
    for name, variant in EVERY:
        oracle_of(name, variant)
        module = importlib.import_module(f"clrepro.objectives.{name}")
        assert "Siblings:" in module.__doc__
        assert "20" in module.__doc__, "the source, with its year"
        assert module.VARIANTS[variant].__doc__


@pytest.mark.parametrize("case", CASES, ids=case_id)
@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])  # 3.0: hardest negatives beyond 90 degrees occur as well
def test_value_and_gradient_equal_the_oracle(case, noise):
    for seed in range(2):
        assert_equals_oracle(*case, random_views(seed, n=4 if noise == 3.0 else 7, d=3, noise=noise))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case[0] in ("infonce", "macl") and case[2].get("negatives") != "both"],
    ids=case_id,
)
def test_a_queue_replaces_the_other_rows_as_negatives(case):
    rng = np.random.default_rng(5)
    assert_equals_oracle(*case, random_views(5), queue=rng.normal(size=(11, 5)))


@pytest.mark.parametrize("labels", [[0, 1, 2, 1, 0, 2, 1], [-1, 2, -1, -1, 0, -1, -1], [-1] * 7])
@pytest.mark.parametrize("params", [{}, {"reduction": "sum"}, {"reduction": "sum", "base": "nt_xent"}], ids=str)
def test_oar_draws_labelled_rows_to_their_anchors(labels, params):
    anchors = orthonormal_anchors(3, 5).numpy()
    np.testing.assert_allclose(anchors @ anchors.T, np.eye(3), atol=1e-12)
    state = {"labels": np.array(labels), "anchors": anchors}
    assert_equals_oracle("oar", "written", {"lam": 0.7, **params}, random_views(1), **state)


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
    loss, gradients = loss_and_gradients(objectives.make(name, variant, **params), *golden_views())
    if value is not None:
        assert loss.item() == pytest.approx(value, abs=5.01e-7)
    assert [np.linalg.norm(gradient) for gradient in gradients] == pytest.approx(norms, abs=5.01e-7)


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        # MACL section 5.2: reweighted MACL, FlatNCE and DCL take the same steps
        (("flatnce", None, {}), ("dcl", "released", {"temperature": 0.1, "negatives": "both"}), 1),
        (("macl", None, {"alpha": 0}), ("dcl", "released", {"temperature": 0.1}), 1),
        (("dcl", "original", {}), ("flatnce", None, {}), 2),
        # Li's surrogates have the gradients (10) and (11) of the written losses
        (("barlow_twins", "released", {}), ("barlow_twins", "written", {}), 1),
        (("vicreg", "released", {}), ("vicreg", "written", {}), 1),
        # nothing switched on: the modified objectives are the plain ones
        (("modified_mhe", None, {"margin": None, "temperature": None, "ratio": None, "lam": 10}), ("mhe", None, {}), 1),
        (("modified_mhs", None, {"margin": None, "ratio": None}), ("mhs", None, {}), 1),
        (
            ("modified_barlow_twins", None, {"margin": None, "temperature": None, "ratio": None, "lam": 30}),
            ("barlow_twins", None, {}),
            1,
        ),
        (
            ("modified_vicreg", None, {"margin": None, "temperature": None, "ratio": None, "lam": 30}),
            ("vicreg", None, {}),
            1,
        ),
    ],
)
def test_identities_between_gradients(one, other, factor):
    views = random_views(3)
    ours, theirs = (
        loss_and_gradients(objectives.make(name, variant, **params), *views)[1]
        for name, variant, params in (one, other)
    )
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, factor * b, rtol=1e-8, atol=1e-12)
