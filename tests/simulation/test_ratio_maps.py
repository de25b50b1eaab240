"""Maps of ratios, and their shading."""

import math

import numpy as np
import pytest

from clrepro.simulation import (
    ratio_maps,
)
from tests.simulation.definitions import definition


def test_without_spread_both_forms_of_the_ratio_agree():
    settings = {**definition("li2024", "figure_4")["settings"], "points": 5, "batches": 3}
    frame = ratio_maps.compute({**settings, "sigma_positive": 0.0, "sigma_negative": 0.0})
    keys = ["objective", "mu_positive", "mu_negative"]
    both = frame[frame["form"] == "written"].merge(frame[frame["form"] == "released"], on=keys)
    assert len(both) == 50
    np.testing.assert_allclose(both["ratio_x"], both["ratio_y"], rtol=2e-6)
    met = both[both["objective"] == "met"]
    expected = np.sin(met["mu_negative"] / 2) / np.sin(met["mu_positive"] / 2)
    np.testing.assert_allclose(met["ratio_y"], expected, rtol=1e-6)
    arccon = both[both["objective"] == "arccon"]
    u = math.radians(10)
    np.testing.assert_allclose(arccon["ratio_y"], np.sin(arccon["mu_positive"] + u) / np.sin(arccon["mu_positive"]))


def test_sampled_met_ratio_takes_the_hardest_negative():
    settings = {**definition("li2024", "figure_4")["settings"], "points": 3, "batches": 400}
    frame = ratio_maps.compute({**settings, "sigma_positive": 0.0})
    cell = frame[(frame["form"] == "written") & (frame["objective"] == "met")].iloc[-2]  # pi / 2 and 0.525 pi
    nearest = cell["mu_negative"] - 0.1 * 2.596  # mean of the largest of 127 standard normals: 2.596
    assert cell["ratio"] == pytest.approx(np.sin(nearest / 2) / np.sin(np.pi / 4), abs=0.005)


def test_shading():
    arccon, met = {"temperature": 0.05, "angle": math.radians(10)}, {"margin": 0.45}
    settings = {"negatives": 127, "smallest_dissipation": 0.01}
    positive = np.array([1.0, 0.5, 0.5, 0.5])
    negative = np.array([0.9, 0.6, 0.95, 2.0])
    assert ratio_maps.unvisited("met", met, positive, negative, settings).tolist() == [True, False, False, True]
    gap = math.cos(0.5 + arccon["angle"]) - 0.05 * math.log(127 * 99)  # here the dissipation is 1 / 100
    edge = math.acos(gap)
    at = np.array([edge - 1e-6, edge + 1e-6])
    assert ratio_maps.unvisited("arccon", arccon, np.array([0.5, 0.5]), at, settings).tolist() == [False, True]
