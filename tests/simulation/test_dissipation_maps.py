"""Maps of dissipation over sampled angles against exact values."""

import math

import numpy as np
import pandas as pd
import pytest

from clrepro.errors import UserError
from clrepro.simulation import (
    _sampling,
    dissipation_maps,
    ratio_maps,
)
from tests.simulation.definitions import definition

ANGLES = dict(
    objectives={},
    points=4,
    batches=3,
    negatives=5,
    mu_positive_over_pi=[0.05, 0.5],
    mu_negative_over_pi=[0.05, 1.0],
    sigma_positive=0.0,
    sigma_negative=0.0,
    seed=0,
)


def plain_dissipation(name: str, positive: np.ndarray, negatives: np.ndarray, parameters: dict) -> np.ndarray:
    """Table 1 of li2024 as printed, double precision; positive (B,), negatives (K, B)."""
    if name in ("infonce", "arccon"):
        temperature = parameters["temperature"]
        numerator = np.exp(np.cos(positive + parameters.get("angle", 0)) / temperature)
        return 1 / (1 + numerator / np.exp(np.cos(negatives) / temperature).sum(axis=0))
    if name == "mpt":
        return np.cos(positive) - np.cos(negatives).max(axis=0) - parameters["margin"]
    gaps = np.sqrt(2 - 2 * np.cos(negatives)).min(axis=0) - np.sqrt(2 - 2 * np.cos(positive))
    return gaps - parameters["margin"]


OBJECTIVES = {
    "infonce": {"temperature": 0.05},
    "arccon": {"temperature": 0.05, "angle": math.radians(10)},
    "mpt": {"margin": 0.23},
    "met": {"margin": 0.45},
}


def test_drawn_angles_are_normal_and_independent():
    generator = _sampling.generators(0, "angles", 1)[0]
    angles = _sampling.draw_angles(generator, 1.5, 0.1, np.empty((127, 1001), np.float32))
    z = np.sort((angles.ravel().astype(float) - 1.5) / 0.1)
    normal = 0.5 * np.array([math.erfc(-value / math.sqrt(2)) for value in z])
    ranks = np.arange(1, z.size + 1) / z.size
    assert np.abs(normal - ranks).max() * math.sqrt(z.size) < 1.63  # Kolmogorov and Smirnov, 1 in 100
    z = (angles.ravel().astype(float) - 1.5) / 0.1
    half = (z.size + 1) // 2
    pairs = z[: half - 1], z[half:]  # the two that share a radius and a turn
    for first, second in (pairs, (pairs[0] ** 2, pairs[1] ** 2), (z[:-1], z[1:])):
        assert abs(np.corrcoef(first, second)[0, 1]) * math.sqrt(first.size) < 3.3
    assert 4 < np.abs(z).max() < 5.8
    assert _sampling.draw_angles(generator, 0.7, 0.0, np.empty(3, np.float32)) == pytest.approx(0.7)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_single_precision_dissipation_equals_the_plain_formula(name):
    """On the same draws, angles outside [0, pi] included."""
    random = np.random.default_rng(0)
    positive = random.uniform(-0.3, 1.8, 4000).astype(np.float32)
    negatives = (positive + 0.5 + random.normal(0, 0.4, (9, 4000))).astype(np.float32)
    negatives[:, ::5] += np.float32(np.pi - 1)
    assert negatives.min() < 0
    assert negatives.max() > np.pi
    expected = plain_dissipation(name, positive.astype(float), negatives.astype(float), OBJECTIVES[name])
    found = dissipation_maps.DISSIPATIONS[name](positive, negatives.copy(), **OBJECTIVES[name])
    if name in ("infonce", "arccon"):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)
        return
    decided = np.abs(expected) > 1e-6
    assert decided.mean() > 0.99
    assert 0.1 < found.mean() < 0.9
    np.testing.assert_array_equal(found[decided], expected[decided] < 0)


@pytest.mark.parametrize("temperature", [1e-3, 5e-3])
def test_dissipation_survives_small_temperatures(temperature):
    positive = np.array([0.2, 1.4], np.float32)
    found = dissipation_maps.infonce(positive, np.full((3, 2), 0.8, np.float32), temperature)
    np.testing.assert_allclose(found, [0.0, 1.0], atol=1e-20)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_without_spread_a_map_is_the_closed_form(name):
    frame = dissipation_maps.compute({**ANGLES, "objectives": {name: OBJECTIVES[name]}})
    positive, negative = frame["mu_positive"].to_numpy(), frame["mu_negative"].to_numpy()
    assert set(positive.round(6)) == set((np.pi * np.array([0.05, 0.2, 0.35, 0.5])).round(6))
    expected = plain_dissipation(name, positive, np.tile(negative, (5, 1)), OBJECTIVES[name])
    expected = expected if name in ("infonce", "arccon") else expected < 0
    np.testing.assert_allclose(frame["dissipation"], expected, rtol=2e-5, atol=1e-7)


def test_sampled_dissipation_is_near_its_exact_mean():
    """MPT: the hardest of K normal angles has a known distribution, so the mean is an integral over two densities."""
    normal = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))
    z = np.linspace(-7, 7, 2801)
    weight = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    settings = {**ANGLES, "sigma_positive": 0.05, "sigma_negative": 0.1, "negatives": 127, "batches": 4000, "points": 2}
    settings |= {"mu_positive_over_pi": [0.25, 0.3], "mu_negative_over_pi": [0.4, 0.45]}
    frame = dissipation_maps.compute({**settings, "objectives": {"mpt": {"margin": 0.23}}})
    for cell in frame.itertuples():
        reach = np.arccos(np.clip(np.cos(cell.mu_positive + 0.05 * z) - 0.23, -1, 1))  # active: the hardest is nearer
        active = 1 - (1 - normal((reach - cell.mu_negative) / 0.1)) ** 127
        exact = (weight * active).sum()
        error = math.sqrt(exact * (1 - exact) / 4000)
        assert abs(cell.dissipation - exact) < 4.5 * error + 1e-3
    assert frame["dissipation"].between(0.05, 0.95).any()


@pytest.mark.parametrize(("module", "figure"), [(dissipation_maps, "figure_2"), (ratio_maps, "figure_4")])
def test_threads_do_not_change_the_numbers_but_the_seed_does(module, figure, monkeypatch):
    settings = {**definition("li2024", figure)["settings"], "points": 6, "batches": 40}
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = module.compute(settings)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    pd.testing.assert_frame_equal(alone, module.compute(settings), check_exact=True)
    value = "dissipation" if figure == "figure_2" else "ratio"
    assert (module.compute({**settings, "seed": 1})[value] != alone[value]).any()


def test_rows_and_objectives_draw_apart():
    settings = {**definition("li2024", "figure_10")["settings"], "points": 4, "batches": 50}
    settings["objectives"] = {"infonce": {"temperature": 0.05}}
    alone = dissipation_maps.compute(settings)
    settings["objectives"] = {"mpt": {"margin": 0.23}, "infonce": {"temperature": 0.05}}
    both = dissipation_maps.compute(settings)
    np.testing.assert_array_equal(alone["dissipation"], both.loc[both["objective"] == "infonce", "dissipation"])
    first, second = (generator.standard_normal(8) for generator in _sampling.generators(0, "infonce", 2))
    other = _sampling.generators(0, "mpt", 1)[0].standard_normal(8)
    assert not set(first) & set(second)
    assert not set(first) & set(other)


def test_bad_ranges_are_refused():
    with pytest.raises(UserError, match="mu_positive_over_pi"):
        dissipation_maps.compute({**ANGLES, "mu_positive_over_pi": [0.5, 0.05]})
    with pytest.raises(UserError, match="sigma_negative"):
        dissipation_maps.compute({**ANGLES, "sigma_negative": 1.0})
    with pytest.raises(UserError, match="triplet"):
        dissipation_maps.compute({**ANGLES, "objectives": {"triplet": {}}})
