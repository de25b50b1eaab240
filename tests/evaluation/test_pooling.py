"""Poolings of tokens."""

import torch

from clrepro.evaluation.pooling import pool


def test_poolings_on_a_case_done_by_hand():
    first, last = torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[[5.0], [7.0], [9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    hidden = (torch.zeros(1, 3, 1), first, last)
    found = {name: pool(hidden, mask, name).item() for name in ("cls", "avg", "avg_first_last", "avg_embeddings_last")}
    assert found == {"cls": 5.0, "avg": 6.0, "avg_first_last": 4.0, "avg_embeddings_last": 3.0}
