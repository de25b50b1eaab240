"""Batches with given angles."""

from math import pi

import pytest
import torch

from clrepro.xray.views import draws, reachable, views


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
