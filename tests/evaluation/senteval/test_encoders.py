"""Encoders from folders and files."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

from clrepro.errors import UserError
from clrepro.evaluation.pooling import POOLINGS
from clrepro.evaluation.senteval.embed import positions
from clrepro.evaluation.senteval.encoders import load_encoder

SENTENCES = ["A chef is slicing onions .", "Rain .", "", "The old captain wrote a very long letter .", "Rain ."]


@pytest.fixture(scope="module")
def bert(tmp_path_factory, tiny):
    """Three layers, a pooler and 40 positions; the tokenizer of the tiny backbone, which knows no such limit."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    folder = tmp_path_factory.mktemp("bert")
    tokenizer = AutoTokenizer.from_pretrained(tiny[1])
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = dict(hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=32)
    BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=40, **config)).eval().save_pretrained(
        folder
    )
    return folder


def hidden_states(folder, sentence):
    """One sentence alone, by transformers itself."""
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        output = model(**tokenizer([sentence], return_tensors="pt"), output_hidden_states=True)
    return [state[0].numpy() for state in output.hidden_states], output.pooler_output[0].numpy()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_each_pooling_is_what_its_name_says(bert, pooling, threads):
    torch.set_num_threads(threads)
    found = load_encoder(bert, pooling, "cpu")(SENTENCES)
    assert torch.get_num_threads() == threads
    assert found.dtype == np.float32
    assert found.shape == (5, 16)
    for sentence, vector in zip(SENTENCES, found, strict=True):
        states, pooled = hidden_states(bert, sentence)
        expected = {
            "cls": states[3][0],
            "pooler": pooled,
            "avg": states[3].mean(0),
            "avg_top2": (states[3] + states[2]).mean(0) / 2,
            "avg_first_last": (states[1] + states[3]).mean(0) / 2,
        }[pooling]
        np.testing.assert_allclose(vector, expected, atol=2e-6)


@pytest.mark.parametrize("pooling", ["cls", "avg"])
def test_a_sentence_transformers_folder_needs_no_pooling(tiny, tmp_path, pooling):
    from sentence_transformers import SentenceTransformer
    from transformers import AutoTokenizer

    from clrepro.modalities.sentence.encoder import SentenceEncoder, save

    save(SentenceEncoder(tiny[1], pooling), AutoTokenizer.from_pretrained(tiny[1]), tmp_path)
    expected = SentenceTransformer(str(tmp_path), device="cpu").encode(SENTENCES)
    np.testing.assert_allclose(load_encoder(tmp_path, device="cpu")(SENTENCES), expected, atol=2e-6)


def test_only_sentences_longer_than_the_positions_are_cut(bert):
    encode = load_encoder(bert, "avg", "cpu")
    fits, longer, longest = (encode([" ".join(["."] * count)])[0] for count in (38, 39, 60))
    assert not np.array_equal(encode([" ".join(["."] * 37)])[0], fits)
    np.testing.assert_allclose(fits, longer, atol=2e-6)  # 38 tokens, [CLS] and [SEP]: the 40 positions
    np.testing.assert_allclose(fits, longest, atol=2e-6)


def test_positions_of_robertas_begin_after_the_padding_id():
    tokenizer = SimpleNamespace(model_max_length=10**30)
    sizes = dict(vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
                 max_position_embeddings=40)  # fmt: skip
    assert positions(RobertaModel(RobertaConfig(**sizes, pad_token_id=1)), tokenizer) == 38
    assert positions(BertModel(BertConfig(**sizes)), tokenizer) == 40


def test_stored_embeddings_answer_by_sentence(tmp_path):
    sentences, vectors = ["one .", "two \u2028 words", ""], np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", sentences=np.array(sentences), vectors=vectors)
    np.save(tmp_path / "b.npy", vectors)
    (tmp_path / "b.txt").write_text("\n".join(sentences) + "\n", "utf-8")
    for name in ("a.npz", "b.npy"):
        found = load_encoder(tmp_path / name)(["", "one .", ""])
        assert found.dtype == np.float32
        assert found.tolist() == [[4, 5], [0, 1], [4, 5]]
        with pytest.raises(UserError, match="2 of 3 sentences have no stored vector, the first: 'three'"):
            load_encoder(tmp_path / name)(["one .", "three", "four", "three"])


def test_bad_encoders_are_refused_with_the_remedy(bert, tiny, tmp_path):
    np.savez(tmp_path / "digest.npz", sentences="0f3a", vectors=np.zeros((3, 2)))
    np.savez(tmp_path / "short.npz", sentences=np.array(["a"]), vectors=np.zeros((3, 2)))
    np.savez(tmp_path / "nan.npz", sentences=np.array(["a", "b"]), vectors=np.array([[0.0], [np.nan]]))
    np.savez(tmp_path / "counts.npz", sentences=np.array(["a"]), vectors=np.ones((1, 2), int))
    np.save(tmp_path / "alone.npy", np.zeros((3, 2)))
    (tmp_path / "empty").mkdir()
    for name, pooling, message in (
        (bert, "mean", "unknown pooling 'mean'"),
        (bert, None, "choose a pooling"),
        (bert, "cls_before_pooler", "cls_before_pooler is `cls` here, and its `cls` is `pooler`"),
        (tiny[1], "pooler", "no trained pooler; use pooling 'cls'"),
        (tmp_path / "nowhere", "avg", "there is no folder"),
        (tmp_path / "empty", "avg", "does not load"),
        (tmp_path / "absent.npz", None, "absent.npz is missing"),
        (tmp_path / "digest.npz", None, "an array of strings"),
        (tmp_path / "short.npz", None, "1 sentences, but vectors of shape"),
        (tmp_path / "counts.npz", None, "no array of vectors of floating-point numbers"),
        (tmp_path / "nan.npz", None, "sentence 2 is not finite: 'b'"),
        (tmp_path / "alone.npy", None, "needs alone.txt beside it"),
        (tmp_path / "short.npz", "avg", "pooled already"),
    ):
        with pytest.raises(UserError, match=message):
            load_encoder(name, pooling, "cpu")
