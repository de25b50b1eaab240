"""The scaling factor at points by hand."""

import math

import pytest

from clrepro.simulation import (
    scaling_factor,
)


def test_scaling_factor_at_points_by_hand():
    half = 2 / math.log(16)  # exp(2 / tau) = 16
    settings = {"points": 2, "temperature": [half, 1.0], "negatives": [16, 48]}
    frame = scaling_factor.compute({**settings, "curves": {"temperature": [half], "negatives": [16, 240]}})
    left = frame[frame["view"] == "temperature"].set_index(["temperature", "negatives"])["factor"]
    assert left[half, 16] == pytest.approx(1 / 2)
    assert left[half, 240] == pytest.approx(15 / 16)
    assert left[1.0, 16] == pytest.approx(16 / (16 + math.e**2))
    right = frame[frame["view"] == "negatives"].set_index("negatives")["factor"]
    assert right.to_dict() == pytest.approx({16: 1 / 2, 48: 3 / 4})
