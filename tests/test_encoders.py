import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro.catalogue import cost
from clrepro.errors import UserError
from clrepro.evaluation.senteval import tables
from clrepro.evaluation.senteval.embed import batches, embed, padded, tokenise_for_embedding
from clrepro.evaluation.senteval.encoders import POOLINGS, load_encoder
from clrepro.modalities.sentence import backbone
from clrepro.modalities.sentence.corpus import TokenisedCorpus

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
def test_each_pooling_is_what_simcse_means_by_its_name(bert, pooling, threads):
    torch.set_num_threads(threads)
    found = load_encoder(bert, pooling, "cpu")(SENTENCES)
    assert torch.get_num_threads() == threads
    assert found.dtype == np.float32
    assert found.shape == (5, 16)
    for sentence, vector in zip(SENTENCES, found, strict=True):
        states, pooled = hidden_states(bert, sentence)
        expected = {
            "cls_before_pooler": states[3][0],
            "cls": pooled,
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
    np.save(tmp_path / "alone.npy", np.zeros((3, 2)))
    (tmp_path / "empty").mkdir()
    for name, pooling, message in (
        (bert, "mean", "unknown pooling 'mean'"),
        (bert, None, "choose a pooling"),
        (tiny[1], "cls", "no trained pooler; use pooling 'cls_before_pooler'"),
        (tmp_path / "nowhere", "avg", "there is no folder"),
        (tmp_path / "empty", "avg", "does not load"),
        (tmp_path / "absent.npz", None, "absent.npz is missing"),
        (tmp_path / "digest.npz", None, "an array of strings"),
        (tmp_path / "short.npz", None, "1 sentences, but vectors of shape"),
        (tmp_path / "nan.npz", None, "sentence 2 is not finite: 'b'"),
        (tmp_path / "alone.npy", None, "needs alone.txt beside it"),
        (tmp_path / "short.npz", "avg", "pooled already"),
    ):
        with pytest.raises(UserError, match=message):
            load_encoder(name, pooling, "cpu")


def frame(rows):
    return pd.DataFrame(rows, columns=["task", "split", "metric", "value"])


STS = [(f"STS{year}", "test", "spearman_all", value) for year, value in enumerate((0.1, 0.2, 0.3, 0.4, 0.5), 12)]
COMPLETE = frame(
    [
        *STS,
        ("STS12", "test", "spearman_mean", 0.9),
        ("STSBenchmark", "test", "spearman", 0.60004),
        ("STSBenchmark", "test", "pearson", 0.9),
        ("STSBenchmark", "dev", "spearman", 0.7),
        ("STSBenchmark", "train", "spearman", 0.8),
        ("SICKRelatedness", "test", "spearman", 0.70006),
        *((task, "test", "accuracy", 80.0) for task in ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC")),
        ("MRPC", "test", "accuracy", 70.03),
        ("MRPC", "test", "f1", 90.0),
        ("MR", "dev", "accuracy", 75.5),
    ]
)


def test_rows_are_those_of_simcse_s_program():
    assert list(tables.sts_row(COMPLETE)) == [
        *("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness", "Avg."),
    ]
    assert list(tables.sts_row(COMPLETE).values()) == [10, 20, 30, 40, 50, 60.0, 70.01, 40.0]
    assert list(tables.transfer_row(COMPLETE)) == ["MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC", "Avg."]
    assert list(tables.transfer_row(COMPLETE).values()) == [80, 80, 80, 80, 80, 80, 70.03, 78.58]
    assert tables.sts_row(COMPLETE, "dev") == {"STSBenchmark": 70.0, "SICKRelatedness": None}


def test_the_average_is_of_the_rounded_values():
    # exact mean 0.0043 -> 0.00; each value rounds up to 0.01
    values = frame([(task, "test", "accuracy", 0.0051) for task in ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC")])
    whole = pd.concat([values, frame([("MRPC", "test", "accuracy", 0.0)])])
    assert whole["value"].mean() == pytest.approx(0.00437, abs=1e-5)
    assert tables.transfer_row(whole)["Avg."] == 0.01


def test_a_row_with_a_hole_has_no_average_and_shows_a_dash():
    part = COMPLETE[COMPLETE["task"] != "STS14"]
    assert tables.sts_row(part)["STS14"] is None
    assert tables.sts_row(part)["Avg."] is None
    dev = tables.transfer_row(part, "dev")
    assert [dev["MR"], dev["CR"], dev["Avg."]] == [75.5, None, None]
    assert set(tables.tables(part[part["task"] == "MR"])) == {"dev", "test"}
    assert tables.tables(part[part["split"] == "train"]) == {}
    with pytest.raises(ValueError, match="duplicate"):
        tables.sts_row(pd.concat([part, part]))


def test_text_names_the_split_of_each_table():
    lines = tables.text(COMPLETE).split("\n")
    titles = [line for line in lines if "split" in line]
    assert [title.split(":")[0] for title in titles] == [
        *("STS, dev split", "Transfer, dev split", "STS, test split", "Transfer, test split"),
    ]
    (cells,) = (line.strip("| ").split() for line in lines if "40.00" in line)
    assert [float(cell) for cell in cells if cell != "|"] == [10, 20, 30, 40, 50, 60, 70.01, 40]
    assert "| 75.50 | - " in tables.text(COMPLETE)


def test_what_is_written_can_be_read_back(tmp_path):
    broken = pd.concat([COMPLETE, frame([("TREC", "dev", "accuracy", math.nan)])], ignore_index=True)
    files = tables.write(broken, tmp_path / "deeper" / "bert-v1.5", {"protocol": "test"})
    assert [file.name for file in files] == ["bert-v1.5.json", "bert-v1.5.csv"]
    content = json.loads(files[0].read_text("utf-8"), parse_constant=pytest.fail)
    assert content["meta"] == {"protocol": "test"}
    assert content["tables"]["test"]["sts"]["Avg."] == 40.0
    assert content["tables"]["dev"]["transfer"]["TREC"] is None
    assert content["rows"][6] == ["STSBenchmark", "test", "spearman", 0.60004]
    pd.testing.assert_frame_equal(pd.read_csv(files[1]), broken)


@pytest.mark.parametrize(("asked", "between"), [(None, 64), (24, 24)])
def test_a_small_encoder_is_as_wide_as_asked_and_as_its_price_says(tiny, tmp_path, asked, between):
    from transformers import AutoModel

    folder, _, sentences = tiny
    spec = dict(kind="scratch", layers=3, hidden_size=16, heads=2, dropout=0.1, seed=0, mlm_epochs=0, vocabulary=600)
    spec["intermediate_size"] = asked
    tokenizer = backbone.make_tokenizer(sentences, spec["vocabulary"])
    backbone.make_scratch(spec, tokenizer, TokenisedCorpus(folder), tmp_path / "model")
    made = AutoModel.from_pretrained(tmp_path / "model")
    assert made.config.intermediate_size == between
    matrices = sum(part.numel() for part in made.encoder.parameters() if part.ndim == 2)
    assert matrices == cost.encoder_size(SimpleNamespace(backbone=SimpleNamespace(spec=spec)))[0]
