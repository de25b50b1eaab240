"""Embedding in batches: order, errors, and independence of the batch."""

import numpy as np
import pytest
import torch

from clrepro.evaluation.senteval.embed import batches, embed, padded, tokenise_for_embedding
from clrepro.modalities.sentence.encoder import SentenceEncoder


def test_embeddings_keep_order_and_do_not_depend_on_batches(tiny, monkeypatch):
    from transformers import AutoTokenizer

    from clrepro.modalities.sentence.encoder import SentenceEncoder

    encoder = SentenceEncoder(tiny[1], "avg")
    tokens = tokenise_for_embedding(encoder, AutoTokenizer.from_pretrained(tiny[1]), tiny[2][:80])
    with torch.no_grad():
        alone = torch.cat([encoder.eval()(*padded([ids], 0)) for ids in tokens]).numpy()
    encoder.train()
    for budget, threads in ((1, 1), (100, 2), (4096, 1)):
        monkeypatch.setattr("clrepro.evaluation.senteval.embed.CPU_TOKENS", budget)
        monkeypatch.setattr("clrepro.evaluation.senteval.embed.CPU_FLOATS", 0)
        torch.set_num_threads(threads)
        np.testing.assert_allclose(embed(encoder, tokens, torch.device("cpu")), alone, atol=2e-6)
    assert encoder.training
    assert embed(encoder, [], torch.device("cpu")).shape == (0, 32)
    assert not embed(encoder, [tokens[0], []], torch.device("cpu"))[1].any()


def test_an_error_in_a_thread_reaches_the_caller(tiny):
    from clrepro.modalities.sentence.encoder import SentenceEncoder

    torch.set_num_threads(2)
    with pytest.raises(IndexError):
        embed(SentenceEncoder(tiny[1], "avg"), [[10**6]] * 2000, torch.device("cpu"))
    assert torch.get_num_threads() == 2


def test_batches_hold_every_row_once_within_the_budget():
    lengths = np.random.default_rng(0).integers(0, 60, 500)
    tokens = [[1] * int(length) for length in lengths]
    found = batches(tokens, 50)
    assert sorted(row for rows in found for row in rows) == np.flatnonzero(lengths).tolist()
    assert all(len(rows) * lengths[rows].max() <= 50 or len(rows) == 1 for rows in found)
    ids, mask = padded([[7, 8, 9], [5]], 3)
    assert ids.tolist() == [[7, 8, 9], [5, 3, 3]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_embeddings_do_not_depend_on_the_batch_beyond_rounding(tiny, monkeypatch):
    from transformers import AutoTokenizer

    _, model, sentences = tiny
    encoder = SentenceEncoder(model, "avg")
    tokens = tokenise_for_embedding(encoder, AutoTokenizer.from_pretrained(model), sentences[:60])
    whole = embed(encoder, tokens, torch.device("cpu"))
    monkeypatch.setattr("clrepro.evaluation.senteval.embed.CPU_TOKENS", 1)
    monkeypatch.setattr("clrepro.evaluation.senteval.embed.CPU_FLOATS", 0)
    singly = embed(encoder, tokens, torch.device("cpu"))
    np.testing.assert_allclose(whole, singly, atol=2e-6)
    assert whole.dtype == np.float32
    assert encoder.training
