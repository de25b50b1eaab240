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
from torch.utils._python_dispatch import TorchDispatchMode

from clrepro import objectives
from clrepro.errors import UserError
from clrepro.objectives import _pairs
from clrepro.objectives._anchors import orthonormal_anchors
from clrepro.objectives.memory import KeyQueue
from clrepro.paths import ROOT
from clrepro.report import objective_pages
from tests.oracles import GOLDEN, ORACLES, golden_views, numeric_gradient

EVERY = [(name, variant) for name in objectives.names() for variant in objectives.signatures(name)]
# beside every variant's defaults: the other choices that change the equation
OTHER = [
    ("nt_xent", "written", {"reduction": "sum"}),
    ("dcl", "released", {"negatives": "both"}),
    ("dcl", "released", {"negatives": "both", "reduction": "sum"}),
    ("dcl", "original", {"sigma": 0.5}),
    ("infonce_mixup", "written", {"kind": "negatives", "mixed": 3}),
    ("macl", "released", {"negatives": "both"}),
    ("macl", "released", {"reweight": False, "base_temperature": 0.05, "alpha": 2.0, "alignment_threshold": 0.8}),
    ("align_uniform", "released", {"alpha": 3.0, "t": 2.0}),
    ("align_uniform", "written", {"alpha": 1.0, "t": 2.0}),
    *[
        ("paradigm", variant, params)
        for variant in ("released", "written")
        for params in ({"margin": None}, {"margin": 0.05, "ratio": 2.0}, {"power": 3}, {"margin": None, "power": 0})
    ],
    *[
        (name, variant, params)
        for name, base in (("modified_mhe", {}), ("modified_barlow_twins", {"lam": 30.0}), ("modified_vicreg", {}))
        for variant in ("released", "written")
        for params in (
            {"margin": 0.1},
            {"temperature": None, "ratio": None, **base},
            {"margin": 0.1, "ratio": None, **base},
            {"temperature": None},
        )
    ],
    *[("modified_mhs", variant, {"ratio": None, "margin": 0.1}) for variant in ("released", "written")],
    *[
        (name, variant, {"temperature": None, "power": 4})
        for name in ("modified_barlow_twins", "modified_vicreg")
        for variant in ("released", "written")
    ],
    ("oar", "written", {"base": "mpt", "base_variant": "written", "margin": 0.5}),
]
CASES = [*((name, variant, {}) for name, variant in EVERY), *OTHER]
# raw outputs are standardised or taken as they are, not normalised row by row
RAW = [("barlow_twins", "original"), ("vicreg", "original")]


def case_id(case):
    name, variant, params = case
    return "-".join([name, variant, *(f"{key}={value}" for key, value in params.items())])


def tensors(*views, dtype=torch.float64):
    return [torch.tensor(np.asarray(view), dtype=dtype, requires_grad=True) for view in views]


def random_views(seed, n=7, d=5, noise=0.3):
    rng = np.random.default_rng(seed)
    view = rng.normal(size=(n, d))
    return view, view + noise * rng.normal(size=(n, d))


def coldest(name, variant):
    """The issue's hardest temperature, 0.005, wherever an objective has one."""
    return {key: 0.005 for key in objectives.signatures(name)[variant] if key.endswith("temperature")}


def loss_and_gradients(objective, *views, **state):
    inputs = tensors(*views)
    loss = objective(*inputs, **state)
    loss.backward()
    return loss, [np.zeros(view.shape) if view.grad is None else view.grad.numpy() for view in inputs]


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


@pytest.mark.parametrize("name", objectives.names())
def test_signatures_read_from_source_are_the_functions_own(name):
    module = importlib.import_module(f"clrepro.objectives.{name}")
    for variant, parameters in objectives.signatures(name).items():
        own = inspect.signature(module.VARIANTS[variant]).parameters.values()
        own = {p.name: p.default for p in own if p.kind is p.KEYWORD_ONLY and "Tensor" not in str(p.annotation)}
        assert {key: parameter.default for key, parameter in parameters.items()} == own
        assert all(type(parameter.default) in parameter.kinds for parameter in parameters.values())


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


def test_a_queue_goes_with_cross_view_negatives_only():
    with pytest.raises(ValueError, match="negatives='cross'"):
        objectives.make("macl", negatives="both")(torch.ones(3, 2), torch.ones(3, 2), queue=torch.ones(4, 2))


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


def test_a_queue_is_first_in_first_out_and_finds_the_nearest_key():
    queue, rng = KeyQueue(5, 3), np.random.default_rng(0)
    expected = list(queue.keys.numpy())
    place = 0
    for count in (2, 4, 7):
        keys = rng.normal(size=(count, 3)).astype(np.float32)
        queue.push(torch.tensor(keys))
        for key in (keys / np.linalg.norm(keys, axis=1, keepdims=True))[-5:]:
            expected[place], place = key, (place + 1) % 5
        np.testing.assert_allclose(queue.keys.numpy(), expected, atol=1e-6)
    view = rng.normal(size=(4, 3)).astype(np.float32)
    nearest = [max(expected, key=lambda key, row=row: key @ row) for row in view]
    np.testing.assert_allclose(queue.nearest(torch.tensor(view)).numpy(), nearest, atol=1e-6)
    again = KeyQueue(5, 3, seed=1)
    again.load_state_dict(queue.state_dict())
    assert torch.equal(again.keys, queue.keys)
    assert again.position == queue.position


def test_a_variant_left_out_is_the_released_one_and_defaults_are_filled_in():
    objective = objectives.make("mat")
    assert objective.variant == "released"
    assert objective.params == {"margin": pytest.approx(0.15 * math.pi)}
    assert (
        repr(objectives.make("dcl", temperature=0.01))
        == "dcl[released](temperature=0.01, negatives=cross, reduction=mean)"
    )
    assert objectives.make("oar", base="met", margin=1).params == {
        "margin": 1.0,
        "base": "met",
        "base_variant": None,
        "lam": 1.0,
        "reduction": "mean",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(name="infonc"), "unknown objective 'infonc'. Did you mean infonce"),
        (dict(name="mpt", variant="releasd"), "unknown variant of mpt 'releasd'. Did you mean released"),
        (dict(name="dcl", temprature=0.1), "unknown parameter of dcl 'temprature'. Did you mean temperature"),
        (dict(name="dcl", temperature="warm"), "dcl: temperature must be a number, not 'warm'"),
        (dict(name="dcl", temperature=None), "dcl: temperature must be a number, not None"),
        (dict(name="paradigm", margin="0.3"), "paradigm: margin must be a number or null, not '0.3'"),
        (dict(name="dcl", temperature=0), "dcl: temperature must be finite and > 0, not 0"),
        (dict(name="mhe", lam=-1), "mhe: lam must be finite and >= 0, not -1"),
        (dict(name="met", margin=math.nan), "met: margin must be finite and >= -inf, not nan"),
        (dict(name="paradigm", power=0.5), "paradigm: power must be a whole number or null, not 0.5"),
        (dict(name="oar", base="oar"), "oar: base must be another objective"),
        (dict(name="macl", negatives="cros"), "Did you mean cross"),
        (dict(name="macl", reweight=1), "macl: reweight must be true or false, not 1"),
        (dict(name="infonce_mixup", mixed=1.5), "infonce_mixup: mixed must be a whole number, not 1.5"),
        (dict(name="oar", base="infonc"), "unknown objective 'infonc'. Did you mean infonce"),
        (dict(name="oar", base="mpt", temperature=0.1), "unknown parameter of oar 'temperature'"),
        (dict(name="oar", base="mpt", base_variant="releasd"), "unknown variant of mpt 'releasd' in oar: base_variant"),
    ],
)
def test_wrong_names_and_types_are_refused(arguments, message):
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        objectives.make(**arguments)


def test_views_of_different_shape_or_a_single_row_are_refused():
    objective = objectives.make("infonce")
    for shapes in (((3, 4), (3, 5)), ((1, 4), (1, 4)), ((4,), (4,))):
        with pytest.raises(ValueError, match="two views"):
            objective(*(torch.ones(shape) for shape in shapes))


def test_more_classes_than_dimensions_cannot_be_orthonormal():
    with pytest.raises(ValueError, match="embeddings have only 5 dimensions"):
        orthonormal_anchors(6, 5)


def test_the_generated_pages_are_in_step_with_the_code():
    folder = ROOT / "docs" / "objectives"
    written = {file.name: file.read_text("utf-8") for file in folder.glob("*.md")}
    assert written == objective_pages.pages(), "run `make docs`"
