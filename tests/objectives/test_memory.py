"""Queues of keys."""

import numpy as np
import pytest
import torch

from clrepro import objectives
from clrepro.objectives.memory import KeyQueue


def test_a_queue_goes_with_cross_view_negatives_only():
    with pytest.raises(ValueError, match="negatives='cross'"):
        objectives.make("macl", negatives="both")(torch.ones(3, 2), torch.ones(3, 2), queue=torch.ones(4, 2))


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
