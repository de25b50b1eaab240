"""Components of gradients against closed forms that were derived without them."""

from math import pi

import numpy as np
import pytest
import torch

from clrepro.errors import UserError
from clrepro.objectives import make, names, signatures
from clrepro.xray import decompose
from clrepro.xray._decompose import coefficients
from tests.oracles import components as oracle
from tests.xray.batches import batch, split

WRITTEN = {
    "infonce": {"temperature": 0.05},
    "arccon": {"temperature": 0.05, "angle": pi / 18},
    "mpt": {"margin": 0.23},
    "met": {"margin": 0.45},
    "paradigm": {"margin": 0.3, "temperature": 0.05, "ratio": 1.25},
    "modified_mhe": {"margin": 0.3, "temperature": 0.05, "ratio": 1.75},
    "modified_mhs": {"margin": 0.3, "ratio": 1.75},
    "modified_barlow_twins": {"margin": 0.3, "temperature": 0.05, "ratio": 1.5},
    "modified_vicreg": {"margin": 0.3, "temperature": 0.05, "ratio": 1.5},
}
RELEASED = {name: WRITTEN[name] for name in oracle.NEGATIVES_RELEASED}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", WRITTEN)
def test_written_forms_have_the_components_of_lis_tables(name, seed):
    first, second = batch(seed)
    variant = "written" if "written" in signatures(name) else None
    dissipation, weight, ratio, residual = split(name, variant, first, second, **WRITTEN[name])
    expected, expected_weight, expected_ratio = oracle.components(name, first, second, **WRITTEN[name])
    factor = oracle.common_factor(name, len(first)) or oracle.estimated_factor(expected, dissipation)
    active = expected != 0
    assert active.any()
    np.testing.assert_allclose(dissipation, factor * expected, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(weight, expected_weight, atol=1e-5)
    np.testing.assert_allclose(ratio[active], expected_ratio[active], rtol=1e-5)
    np.testing.assert_allclose(residual, 0, atol=1e-9)
    assert not weight.diagonal().any()
    assert (ratio[~active] == 0).all()


def test_the_batches_of_these_tests_have_both_kinds_of_anchors():
    counts = [np.count_nonzero(oracle.components("mpt", *batch(seed), margin=0.23)[0]) for seed in range(3)]
    assert 0 < sum(counts) < 27


@pytest.mark.parametrize("name", RELEASED)
def test_released_forms_have_the_ratios_that_their_code_implies(name):
    first, second = batch(4)
    _, _, ratio, residual = split(name, "released", first, second, **RELEASED[name])
    expected = oracle.ratio_released(name, first, second, **RELEASED[name])
    gradient = ~np.isnan(expected)
    np.testing.assert_allclose(ratio[gradient], expected[gradient], rtol=1e-5)
    assert (residual[np.isinf(expected)] == 1).all()


@pytest.mark.parametrize("name", RELEASED)
def test_released_forms_pull_twice_as_much_as_their_ratio_says(name):
    """Over all active anchors: exactly 2r, but for mMHS, whose two directions need not have equal sums."""
    first, second = batch(5, noise=0.7)
    params = {**RELEASED[name], "margin": 3.0}
    dissipation, _, ratio, _ = split(name, "released", first, second, **params)
    mean = np.average(ratio, weights=dissipation)
    assert mean == pytest.approx(2 * params["ratio"], rel=0.1 if name == "modified_mhs" else 1e-9)


@pytest.mark.parametrize(("name", "variant"), [(name, variant) for name in names() for variant in signatures(name)])
def test_coefficients_rebuild_the_gradient_and_components_are_their_sums(name, variant):
    first, second = (torch.from_numpy(view) for view in batch(6, noise=0.8))
    unit1, unit2 = (torch.nn.functional.normalize(view, dim=1) for view in (first, second))
    anchor = unit1.clone().requires_grad_()
    objective = make(name, variant)
    (gradient,) = torch.autograd.grad(objective(anchor, unit2), anchor)
    gradient = gradient - (gradient * unit1).sum(1, keepdim=True) * unit1
    found, parts = coefficients(objective, first, second), decompose(objective, first, second)
    rebuilt = found.positive[:, None] * unit2 + found.cross @ unit2 + found.within @ unit1
    rebuilt = rebuilt - (rebuilt * unit1).sum(1, keepdim=True) * unit1
    missing = (rebuilt - gradient).norm(dim=1)
    torch.testing.assert_close(missing, found.residual * gradient.norm(dim=1), rtol=1e-6, atol=1e-9)
    some = parts.dissipation != 0
    negatives = (found.cross + found.within)[some]
    torch.testing.assert_close(parts.dissipation[some][:, None] * parts.weight[some], negatives)
    torch.testing.assert_close(parts.dissipation[some] * parts.ratio[some], -found.positive[some])
    torch.testing.assert_close(parts.weight.sum(1), some.double())


def test_a_matrix_for_a_ratio_shows_as_residual():
    first, second = batch(7, dimensions=60)
    *_, residual = split("barlow_twins", "original", first, second)
    assert residual.min() > 0.05
    *_, residual = split("vicreg", "written", first, second)
    assert residual.max() < 1e-9


def test_a_pull_without_a_push_is_no_ratio():
    first, second = (torch.from_numpy(view) for view in batch(8))
    parts = decompose(lambda a, b: (a - b).square().sum(1).mean(), first, second)
    assert parts.ratio.isposinf().all()
    assert (parts.residual == 1).all()
    assert not parts.dissipation.any()
    # negatives that cancel, and no positive: anchor 0 is pushed from one and pulled to another
    parts = decompose(lambda a, b: (a @ b.T)[0, 1] - (a @ b.T)[0, 2], first, second)
    assert parts.ratio.isnan().tolist() == [True] + [False] * 8
    assert parts.residual[0] == 1


@pytest.mark.parametrize(
    ("objective", "views_of", "message"),
    [
        (lambda a, b: (a * b).mean(), lambda: torch.randn(2, 6, 11), "use at least 12 dimensions"),
        (lambda a, b: (a * b).mean(), lambda: torch.ones(2, 3, 8), "rows of the views depend on each other"),
        (lambda a, b: (a * b).sum(1), lambda: torch.randn(2, 3, 8), r"one number as a tensor, not shape \(3,\)"),
        (lambda a, b: (a * b).mean().item(), lambda: torch.randn(2, 3, 8), "not float"),
        (lambda a, b: (a * b).detach().mean(), lambda: torch.randn(2, 3, 8), "does not depend on the views"),
        (lambda a, b: (a - a).norm(dim=1).sum().sqrt(), lambda: torch.randn(2, 3, 8), "not finite at row 0"),
        (lambda a, b: (a * b).mean(), lambda: torch.zeros(2, 3, 8), "row 0 of view 1 has length 0"),
        (lambda a, b: (a * b).mean(), lambda: torch.full((2, 3, 8), torch.nan), "row 0 of view 1 has length nan"),
    ],
)
def test_what_cannot_be_told_is_refused(objective, views_of, message):
    with pytest.raises(UserError, match=message):
        decompose(objective, *views_of())
