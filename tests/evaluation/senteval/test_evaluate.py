"""The evaluation as a function and as a command."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from clrepro.errors import UserError
from clrepro.evaluation import senteval
from clrepro.evaluation.senteval.files import distinct_sentences, load_regression
from clrepro.evaluation.senteval.pairs import SPLITS, STS_SUBSETS
from tests.oracles import senteval as oracle


def hashed(sentences):
    """A bag of words in 64 dimensions, the same on every machine."""
    vectors = np.zeros((len(sentences), 64), np.float32)
    for row, sentence in enumerate(sentences):
        for word in sentence.lower().split():
            vectors[row, sum(ord(c) * 31**i for i, c in enumerate(word)) % 64] += 1
    return vectors


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


def test_the_command_prints_the_two_tables_of_stored_embeddings(demo_tasks, tmp_path):
    sentences = distinct_sentences(demo_tasks, splits=SPLITS)
    np.savez(tmp_path / "stored.npz", sentences=np.array(sentences), vectors=hashed(sentences))
    command = [sys.executable, "-m", "clrepro.cli", "senteval", "stored.npz", "--root", str(demo_tasks)]
    tasks = ["STS12", "STSBenchmark", "MR", "TREC"]
    done = subprocess.run(
        [*command, "--protocol", "fast", "--tasks", ",".join(tasks)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "STS, test split: Spearman's correlation x 100" in done.stdout
    assert "Transfer, dev split: accuracy (%)" in done.stdout
    stem = tmp_path / "results/senteval/stored.npz-fast"
    table = pd.read_csv(f"{stem}.csv")
    frame = senteval.evaluate(hashed, demo_tasks, tasks, protocol="fast")
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
