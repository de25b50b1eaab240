"""Detection through the workflow's own rules, on a handful of generated photographs."""

import io
import tarfile

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from clrepro import config as configuration
from clrepro.paths import read_json
from tests.workflow.checkout import Checkout

SOURCE = {"what": "for the test", "url": None, "revision": "1", "sha256": None, "megabytes": 1, "licence": "none"}
BOXES = {name: {"split": split, "images": count} for name, split, count in
         (("first", "trainval", 3), ("second", "trainval", 2), ("last", "test", 2))}  # fmt: skip
SOURCES = {
    **{name: {**SOURCE, "kind": "archive", "mirror": f"{name}.tar", "boxes": about} for name, about in BOXES.items()},
    "photographs": {
        **SOURCE, "kind": "folder", "mirror": "photographs",
        "images": {"kind": "image-folder", "statistics": "imagenet", "train": 8, "test": 4, "classes": 2,
                   "channels": 3, "side": 32},
    },
}  # fmt: skip
TINY = {
    "papers": ["huang2023"],
    "tables": ["huang2023/table_2"],
    "seeds": [1],
    "figures": [],
    "mirror": "mirror",
    "image": {
        "backbones": {
            "ImageNet_ResNet-50": {"data": "photographs", "architecture": "resnet18", "stem": "imagenet", "side": 32}
        },
        "training": {"epochs": 11, "batch_divisor": 64},  # ten of them warm up
        "detection": {
            "train": ["first", "second"],
            "test": "last",
            "settings": {"iterations": 2, "batch_size": 2, "warmup": 0, "precise_norm": 1, "sides": [48, 64],
                         "longest_side": 96, "anchors": [16, 32], "regions": 8, "region_size": 2},
        },
    },
}  # fmt: skip


def voc_archive(file, about, seed):
    """Photographs with one dark box each, in VOC's layout and counting from 1."""
    rng = np.random.default_rng(seed)
    names = [f"{seed:03}{number:03}" for number in range(about["images"])]
    content = {f"ImageSets/Main/{about['split']}.txt": "".join(f"{name}\n" for name in names).encode()}
    for name in names:
        pixels = rng.integers(120, 255, (48, 64, 3)).astype(np.uint8)
        left, top = rng.integers(0, 20, 2)
        pixels[top : top + 24, left : left + 32] //= 8
        picture = io.BytesIO()
        Image.fromarray(pixels).save(picture, "JPEG")
        edges = {"xmin": left + 1, "ymin": top + 1, "xmax": left + 32, "ymax": top + 24}
        box = "".join(f"<{edge}>{value}</{edge}>" for edge, value in edges.items())
        text = f"<annotation><object><name>dog</name><bndbox>{box}</bndbox></object></annotation>"
        content |= {f"JPEGImages/{name}.jpg": picture.getvalue(), f"Annotations/{name}.xml": text.encode()}
    with tarfile.open(file, "w") as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(f"VOCdevkit/VOC2007/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def mirror(folder):
    folder.mkdir()
    for seed, (name, about) in enumerate(BOXES.items()):
        voc_archive(folder / f"{name}.tar", about, seed)
    rng = np.random.default_rng(9)
    for split, count in (("train", 4), ("val", 2)):
        for label in ("cat", "dog"):
            (folder / "photographs" / split / label).mkdir(parents=True)
            for number in range(count):
                picture = Image.fromarray(rng.integers(0, 255, (40, 40, 3)).astype(np.uint8))
                picture.save(folder / "photographs" / split / label / f"{number}.jpg")


@pytest.mark.slow
def test_the_table_of_detection_is_filled_through_the_rules(tmp_path):
    folder = Checkout(tmp_path)
    mirror(tmp_path / "mirror")
    with open(tmp_path / "src/clrepro/sources/sources.yaml", "a") as catalogue:
        catalogue.write(yaml.safe_dump(SOURCES))
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    done = folder.snakemake("huang2023_table_2", config="tiny.yaml")
    assert "(Rule: evaluate_checkpoint)" in done
    assert "(Rule: embed)" not in done  # no probe of features is asked for
    table = pd.read_csv(tmp_path / "results/demo/tables/huang2023/table_2.csv")
    assert set(table["row"]) == {"SimCLR", "MACL"}
    assert table["ours"].between(0, 100).all()
    assert set(table["seeds"]) == {1}
    published = table.set_index(["row", "column"])["published"]
    assert published["MACL", "AP_75"] == published["MACL", "AP_75 [11 points]"] == 53.7
    index = read_json(next(tmp_path.glob("data/prepared/demo/detection-*/record.json")))
    assert (index["splits"]["train"]["images"], index["splits"]["test"]["boxes"]) == (5, 2)
    files = sorted(tmp_path.glob("results/demo/runs/image/ImageNet_ResNet-50/*/*/seed1/detection.json"))
    assert len(files) == 2
    found = read_json(files[0])
    assert [row[:3] for row in found["rows"]] == [
        [task, "test", name] for task in ("detection", "detection_voc07") for name in ("AP_all", "AP_50", "AP_75")
    ]
    record = read_json(files[0].with_name("record.json"))
    assert (found["model"], found["data"], found["seed"]) == (record["model"]["sha256"], [index["sha256"]], 1)
    protocol = found["protocol"]["detection"]
    assert (protocol["iterations"], protocol["momentum"]) == (2, 0.9)
    assert protocol["train"] == ["first@1", "second@1"]
    assert [point[0] for point in found["history"]] == [1, 2]
    assert not list(tmp_path.glob("state/demo/detection-*/saved-*"))
    # what is finished is linked again, not made again: its seconds are those of the first time
    before = files[0].read_bytes()
    files[0].unlink()
    done = folder.snakemake("huang2023_table_2", config="tiny.yaml")
    assert "(Rule: evaluate_checkpoint)" in done
    assert "(Rule: train)" not in done
    assert files[0].read_bytes() == before
    # other settings fine-tune again, and train no encoder
    longer = configuration.merge(TINY, {"image": {"detection": {"settings": {"iterations": 3}}}})
    (tmp_path / "longer.yaml").write_text(yaml.safe_dump(longer))
    planned = folder.planned("huang2023_table_2", config="longer.yaml")
    assert "evaluate_checkpoint detection huang2023_images_fp32_1" in planned
    assert not any(job.startswith("train") for job in planned)
