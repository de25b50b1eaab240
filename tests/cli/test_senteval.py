"""clrepro senteval: data that are fetched, functions and hub names as models, and MTEB's result files."""

import json
import sys
import tarfile

import numpy as np
import pytest
from scipy import stats

from clrepro.cli.senteval import mirrored, senteval
from clrepro.errors import UserError
from clrepro.evaluation.senteval import hub, mteb_files
from clrepro.evaluation.senteval.encoders import load_encoder
from clrepro.sources.source import source
from tests.sources.server import serving

OWN = """
import torch
from neighbour import HASHES

def encode(sentences):
    assert len(sentences) <= 128
    vectors = torch.zeros(len(sentences), HASHES)
    for row, sentence in enumerate(sentences):
        for word in sentence.lower().split():
            vectors[row, sum(ord(c) * 31**i for i, c in enumerate(word)) % HASHES] += 1
    return vectors

number = 3
"""
# of a file that MTEB's own program wrote: results/<model>/<revision>/STS12.json of its repository of results
MTEB_KEYS = {
    *("dataset_revision", "task_name", "mteb_version", "scores", "evaluation_time", "kg_co2_emissions", "date"),
}
MTEB_SCORES = {
    *("pearson", "spearman", "cosine_pearson", "cosine_spearman", "main_score", "hf_subset", "languages"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a function of one's own, and no cache."""
    (tmp_path / "own_model.py").write_text(OWN)
    (tmp_path / "neighbour.py").write_text("HASHES = 64\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path
    for name in ("own_model", "neighbour"):
        sys.modules.pop(name, None)


def sick(root):
    """(sentence, sentence, score) of all three splits."""
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        for line in (root / "SICK" / name).read_text("utf-8").splitlines()[1:]:
            _, one, other, score, _ = line.split("\t")
            yield one, other, float(score)


def test_a_function_on_data_of_a_mirror_and_mtebs_files(here, demo_tasks, capsys):
    (here / "mirror/senteval").mkdir(parents=True)
    with tarfile.open(here / "mirror/senteval/senteval.tar", "w") as tar:
        tar.add(demo_tasks, ".")
    (here / "mine.yaml").write_text(f"mirror: {here / 'mirror'}\n")
    tasks = ["STS12", "SICKRelatedness", "STSBenchmark", "MR"]
    senteval("own_model:encode", protocol="fast", tasks=",".join(tasks), device="cpu", configfile=[here / "mine.yaml"])
    said = capsys.readouterr()
    assert "60 MB from " in said.err
    import own_model

    stem = here / "results/senteval/own_model-encode-fast"
    kept = json.loads((here / f"{stem}.json").read_text())
    assert kept["meta"]["data"] == "senteval-simcse@main"
    assert len(kept["meta"]["data_sha256"]) == 64
    assert kept["meta"]["model"] == "own_model:encode (function)"
    folder = here / f"{stem}.mteb/results/own_model-encode/{mteb_files.NO_REVISION}"
    assert f"MTEB's result files: {folder.relative_to(here)}" in said.out
    assert sorted(file.name for file in folder.iterdir()) == [
        *("SICK-R.json", "STS12.json", "STSBenchmark.json", "model_meta.json"),
    ]
    about = json.loads((folder / "model_meta.json").read_text())
    assert (about["name"], about["revision"]) == ("own_model-encode", mteb_files.NO_REVISION)
    # its SICK-R is train, trial and test in one
    cosines, gold = [], []
    for one, other, score in sick(demo_tasks):
        a, b = own_model.encode([" ".join(one.split()), " ".join(other.split())]).double().numpy()
        cosines.append(a @ b / np.sqrt((a @ a) * (b @ b)))
        gold.append(score)
    content = json.loads((folder / "SICK-R.json").read_text())
    (scores,) = content["scores"]["test"]
    assert (set(content), set(scores)) == (MTEB_KEYS, MTEB_SCORES)
    assert (content["task_name"], content["dataset_revision"]) == ("SICK-R", "senteval-simcse@main")
    assert scores["main_score"] == scores["cosine_spearman"] == scores["spearman"]
    assert scores["main_score"] == pytest.approx(stats.spearmanr(cosines, gold)[0], abs=6e-7)
    assert scores["cosine_pearson"] == scores["pearson"] == pytest.approx(stats.pearsonr(cosines, gold)[0], abs=6e-7)
    rows = {(task, split, metric): value for task, split, metric, value in kept["rows"]}
    for task, metric in (("STS12", "spearman_all"), ("STSBenchmark", "spearman")):
        (scores,) = json.loads((folder / f"{task}.json").read_text())["scores"]["test"]
        assert scores["main_score"] == pytest.approx(rows[task, "test", metric], abs=6e-7)
    # another evaluation under the same name, of no pairs, leaves none behind
    senteval("own_model.py:encode", out=stem, protocol="fast", tasks="MR", device="cpu")
    assert json.loads((here / f"{stem}.json").read_text())["meta"]["model"] == "own_model.py:encode (function)"
    assert not (here / f"{stem}.cosines.npz").exists()


@pytest.mark.parametrize(
    ("name", "pooling", "message"),
    [
        ("own_model:encod", None, "unknown name 'encod' in own_model. Did you mean encode"),
        ("own_model.py:number", None, "own_model.py:number is 3, which cannot be called"),
        ("own_modle:encode", None, "cannot import 'own_modle'"),
        ("other.py:encode", None, "file 'other.py' does not exist"),
        ("own_model:encode", "cls", "a function returns vectors of sentences; leave out pooling 'cls'"),
    ],
)
def test_functions_that_are_not_there_are_named(here, name, pooling, message):
    with pytest.raises(UserError, match=message):
        load_encoder(name, pooling)


def test_a_model_of_the_hub_is_announced_before_it_is_downloaded(monkeypatch, capsys):
    from huggingface_hub import constants

    sizes = {"model.safetensors": 90_000_000, "pytorch_model.bin": 91_000_000, "onnx/model.json": 7_000_000,
             "tokenizer.json": 1_000_000, "evil.py": 5_000_000}  # fmt: skip
    about = {"id": "some/model", "sha": "c0ffee", "tags": ["bert", "license:apache-2.0"],
             "siblings": [{"rfilename": name, "size": size} for name, size in sizes.items()]}  # fmt: skip
    asked = []

    def answer(handler):
        asked.append(handler.path)
        body = json.dumps(about).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    with serving(answer) as address:
        monkeypatch.setattr(constants, "ENDPOINT", address)
        hub.announce("some/model")  # the tests are offline: nothing is asked
        assert asked == []
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        hub.announce("some/model")
    assert asked[-1] == "/api/models/some/model?blobs=true"
    assert capsys.readouterr().err == (
        "some/model: about 91 MB from the model hub, commit c0ffee\n  licence: apache-2.0\n"
    )


def test_the_commit_of_a_model_in_the_hubs_cache(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert hub.commit("some/model") is None
    folder = tmp_path / "models--some--model"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs/main").write_text("c0ffee")
    (folder / "snapshots/c0ffee").mkdir(parents=True)
    (folder / "snapshots/c0ffee/config.json").write_text("{}")
    assert hub.commit("some/model") == "c0ffee"


def test_a_model_that_the_mirror_has_is_taken_from_there(tmp_path, capsys):
    bert = source("bert-base-uncased")
    assert mirrored(bert.url, str(tmp_path)) == bert.url
    (tmp_path / bert.mirror).mkdir(parents=True)
    assert mirrored(bert.url, str(tmp_path)) == mirrored(bert.name, str(tmp_path)) == str(tmp_path / bert.mirror)
    assert bert.licence in capsys.readouterr().err
    assert mirrored("some/other", str(tmp_path)) == "some/other"
    assert mirrored(bert.url, None) == bert.url
