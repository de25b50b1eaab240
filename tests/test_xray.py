"""The x-ray against closed forms that were derived without it, on losses that it has never seen, and in words."""

import subprocess
import sys
from dataclasses import replace
from math import pi

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro.errors import UserError
from clrepro.objectives import make, names, signatures
from clrepro.report import xrays
from clrepro.xray import decompose
from clrepro.xray._decompose import coefficients
from clrepro.xray.picture import write, xray
from clrepro.xray.subject import subject
from clrepro.xray.survey import anchors, exchanged, kinds_used, lemma_bounds
from clrepro.xray.views import draws, reachable, views
from tests.oracles import components as oracle

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


def batch(seed: int, number: int = 9, dimensions: int = 40, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Raw views around a common direction: some anchors dissipate, some do not."""
    numbers = np.random.default_rng(seed)
    common = 1.2 * numbers.normal(size=dimensions)
    first = common + numbers.normal(size=(number, dimensions))
    second = first + noise * np.linspace(0.2, 3, number)[:, None] * numbers.normal(size=first.shape)
    return first, second


def split(name: str, variant: str | None, first: np.ndarray, second: np.ndarray, **params):
    parts = decompose(make(name, variant, **params), torch.from_numpy(first), torch.from_numpy(second))
    return [part.numpy() for part in parts]


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


def test_batches_have_the_angles_that_they_are_asked_for():
    numbers = draws(64)
    first, second = views(0.5, 1.2, numbers)
    vectors = torch.cat([first, second])
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(128, dtype=torch.float64))
    angles = (vectors @ vectors.T).clamp(-1, 1).arccos()
    positive = angles[:64, 64:].diagonal()
    pairs = ~torch.eye(64, dtype=torch.bool)
    for block in (angles[:64, 64:], angles[:64, :64], angles[64:, 64:]):
        assert block[pairs].mean() == pytest.approx(1.2, abs=0.01)
        assert block[pairs].std() == pytest.approx(0.1, abs=0.01)
    assert positive.mean() == pytest.approx(0.5, abs=0.02)
    assert positive.std() == pytest.approx(0.05, abs=0.01)
    assert reachable(0.5, pi / 2)
    assert not reachable(0.5, pi / 2 + 0.1)
    assert not reachable(1.0, 0.3)


def test_lemma_bounds_are_where_the_distance_does_not_change():
    """On the tangent plane: h_i at 0, the step lambda (r p - n) ends as far from p as it began."""
    frame = pd.DataFrame({"positive_angle": [0.6], "hardest_angle": [1.1], "turn": [0.7]})
    step = 0.4
    positive = np.array([np.sin(0.6), 0])
    negative = np.sin(1.1) * np.array([np.cos(0.7), np.sin(0.7)])
    for bound in lemma_bounds(frame, step):
        end = step * (bound[0] * positive - negative)
        assert np.linalg.norm(end - positive) == pytest.approx(np.linalg.norm(positive))


def test_the_survey_finds_the_hardest_negative_that_the_objective_uses():
    first, second = views(0.5, 1.2, draws(16))
    second[0] = 0.98 * second[1] + 0.02 * torch.randn(second.shape[1], generator=torch.Generator().manual_seed(0))
    cross = anchors(make("mpt", "written"), first, second, (True, False))
    within = anchors(make("modified_vicreg", "written"), first, second, (False, True))
    # row 0 of view 2 nearly is anchor 1's positive; in view 1 it has no such neighbour
    assert cross["hardest_angle"][1] == pytest.approx(0.5, abs=0.15)
    assert within["hardest_angle"][1] > 0.9
    numbers = draws(16)
    assert kinds_used(make("mpt", "written"), numbers) == (True, False)
    assert kinds_used(make("modified_vicreg", "written"), numbers) == (False, True)
    assert kinds_used(make("nt_xent"), numbers) == (True, True)


VERDICTS = [
    (
        "mpt",
        "released",
        {"margin": 0.3},
        ["rows of view 2", "beyond a cosine gap of 0.30", "holds 100 %", "ratio: 1.0"],
    ),
    ("infonce", None, {}, ["fits the paradigm: yes", "dissipates: yes, gradually", "at tau 0.05", "ratio: 1.0"]),
    ("mhe", "written", {}, ["dissipates: no"]),
    ("barlow_twins", "original", {}, ["fits the paradigm: no", "weights have both signs"]),
    ("infonce", None, {"temperature": 0.005}, ["dissipates: yes, gradually, half of it beyond a cosine gap of 0.0"]),
    ("mpt", "written", {"margin": -0.2}, ["beyond a cosine gap of -0.20", "no anchor whose positive leads"]),
]


@pytest.mark.parametrize(("name", "variant", "params", "expected"), VERDICTS)
def test_verdicts_say_what_is_known_of_the_objectives(name, variant, params, expected):
    text = "\n".join(xray(subject(name, variant, params)).verdict)
    for sentence in expected:
        assert sentence in text


def test_a_loss_of_the_wrong_sign_is_called_reversed():
    built = subject("infonce", None, {})
    text = "\n".join(xray(replace(built, build=lambda **_: lambda a, b: -make("infonce")(a, b))).verdict)
    assert "sign: REVERSED" in text
    assert "lemma 1: 0 % of the anchors" in text


OWN = """
import torch
from torch.nn import Module, functional

class Symmetric(Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature
        self.head = torch.nn.Parameter(torch.ones(1))

    def forward(self, first, second):
        logits = functional.normalize(first, dim=1) @ functional.normalize(second, dim=1).T / self.temperature
        target = torch.arange(len(logits))
        return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)) / 2

class Float32(Module):
    def __init__(self):
        super().__init__()
        self.table = torch.eye(12)  # no buffer: stays float32
        self.mean = torch.zeros(12)

    def forward(self, first, second):
        self.mean = self.mean + first.mean(0)
        return torch.mm(first + self.mean, self.table).mul(second).mean()

def single(first, second):
    return torch.mm(first, torch.ones(first.shape[1], 1)).float().mean() + (first * second).float().mean()
"""


def test_a_loss_of_ones_own_file_from_the_command_line(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    command = [sys.executable, "-m", "clrepro.cli", "xray", "own.py:Symmetric", "--temperature", "0.05"]
    done = subprocess.run([*command, "--out", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "fits the paradigm: yes" in done.stdout
    table = pd.read_csv(tmp_path / "out/Symmetric-temperature=0.05.csv")
    assert set(table["panel"]) == {"dissipation", "active", "ratio", "residual", "share", "lemma"}
    assert (tmp_path / "out/Symmetric-temperature=0.05.svg").read_text().startswith("<?xml")
    wrong = subprocess.run([*command[:-2], "--temprature", "1"], cwd=tmp_path, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "unknown parameter of Symmetric 'temprature'. Did you mean temperature?" in wrong.stderr
    # a loss that knows float32 only is given float32
    (view1, view2), loss = torch.randn(2, 4, 12, dtype=torch.float64), subject(f"{tmp_path}/own.py:single", None, {})
    assert decompose(loss.objective(), view1, view2).residual.shape == (4,)
    # so is a module with a constant of its own, whose state does not go from one batch to the next
    stateful = subject(f"{tmp_path}/own.py:Float32", None, {}).objective()
    first, again = (decompose(stateful, view1, view2) for _ in range(2))
    assert torch.equal(first.dissipation, again.dissipation)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("own.py", "defines Symmetric, Float32, single: say which"),
        ("own.py:Symetric", "Did you mean Symmetric?"),
        ("other.py:Symmetric", "does not exist"),
        ("mptt", "Did you mean mpt"),
        ("no_such_package.losses:Loss", "cannot import"),
    ],
)
def test_losses_that_are_not_there_are_named(tmp_path, monkeypatch, spec, message):
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        subject(spec, None, {})


def test_pictures_are_the_same_bytes_twice(tmp_path):
    result = xray(subject("met", "written", {}))
    for first, second in zip(write(result, tmp_path / "a"), write(result, tmp_path / "b"), strict=True):
        assert first.read_bytes() == second.read_bytes()


def test_exchanging_the_views_exchanges_the_anchors():
    first, second = (torch.from_numpy(view) for view in batch(9))
    written = decompose(make("mpt", "written"), first, second)
    released = decompose(exchanged(make("mpt", "released")), second, first)
    columns = decompose(make("mpt", "written"), second, first)
    assert torch.equal(released.dissipation, columns.dissipation)
    assert not torch.equal(written.dissipation, columns.dissipation)


def test_the_documented_xrays_are_of_todays_code():
    assert xrays.stale() == [], "run `make docs`"
