"""The drop-in for SentEval against SciPy, a one-by-one reference and the documented use of SentEval."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import stats

from clrepro import senteval
from clrepro.errors import UserError
from clrepro.evaluation.senteval import evaluate
from clrepro.sources import evaluation_sets
from tests.oracles import senteval as oracle
from tests.senteval import tasks

FAST = {"nhid": 0, "optim": "rmsprop", "batch_size": 128, "tenacity": 3, "epoch_size": 2}
MEASURES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}


def batcher(params, batch):
    return np.stack([tasks.vector(words) for words in batch])


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """(the folder that holds downstream/, what its files say)."""
    folder = tmp_path_factory.mktemp("data")
    return folder, tasks.write(folder)


def cosine(one, other):
    one, other = one.astype(float), other.astype(float)
    return one @ other / np.sqrt((one @ one) * (other @ other))


@pytest.mark.parametrize("similarity", [None, lambda one, other: -float(np.abs(one - other).sum())])
def test_sts_by_scipy(told, similarity):
    folder, rows_of = told
    own = {"similarity": similarity} if similarity else {}
    results = senteval.engine.SE({"task_path": str(folder), **own}, batcher).eval(
        ["STS12", "STS13", "STSBenchmark", "SICKRelatedness"]
    )
    assert list(results) == ["STS12", "STS13", "STSBenchmark", "SICKRelatedness"]
    for task, found in results.items():
        assert set(found) == {*rows_of[task], "all"}
        pairs, values = [], {metric: [] for metric in MEASURES}
        for subset, rows in rows_of[task].items():
            measured = [
                ((similarity or cosine)(*(tasks.vector(text.split()) for text in row[:2])), row[2]) for row in rows
            ]
            pairs += measured
            assert found[subset]["nsamples"] == len(rows)
            for metric, correlate in MEASURES.items():
                expected = correlate(*zip(*measured, strict=True))
                np.testing.assert_allclose(found[subset][metric], tuple(expected), rtol=1e-5)
                assert found[subset][metric].correlation == found[subset][metric].statistic == found[subset][metric][0]
                assert found[subset][metric].pvalue == found[subset][metric][1]
                values[metric].append(expected[0])
        sizes = [len(rows) for rows in rows_of[task].values()]
        for metric, correlate in MEASURES.items():
            assert found["all"][metric] == pytest.approx(
                {
                    "all": correlate(*zip(*pairs, strict=True))[0],
                    "mean": np.mean(values[metric]),
                    "wmean": np.dot(values[metric], sizes) / sum(sizes),
                },
                abs=1e-6,
            )


def features(rows):
    """What classifiers see of rows of sentences or pairs, and labels, in SentEval's order."""
    *sides, labels = zip(*rows, strict=True)
    order = oracle.sentence_order if len(sides) == 1 else oracle.pair_order
    places = order(*sides, list(labels))
    made = [np.stack([tasks.vector(side[place].split()) for place in places]) for side in sides]
    return made[0] if len(made) == 1 else oracle.pair_features(*made), np.array(labels)[places]


@pytest.mark.parametrize(
    ("optim", "folds", "seed", "batch", "tenacity", "passes"),
    [("rmsprop", 2, 1111, 128, 3, 2), ("adam", 2, 1111, 64, 5, 4), ("rmsprop", 3, 7, 16, 1, 3)],
)
def test_transfer_by_the_reference(told, monkeypatch, optim, folds, seed, batch, tenacity, passes):
    folder, rows = told
    classifier = {"nhid": 0, "optim": optim, "batch_size": batch, "tenacity": tenacity, "epoch_size": passes}
    params = {"task_path": folder, "usepytorch": True, "kfold": folds, "seed": seed, "classifier": classifier}
    found = senteval.engine.SE(params, batcher).eval(["MR", "SST2", "MRPC"])
    settings = dict(folds=folds, optimiser=optim, batch=batch, tenacity=tenacity, epoch_size=passes)
    monkeypatch.setattr(oracle, "SEED", seed)
    sst = oracle.with_dev(
        *(a for split in ("train", "dev", "test") for a in features(rows["SST2"][split])), 2, settings
    )
    assert found["SST2"] == {"devacc": sst["dev"], "acc": sst["test"], "ndev": 18, "ntest": 22}
    mrpc = oracle.with_test(*(a for split in ("train", "test") for a in features(rows["MRPC"][split])), 2, settings)
    expected = {"devacc": mrpc["dev"], "acc": mrpc["test"], "f1": mrpc["f1"], "ndev": 40, "ntest": 20}
    assert found["MRPC"] == expected
    # whatever the seed, SentEval cuts these tasks by 1111
    kfold = oracle.StratifiedKFold
    monkeypatch.setattr(
        oracle,
        "StratifiedKFold",
        lambda n_splits, shuffle, random_state: kfold(n_splits, shuffle=shuffle, random_state=1111),
    )
    mr = oracle.nested(*features(rows["MR"]["all"]), 2, settings)
    assert found["MR"] == {"devacc": mr["dev"], "acc": mr["test"], "ndev": 150, "ntest": 150}


def test_the_regressor_by_the_reference(told, monkeypatch):
    folder, rows = told
    found = senteval.engine.SE({"task_path": folder, "seed": 7}, batcher).eval("SICKRelatedness-finetune")
    monkeypatch.setattr(oracle, "SEED", 7)
    parts = {split: features(rows["SICKRelatedness"][split]) for split in ("train", "dev", "test")}
    expected = oracle.relatedness(*(array for part in parts.values() for array in part))
    assert found["devspearman"] == pytest.approx(expected["dev"], abs=1e-3)
    np.testing.assert_allclose(found["yhat"], expected["predictions"], atol=1e-3)
    for key in ("pearson", "spearman", "mse"):
        assert found[key] == pytest.approx(expected[key], abs=1e-3)
    assert (found["ndev"], found["ntest"], found["yhat"].shape) == (8, 10, (10,))


def test_what_prepare_and_batcher_are_given(told):
    folder, rows = told
    asked, seen = [], []

    def prepare(params, samples):
        seen.append((params.current_task, samples))
        params.offset = 2.0 + len(params.own)

    def own(params, batch):
        assert params.unheard_of is None
        asked.append(batch)
        return torch.from_numpy(batcher(params, batch)).add(params.offset - 5).to(torch.bfloat16).requires_grad_()

    params = {"task_path": folder, "batch_size": 16, "own": "abc", "classifier": FAST}
    kept = dict(params)
    evaluation = senteval.engine.SE(params, own, prepare)
    results = evaluation.eval(["MR", "STS13"])
    assert params == kept
    assert evaluation.results == results
    assert [task for task, _ in seen] == ["MR", "STS13"]
    texts = [text for text, _ in rows["MR"]["all"]]
    assert seen[0][1] == [text.split() for text in texts]
    assert sorted(seen[1][1]) == sorted(
        text.split() for part in rows["STS13"].values() for row in part for text in row[:2]
    )
    assert max(map(len, asked)) == 16
    mine = asked[: -(-len(set(texts)) // 16)]
    assert sorted(words for batch in mine for words in batch) == sorted(text.split() for text in set(texts))
    assert [] in mine[-1]  # the longest first, none left out
    expected = senteval.engine.SE(
        {**params, "task_path": folder}, lambda _, batch: torch.tensor(batcher(_, batch)).bfloat16()
    )
    assert expected.eval("MR") == results["MR"]


def simcse(root, classifier, folds, names):
    """The loop and the table of SimCSE's evaluation.py, which asks for one task a time."""
    results = {}
    for task in names:
        params = {"task_path": root, "usepytorch": True, "kfold": folds, "classifier": classifier}
        results[task] = senteval.engine.SE(params, lambda _, batch: batcher(_, batch), lambda *_: None).eval(task)
    table = {}
    for task, result in results.items():
        if task in ("STSBenchmark", "SICKRelatedness"):
            table[task] = f"{100 * result['test']['spearman'].correlation:.2f}"
            table[f"{task} dev"] = f"{100 * result['dev']['spearman'][0]:.2f}"
        elif task.startswith("STS"):
            table[task] = f"{100 * result['all']['spearman']['all']:.2f}"
        else:
            table[task], table[f"{task} dev"] = f"{result['acc']:.2f}", f"{result['devacc']:.2f}"
    return table


def test_a_client_prints_what_clrepro_senteval_prints(demo_tasks):
    names = ["STS12", "STS14", "STSBenchmark", "SICKRelatedness", "CR", "TREC", "MRPC", "SST2"]
    found = simcse(demo_tasks, FAST, 5, names)
    frame = evaluate(lambda texts: np.stack([tasks.vector(text.split()) for text in texts]), demo_tasks, names, "fast")
    value = frame.set_index(["task", "split", "metric"])["value"]
    for task in names:
        if task.startswith(("STS", "SICK")):
            metric, scale = "spearman_all" if task[3:5].isdigit() else "spearman", 100
        else:
            metric, scale = "accuracy", 1
        assert found[task] == f"{scale * value[task, 'test', metric]:.2f}"
        if f"{task} dev" in found:
            assert found[f"{task} dev"] == f"{scale * value[task, 'dev', metric]:.2f}"
    assert len(found) == len(names) + 6


def test_without_a_task_path_the_data_are_fetched(told, monkeypatch):
    there = evaluation_sets.Fetched(told[0] / "downstream", "senteval@1", "0" * 64)
    monkeypatch.setattr(evaluation_sets, "senteval", lambda: there)
    assert senteval.engine.SE({}, batcher).eval("STS13")["FNWN"]["nsamples"] == 5


@pytest.mark.parametrize(
    ("params", "task", "message"),
    [
        ({"usepytorch": False}, "MR", "usepytorch.*scikit-learn's classifier is not computed"),
        ({"classifier": {"nhid": 50}}, "MR", r"\['nhid'\] is 50; only 0"),
        ({"classifier": {"max_epoch": 10}}, "MR", r"\['max_epoch'\] is 10; only 200"),
        ({"classifier": {"optim": "adam,lr=0.1"}}, "MR", "unknown optimiser 'adam,lr=0.1'.*Did you mean adam"),
        ({"classifier": {"tenacty": 3}}, "MR", "unknown key 'tenacty'.*Did you mean tenacity"),
        ({}, "BigramShift", "unknown task 'BigramShift'"),
        ({"task_path": "./SentEval/data"}, "MR", "there is no folder ./SentEval/data; leave it out"),
    ],
)
def test_what_is_not_computed_is_refused_by_name(told, params, task, message):
    with pytest.raises(UserError, match=message):
        senteval.engine.SE({"task_path": told[0], **params}, batcher).eval(task)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda _, batch: np.zeros((1, 4)), r"batcher returned \(1, 4\) for 19 sentences, expected \(19, D\)"),
        (lambda _, batch: None, "batcher returned"),
        (lambda _, batch: [["a"]] * len(batch), "batcher returned a list that is no array"),
        (lambda _, batch: np.full((len(batch), 3), np.nan), "the embedding of '.*' is not finite"),
    ],
)
def test_a_batcher_that_returns_something_else_is_named(told, broken, message):
    with pytest.raises(UserError, match=message):
        senteval.engine.SE({"task_path": told[0], "batch_size": 19}, broken).eval("MR")


def test_the_drop_in_imports_neither_workflow_nor_training():
    code = "from clrepro import senteval; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "clrepro.senteval.engine" in loaded
    heavy = {"torch", "transformers", "sentence_transformers", "snakemake", "dvc", "matplotlib", "pydantic", "rdkit"}
    assert {name.split(".")[0] for name in loaded} & heavy == set()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("clrepro.")}
    assert rooms == {"console", "errors", "evaluation", "own_code", "paths", "senteval", "sources", "threads"}
