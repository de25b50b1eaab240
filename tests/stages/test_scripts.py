"""The scripts of the rules, handed what the plan hands them, do what the configuration says: two that differ in all.

Jobs run as in the workflow, by their scripts and parameters; what they leave is compared with direct calls that have
the values of this file. Weights are compared in tests/modalities/*/test_every_setting.py.
"""

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clrepro import config as configuration
from clrepro import stages
from clrepro.catalogue import Catalogue
from clrepro.catalogue.jobs import Jobs
from clrepro.evaluation import fine_tune
from clrepro.evaluation.senteval.transfer import evaluate_transfer
from clrepro.modalities.graph import svm
from clrepro.modalities.image.label_shares import label_subset
from clrepro.paths import ROOT, read_json
from clrepro.sources.source import source

GIN = {"data": "demo-graphs", "architecture": "gin", "width": 4, "layers": 2}
CONV = {"data": "digits", "architecture": "conv3"}
ONE = {
    "sentence": dict(lines=300, length=12, protocol="fast", precision="fp32", pooling="avg", batch=16, rate=1e-3,
                     epochs=0.5),
    "image": dict(epochs=0.1, divisor=2, probes=2, hidden=8, precision="fp32", augmentation="digits"),
    "graph": dict(epochs=1, batch=20, folds=4, inner=2),
    "seed": 3,
}  # fmt: skip
OTHER = {
    "sentence": dict(lines=260, length=8, protocol="test", precision="bf16", pooling="cls", batch=24, rate=3e-4,
                     epochs=0.2),
    "image": dict(epochs=0.2, divisor=4, probes=3, hidden=16, precision="bf16", augmentation="linear"),
    "graph": dict(epochs=2, batch=40, folds=3, inner=3),
    "seed": 5,
}  # fmt: skip


def configured(how: dict[str, Any]) -> dict[str, Any]:
    text, images, graphs = how["sentence"], how["image"], how["graph"]
    encoder = dict(kind="scratch", layers=1, hidden_size=16, heads=2, vocabulary=300, mlm_epochs=0)
    return {
        "scale": "demo", "papers": ["nie2023", "huang2023", "oar2024"], "seeds": [how["seed"]], "device": "cpu",
        "tables": ["nie2023/table_1", "huang2023/table_4", "oar2024/table_4"],
        "sentence": {
            "corpus": "demo-corpus", "corpus_lines": text["lines"], "tasks": "demo-senteval",
            "protocol": text["protocol"], "backbones": {"BERT_base": encoder},
            "training": {
                "batch_size": text["batch"], "learning_rate": text["rate"], "epochs": text["epochs"],
                "precision": text["precision"], "max_length": text["length"], "pooling": text["pooling"],
            },
        },
        "image": {
            "backbones": {"CIFAR100_ResNet-50": CONV},
            "training": {
                "epochs": images["epochs"], "batch_divisor": images["divisor"], "probe_epochs": images["probes"],
                "hidden_divisor": images["hidden"], "precision": images["precision"],
                "augmentation": images["augmentation"],
            },
        },
        "graph": {
            "backbones": {"GIN_MUTAG": GIN},
            "training": {
                "epochs": graphs["epochs"], "batch_size": graphs["batch"], "folds": graphs["folds"],
                "inner_folds": graphs["inner"],
            },
        },
    }  # fmt: skip


class Workflow:
    """Runs the scripts of the jobs that one run needs, as Snakemake does."""

    def __init__(self, raw: dict[str, Any]):
        self.raw = raw
        self.catalogue = Catalogue(configuration.parse(raw))
        self.jobs = Jobs(self.catalogue)

    def script(self, name: str, output: Path, **given: Any) -> None:
        params = SimpleNamespace(**{key: value for key, value in given.items() if key != "features"})
        fake = SimpleNamespace(
            rule=name, log=[f"{name}.log"], config=self.raw, resources={}, output=[str(output)], params=params,
            input=SimpleNamespace(features=given.get("features")),
        )  # fmt: skip
        output.parent.mkdir(parents=True, exist_ok=True)
        runpy.run_path(str(ROOT / f"scripts/{name}.py"), init_globals={"snakemake": fake})

    def made(self, paper: str, table: str, row: str, job: str) -> tuple[Any, Any]:
        """(the run that fills a row, its stored features), evaluated."""
        run = next(one.runs[0] for one in self.catalogue.table(paper, table).cells if one.row == row and one.runs)
        name = next(name for name, bundle in self.jobs.bundles.items() if run in bundle.runs)
        build = run.backbone
        for one in build.sources + list(run.plan.inputs(self.catalogue.config)):
            stages.fetch(source(one.name), self.catalogue.config)
        self.script("prepare", build.manifest, build=build.to_prepare)
        folder = Path(f"features-{run.modality}")
        self.script("train", self.jobs.files.manifest("train", name), runs=self.jobs.run_given(name))
        self.script("embed", folder, runs=self.jobs.embedded_given(name))
        output = self.jobs.files.manifest(job, name)
        self.script("evaluate", output, runs=self.jobs.evaluation_given(name, job), features=str(folder))
        stored = run.plan.work_module().load(run, self.catalogue.config, folder / f"{run.name}.npz", False)
        return run, stored


@pytest.fixture(params=[ONE, OTHER], ids=["one configuration", "another"])
def how(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return request.param


def test_sentences(how):
    run, stored = Workflow(configured(how)).made("nie2023", "table_1", "L_mpt", "transfer")
    text, record = how["sentence"], read_json(run.record)
    assert record["steps"] == int(np.ceil(text["epochs"] * np.ceil(text["lines"] / text["batch"])))
    training = record["identity"]["training"]
    found = [training[name] for name in ("batch_size", "learning_rate", "precision", "max_length", "pooling")]
    assert found == [text[name] for name in ("batch", "rate", "precision", "length", "pooling")]
    assert (record["seed"], stored.vectors.shape[1]) == (how["seed"], 16)
    rows = read_json(run.folder / "transfer.json")["rows"]
    tasks = ("CR", "TREC")
    direct = evaluate_transfer(stored.vectors, stored.sentences, stored.root, text["protocol"], tasks)
    assert [row for row in rows if row[0] in tasks] == [[*row[:3], round(row[3], 6)] for row in direct]


def test_images(how):
    run, stored = Workflow(configured(how)).made("oar2024", "table_4", "InfoNCE", "features")
    images, record = how["image"], read_json(run.record)
    batch = 128 // images["divisor"]
    assert record["steps"] == int(np.ceil(images["epochs"] * np.ceil(1297 / batch)))
    assert record["identity"]["training"]["augmentation"] == images["augmentation"]
    assert record["identity"]["training"]["precision"] == images["precision"]
    widths = tuple(width // images["hidden"] for width in (512, 1024, 1024))
    settings = fine_tune.HeadSettings(hidden=widths, epochs=images["probes"])
    rows = label_subset(stored.train_labels, 0.1)
    parts = stored.train[rows], stored.train_labels[rows], stored.test, stored.test_labels
    expected = fine_tune.evaluate(*parts, settings)
    found = {row[2]: row[3] for row in read_json(run.folder / "finetune.json")["rows"] if row[0] == "finetune_10"}
    assert found == pytest.approx(expected)


def test_graphs(how):
    run, stored = Workflow(configured(how)).made("huang2023", "table_4", "MACL", "svm")
    graphs, record = how["graph"], read_json(run.record)
    assert record["steps"] == int(np.ceil(graphs["epochs"] * np.ceil(80 / graphs["batch"])))
    protocol = dict(folds=graphs["folds"], inner_folds=graphs["inner"], costs=[10.0**k for k in range(-3, 4)])
    shares = svm.accuracies(stored.vectors, stored.labels, {**protocol, "gamma": "scale"}, how["seed"])
    assert read_json(run.folder / "svm.json")["rows"][0][3] == pytest.approx(100 * shares.mean(), abs=1e-6)
    assert len(shares) == graphs["folds"]
