"""Image sets that the tests cannot have: stand-ins of the same layout, through the rules of the papers' own scale."""

import shutil
from collections import defaultdict
from math import ceil

import pandas as pd
import pytest
import yaml
from safetensors.torch import load_file
from torchvision import models

from clrepro.modalities.image.files import imagenet100
from clrepro.paths import read_json
from tests.standins import write_imagenet
from tests.workflow.checkout import Checkout

STAND_IN = {"data": "imagenet-1k", "classes": "imagenet100", "architecture": "resnet18", "stem": "imagenet", "side": 32}
TINY = {
    "papers": ["huang2023"],
    "tables": ["huang2023/table_1", "huang2023/table_B1", "huang2023/table_B2"],
    "figures": [],
    "seeds": [1],
    "mirror": "mirror",
    "image": {
        "backbones": {"CIFAR_ResNet-18": None, "ImageNet_ResNet-50": STAND_IN, "ImageNet100_ResNet-50": STAND_IN},
        "training": {
            "epochs": 0.1, "batch_divisor": 16, "memory_divisor": 256, "augmentation": None, "probe_epochs": 1
        },
    },
    "jobs": {"runs": 24},
}  # fmt: skip


@pytest.mark.slow
def test_simclr_moco_and_nnclr_on_imagenet_fill_their_tables_by_the_papers_rules(tmp_path):
    folder = Checkout(tmp_path)
    write_imagenet(tmp_path / "mirror/imagenet", [*imagenet100(), "n99999999"])  # one class is not of the list
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    targets = [name.replace("/", "_") for name in TINY["tables"]]
    folder.snakemake(*targets, config="tiny.yaml")

    (prepared,) = (tmp_path / "data/prepared/demo").glob("imagenet-1k-*/record.json")  # once, for both backbones
    splits = read_json(prepared)["splits"]
    assert {split: part["examples"] for split, part in splits.items()} == {"train": 200, "test": 100}
    assert splits["train"]["classes"] == imagenet100()
    cells = {"table_1": 2 * 3, "table_B1": 2 * 4 * 2, "table_B2": 6 * 2}
    for name, count in cells.items():
        table = pd.read_csv(tmp_path / f"results/demo/tables/huang2023/{name}.csv")
        assert len(table) == count
        assert table["ours"].between(0, 100).all()
        assert set(table["verdict"]) == {"not comparable"}

    trained = defaultdict(list)
    for record in sorted((tmp_path / "results/demo/runs/image").rglob("record.json")):
        recipe = read_json(record)["identity"]["training"]
        trained[recipe["framework"]].append((recipe, read_json(record), record.parent))
    # table 1 trains 200, 400 and 800 epochs, of which 200 are the 0.1 of here; 10 of them warm up
    simclr = {(recipe["epochs"], recipe["optimiser"]) for recipe, _, _ in trained["simclr"]}
    assert simclr == {(0.1, "lars"), (0.2, "lars"), (0.4, "lars")}
    assert [recipe["warmup_epochs"] for recipe, _, _ in trained["simclr"]] == pytest.approx([0.1 * 10 / 200] * 6)
    queues = sorted(recipe["queue"] for recipe, _, _ in trained["moco"])
    assert queues == [1, 1, 2, 2, 16, 16, 256, 256]
    assert {recipe["support"] for recipe, _, _ in trained["nnclr"]} == {256}
    assert {name: len(runs) for name, runs in trained.items()} == {"simclr": 6, "moco": 8, "nnclr": 6}
    for runs in trained.values():
        steps = [ceil(recipe["epochs"] * ceil(200 / recipe["batch_size"])) for recipe, _, _ in runs]
        assert [record["steps"] for _, record, _ in runs] == steps
        assert len({record["model"]["sha256"] for _, record, _ in runs}) == len(runs)
        torchvision = models.resnet18()
        torchvision.load_state_dict({**torchvision.state_dict(), **load_file(runs[0][2] / "model/model.safetensors")})
        for recipe, _, place in runs:
            assert {row[2] for row in read_json(place / "linear.json")["rows"]} == {"top1", "top5"}
            assert read_json(place / "linear.json")["protocol"]["linear"]["augmentation"] == "linear", recipe
    for name in ("state", "results"):  # nearly a gigabyte of weights
        shutil.rmtree(tmp_path / name)
