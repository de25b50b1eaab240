"""Reductions of a curve to one number."""

import math

import numpy as np


def test_thirds_of_a_curve_are_fixed_beforehand():
    from clrepro.ledger.points import REDUCTIONS

    curve = [9.0, 5.0, 1.0, 2.0, 3.0, 4.0]
    found = {name: reduce(curve) for name, reduce in REDUCTIONS.items()}
    assert found == {"last": 4.0, "first": 9.0, "mean": 4.0, "early": 7.0, "middle": 1.5, "late": 3.5}
    # of a flat noisy curve no third lies below another on average, whereas its minimum lies below everything
    noise = np.random.default_rng(0).normal(size=(4000, 30))
    rises = [REDUCTIONS["late"](list(row)) - REDUCTIONS["middle"](list(row)) for row in noise]
    assert abs(np.mean(rises)) < 4 * np.std(rises) / math.sqrt(len(rises))
