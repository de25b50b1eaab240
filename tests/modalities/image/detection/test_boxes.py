"""Annotations of Pascal VOC."""

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.modalities.image.detection import boxes
from tests.modalities.image.drawn import jpeg


def test_voc_annotations(tmp_path):
    folder = tmp_path / "VOCdevkit" / "VOC2007"
    for part in ("ImageSets/Main", "JPEGImages", "Annotations"):
        (folder / part).mkdir(parents=True)
    (folder / "ImageSets/Main/test.txt").write_text("000002\n000001\n")
    person = (
        "<object><name>person</name><difficult>1</difficult>"
        "<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>"
        "<bndbox><xmax>50.5</xmax><xmin>1</xmin><ymin>3</ymin><ymax>40</ymax></bndbox></object>"
    )
    box = "<bndbox><xmin>7</xmin><ymin>8</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    plane = f"<object><name>aeroplane</name>{box}</object>"
    for name, objects in (("000001", person + plane), ("000002", "")):
        (folder / f"Annotations/{name}.xml").write_text(f"<annotation>{objects}</annotation>")
        (folder / f"JPEGImages/{name}.jpg").write_bytes(jpeg((0, 0, 0)))
    record = boxes.prepare([(folder, "test", 2)], [(folder, "test", 2)], tmp_path / "prepared")
    assert (record["train"]["images"], record["test"]["boxes"]) == (2, 2)
    empty, full = boxes.Annotated(tmp_path / "prepared/test.json")
    assert empty["boxes"].shape == (0, 4)
    assert full["image"].dtype == np.uint8
    assert boxes.Annotated(tmp_path / "prepared/test.json").entries[1]["size"] == [*full["image"].shape[1:]]
    assert full["image"].shape[0] == 3
    assert full["boxes"].tolist() == [[0, 2, 50.5, 40], [6, 7, 9, 9]]
    assert full["labels"].tolist() == [14, 0]
    assert full["difficult"].tolist() == [True, False]
    for name, text, message in (
        ("Annotations/000001.xml", "<annotation><object>", "not a VOC annotation"),
        ("Annotations/000001.xml", f"<annotation>{plane.replace('aero', 'air')}</annotation>", "not a VOC annotation"),
        ("Annotations/000001.xml", f"<annotation>{plane.replace('>9<', '>6<')}</annotation>", "empty or missing box"),
        ("JPEGImages/000002.jpg", "", "missing or empty"),
        ("JPEGImages/000002.jpg", "<html>", "not an image"),
        ("ImageSets/Main/test.txt", "000001\n", "names 1 images, expected 2"),
    ):
        (folder / name).write_text(text)
        with pytest.raises(UserError, match=message):
            boxes.voc_annotations(folder, "test", 2)
    with pytest.raises(UserError, match=r"trainval\.txt is missing"):
        boxes.voc_annotations(folder, "trainval", 2)
