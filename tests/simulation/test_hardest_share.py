"""The share of the hardest negative."""

import math

import numpy as np
import pytest

from clrepro.simulation import (
    hardest_share,
)
from tests.simulation.definitions import definition


def test_share_of_two_negatives():
    share, dissipation = hardest_share.shares(np.cos([0.5]), np.cos([[1.0], [1.2]]), 0.1)
    terms = np.exp(np.cos([1.0, 1.2]) / 0.1)
    assert share[0] == pytest.approx(terms[0] / terms.sum())
    assert dissipation[0] == pytest.approx(terms.sum() / (terms.sum() + math.exp(math.cos(0.5) / 0.1)))


def test_released_share_without_a_batch_is_set():
    settings = {**definition("li2024", "figure_3")["settings"], "points": 3, "batches": 4, "negatives": 8}
    settings |= {"sigma_negative": 0.0, "sigma_positive": 0.0, "temperatures": [0.3, 0.01]}
    frame = hardest_share.compute(settings).set_index(["form", "temperature"])
    assert frame.loc["written", "share"].to_numpy() == pytest.approx(1 / 8)
    assert (frame.loc["written", "batches"] == 4).all()
    sharp = frame.loc[("released", 0.01)]  # at pi / 20 the negatives are nearer than the positive, then far beyond
    assert sharp["batches"].tolist() == [4, 0, 0]
    assert sharp["share"].to_numpy() == pytest.approx([1 / 8, 1, 1])
