"""Embedding and probes: exact small cases, and independence of batch composition."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro.errors import UserError
from clrepro.evaluation import senteval
from clrepro.evaluation.senteval.embed import embed, tokenise_for_embedding
from clrepro.evaluation.senteval.files import distinct_sentences, load_regression
from clrepro.evaluation.senteval.pairs import SPLITS, STS_SUBSETS, Pairs
from clrepro.evaluation.senteval.similarity import cosines, spearman
from clrepro.evaluation.senteval.sts import evaluate_sts
from clrepro.modalities.sentence.encoder import SentenceEncoder, pool
from tests.oracles import senteval as oracle


def hashed(sentences):
    """A bag of words in 64 dimensions, the same on every machine."""
    vectors = np.zeros((len(sentences), 64), np.float32)
    for row, sentence in enumerate(sentences):
        for word in sentence.lower().split():
            vectors[row, sum(ord(c) * 31**i for i, c in enumerate(word)) % 64] += 1
    return vectors


def test_spearman_shares_ranks_among_ties_and_gives_0_for_constants():
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: Pearson of ranks by hand
    assert spearman(np.array([1, 2, 2, 3]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert spearman(np.ones(4), np.arange(4)) == 0


def test_cosines_in_float64_and_0_for_a_zero_vector():
    vectors = np.array([[3, 4], [4, 3], [0, 0]], np.float32)
    pairs = Pairs(["a", "a"], ["b", "c"], [1.0, 2.0])
    found = cosines(vectors, {"a": 0, "b": 1, "c": 2}, pairs)
    assert found.dtype == np.float64
    assert found.tolist() == [0.96, 0.0]


def test_vectors_at_the_angles_that_gold_asks_for_reach_correlation_1(tmp_path):
    folder = tmp_path / "STS" / "STS12-en-test"
    folder.mkdir(parents=True)
    gold = {name: np.random.default_rng(number).permutation(12) / 3 for number, name in enumerate(STS_SUBSETS["STS12"])}
    counts = {f"STS/STS12-en-test/STS.input.{name}.txt": 12 for name in gold}
    (tmp_path / "counts.json").write_text(json.dumps(counts))
    sentences, angles = [], []
    for name, scores in gold.items():
        pairs = [(f"{name} a{i}", f"{name} b{i}") for i in range(12)]
        (folder / f"STS.input.{name}.txt").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
        (folder / f"STS.gs.{name}.txt").write_text("".join(f"{score}\n" for score in scores))
        sentences += [sentence for pair in pairs for sentence in pair]
        angles += [angle for score in scores for angle in (0.0, (4 - score) / 4)]
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    right = {metric: value for _, _, metric, value in evaluate_sts(vectors, sentences, tmp_path, ("STS12",))}
    ranked = [value for metric, value in right.items() if metric.startswith("spearman")]
    assert ranked == pytest.approx([1.0] * 8)
    # one subset turned over: its own correlation is -1, the mean 3/5, the concatenation in between
    (folder / "STS.gs.MSRvid.txt").write_text("".join(f"{4 - score}\n" for score in gold["MSRvid"]))
    wrong = {metric: value for _, _, metric, value in evaluate_sts(vectors, sentences, tmp_path, ("STS12",))}
    assert wrong["spearman:MSRvid"] == pytest.approx(-1)
    assert wrong["spearman_mean"] == wrong["spearman_wmean"] == pytest.approx(0.6)
    assert wrong["spearman_all"] == pytest.approx(0.6, abs=0.02)


def test_the_contract_of_evaluate(demo_tasks):
    frame = senteval.evaluate(hashed, demo_tasks, ["STS12", "STSBenchmark", "MR", "MRPC", "SST2"], "fast")
    assert list(frame.columns) == ["task", "split", "metric", "value"]
    key = frame.set_index(["task", "split", "metric"])["value"]
    subsets = [key["STS12", "test", f"spearman:{name}"] for name in STS_SUBSETS["STS12"]]
    assert key["STS12", "test", "spearman_mean"] == pytest.approx(np.mean(subsets))
    assert 0.3 < key["STSBenchmark", "test", "spearman"] <= 1
    assert 60 < key["MR", "test", "accuracy"] <= 100  # a bag of words knows more than a coin
    assert 60 < key["SST2", "dev", "accuracy"] <= 100
    assert {("MRPC", "test", "f1"), ("MRPC", "dev", "accuracy")} <= set(key.index)
    # dev is fast, development scores alone
    dev = senteval.evaluate(hashed, demo_tasks, ["STS12", "STSBenchmark", "MR", "MRPC", "SST2"], "dev")
    expected = frame[frame["split"] == "dev"].reset_index(drop=True)
    pd.testing.assert_frame_equal(dev, expected)
    assert len(dev) == 2 + 3


def test_the_trained_regressor_by_its_tasks_name(demo_tasks):
    frame = senteval.evaluate(hashed, demo_tasks, ["SICKRelatedness-finetune"])
    sentences = distinct_sentences(demo_tasks, ("SICKRelatedness-finetune",))
    rows, vectors = {sentence: row for row, sentence in enumerate(sentences)}, hashed(sentences)
    parts = []
    for pairs in load_regression(demo_tasks, "SICKRelatedness-finetune").values():
        order = oracle.pair_order(pairs.first, pairs.second, pairs.gold)
        sides = [vectors[[rows[side[place]] for place in order]] for side in (pairs.first, pairs.second)]
        parts += [oracle.pair_features(*sides), np.asarray(pairs.gold)[order]]
    expected = oracle.relatedness(*parts)
    found = frame.set_index(["split", "metric"])["value"]
    assert found["dev", "spearman"] == pytest.approx(expected["dev"], abs=0.02)
    assert found["test", "spearman"] == pytest.approx(expected["spearman"], abs=0.02)
    assert found["test", "pearson"] == pytest.approx(expected["pearson"], abs=0.02)


def test_wrong_task_protocol_or_folder_is_refused(demo_tasks, tmp_path):
    with pytest.raises(UserError, match="unknown task 'STS17'. Did you mean STS1"):
        senteval.evaluate(hashed, demo_tasks, ["STS17"])
    with pytest.raises(UserError, match="unknown protocol 'fats'. Did you mean fast"):
        senteval.evaluate(hashed, demo_tasks, ["STS12"], "fats")
    with pytest.raises(FileNotFoundError, match="is missing"):
        senteval.evaluate(hashed, tmp_path, ["STS12"])


def test_poolings_on_a_case_done_by_hand():
    first, last = torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[[5.0], [7.0], [9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    hidden = (torch.zeros(1, 3, 1), first, last)
    found = {name: pool(hidden, mask, name).item() for name in ("cls", "avg", "avg_first_last", "avg_embeddings_last")}
    assert found == {"cls": 5.0, "avg": 6.0, "avg_first_last": 4.0, "avg_embeddings_last": 3.0}


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


def test_the_command_prints_the_two_tables_of_stored_embeddings(demo_tasks, tmp_path):
    sentences = distinct_sentences(demo_tasks, splits=SPLITS)
    np.savez(tmp_path / "stored.npz", sentences=np.array(sentences), vectors=hashed(sentences))
    command = [sys.executable, "-m", "clrepro.cli", "senteval", "stored.npz", "--root", str(demo_tasks)]
    done = subprocess.run([*command, "--protocol", "fast"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "STS, test split: Spearman's correlation x 100" in done.stdout
    assert "Transfer, dev split: accuracy (%)" in done.stdout
    stem = tmp_path / "results/senteval/stored.npz-fast"
    table = pd.read_csv(f"{stem}.csv")
    frame = senteval.evaluate(hashed, demo_tasks, protocol="fast")
    pd.testing.assert_frame_equal(table, frame)
    with np.load(f"{stem}.cosines.npz") as kept:
        assert len(kept["STSBenchmark train cosine"]) == len(kept["STSBenchmark train gold"]) > 0
        assert "STS12 test MSRpar cosine" in kept
    wrong = subprocess.run([*command, "--tasks", "STS17"], cwd=tmp_path, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "unknown task 'STS17'. Did you mean STS1" in wrong.stderr
    for arguments in (["--sentences", "no/folder/s.txt"], ["--device", "bogus"], ["--root", "nowhere"]):
        wrong = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert wrong.returncode == 1
        assert wrong.stderr.startswith("error: ")
