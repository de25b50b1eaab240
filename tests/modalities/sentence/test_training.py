"""The training of sentence encoders: batches, heads, and checkpoints that the ecosystem loads."""

import json

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.encoder import SentenceEncoder
from clrepro.modalities.sentence.training import SentenceWorkload
from tests.modalities.sentence.trainings import SETTINGS, train


def test_an_epoch_visits_every_sentence_once_and_the_two_views_differ(tiny, demo_tasks):
    folder, model, sentences = tiny
    workload = SentenceWorkload(TokenisedCorpus(folder), model, {**SETTINGS, "batch_size": 64}, 1, demo_tasks)
    assert workload.steps_per_epoch == 10
    rows = np.concatenate([workload.order_of(step) for step in range(10)])
    assert sorted(rows) == list(range(len(sentences)))
    assert not np.array_equal(rows, np.concatenate([workload.order_of(step) for step in range(10, 20)]))
    workload.model.train()
    ((view1, view2, _),) = workload.terms(workload.model, 0, torch.device("cpu"))
    assert view1.shape == view2.shape == (64, 32)
    assert not torch.allclose(view1, view2)
    workload.model.eval()
    ((view1, view2, _),) = workload.terms(workload.model, 0, torch.device("cpu"))
    torch.testing.assert_close(view1, view2)  # without dropout both views are the same sentence


@pytest.mark.parametrize("pooling", ["cls", "avg"])
def test_checkpoints_load_in_transformers_and_sentence_transformers(tiny, demo_tasks, tmp_path, pooling):
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel

    from clrepro.evaluation.senteval.embed import embed, tokenise_for_embedding

    train(tiny, demo_tasks, tmp_path, pooling=pooling)
    (folder,) = tmp_path.glob("best-*")
    sentences = [
        "A chef is slicing onions .",
        "Rain .",
        "The old captain wrote a very long letter in the harbour .",
    ]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ours = SentenceEncoder(folder, pooling)
    vectors = embed(ours, tokenise_for_embedding(ours, tokenizer, sentences), torch.device("cpu"))
    theirs = SentenceTransformer(str(folder), device="cpu").encode(sentences)
    np.testing.assert_allclose(vectors, theirs, atol=1e-5)
    plain = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        batch = tokenizer(sentences, padding=True, return_tensors="pt")
        hidden = plain(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    expected = hidden[:, 0] if pooling == "cls" else (hidden * mask).sum(1) / mask.sum(1)
    np.testing.assert_allclose(vectors, expected.numpy(), atol=1e-5)


def test_li_s_heads_and_frozen_embeddings(tiny):
    _, model, _ = tiny
    torch.manual_seed(0)
    encoder = SentenceEncoder(model, head="tanh_linear", freeze_embeddings=True)
    assert not any(p.requires_grad for p in encoder.transformer.embeddings.parameters())
    assert all(p.requires_grad for p in encoder.transformer.encoder.parameters())
    assert isinstance(encoder.head[0], torch.nn.Tanh)
    assert encoder.head[1].bias.std().item() == pytest.approx(0.006, rel=0.5)
    assert json.dumps([type(part).__name__ for part in SentenceEncoder(model, head="linear").head]) == '["Linear"]'
