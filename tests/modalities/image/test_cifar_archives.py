"""CIFAR's own archives: read without running what a download holds, fetched and checked from a mirror."""

import io
import pickle
import struct
import tarfile

import numpy as np
import pytest

from clrepro import config as configuration
from clrepro import stages
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.modalities.image import archives, image_sets
from clrepro.paths import read_json, sha256


def python2_pickle(value) -> bytes:
    """Protocol 2 as Python 2 and numpy 1 wrote CIFAR's files: byte strings, and arrays by numpy.core.multiarray."""

    def write(item) -> bytes:
        match item:
            case bytes():
                return b"T" + struct.pack("<I", len(item)) + item
            case int():
                return b"J" + struct.pack("<i", item)
            case list():
                return b"](" + b"".join(map(write, item)) + b"e"
            case dict():
                return b"}(" + b"".join(write(part) for pair in item.items() for part in pair) + b"u"
            case np.ndarray():
                shape = b"(" + b"".join(map(write, item.shape)) + b"t"
                kind = b"cnumpy\ndtype\n(" + write(b"u1") + write(0) + write(1) + b"tR("
                kind += write(3) + write(b"|") + b"NNN" + write(-1) + write(-1) + write(0) + b"tb"
                start = (
                    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n("
                    + write(0)
                    + b"t"
                    + write(b"b")
                    + b"tR("
                )
                return start + write(1) + shape + kind + b"\x89" + write(item.tobytes()) + b"tb"

    return b"\x80\x02" + write(value) + b"."


@pytest.fixture
def small_cifar(monkeypatch, tmp_path):
    """A CIFAR-100 archive of 6 training and 4 test images, written by `build(changes)`."""
    layout = archives.LAYOUTS["cifar100"]
    small = {**vars(layout), "files": {"train": {"train": 6}, "test": {"test": 4}}, "classes": 3}
    monkeypatch.setitem(archives.LAYOUTS, "cifar100", archives.Layout(**small))
    generator = np.random.default_rng(0)
    pixels = {
        "train": generator.integers(0, 256, (6, 3072), np.uint8),
        "test": generator.integers(0, 256, (4, 3072), np.uint8),
    }

    def build(**changes: bytes):
        content = {
            "train": python2_pickle(
                {b"data": pixels["train"], b"fine_labels": [0, 1, 2, 0, 1, 2], b"filenames": [b"a"]}
            ),
            "test": python2_pickle({b"data": pixels["test"], b"fine_labels": [2, 1, 0, 2]}),
            "meta": python2_pickle({b"fine_label_names": [b"apple", b"bear", b"cup"]}),
        } | changes
        path = tmp_path / "cifar-100-python.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, raw in content.items():
                member = tarfile.TarInfo(f"cifar-100-python/{name}")
                member.size = len(raw)
                archive.addfile(member, io.BytesIO(raw))
        return path

    return build, pixels


def test_cifar_archives_are_read(small_cifar, tmp_path):
    build, pixels = small_cifar
    image_sets.prepare(build(), "cifar100", tmp_path / "out")
    for split, labels in (("train", [0, 1, 2, 0, 1, 2]), ("test", [2, 1, 0, 2])):
        found = image_sets.load(tmp_path / "out" / split)
        # each row holds 1,024 red, then green, then blue values, row by row
        assert np.array_equal(found.images.reshape(-1, 3072), pixels[split])
        assert found.images.shape[1:] == (3, 32, 32)
        assert found.labels.tolist() == labels
        assert found.classes == ["apple", "bear", "cup"]
        assert isinstance(found.images, np.memmap)


class Harmful:
    def __reduce__(self):
        return print, ("code of a downloaded file ran",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train": pickle.dumps(Harmful(), protocol=2)}, "__builtin__.print, which no image archive needs"),
        ({"train": b"cos\nsystem\n(S'true'\ntR."}, "os.system"),
        ({"train": b"cnumpy\nload\n."}, "numpy.load"),
        ({"train": python2_pickle({b"data": np.zeros((5, 3072), np.uint8)})}, r"expected pixels .* \(6, 3072\)"),
        ({"test": python2_pickle({b"data": np.zeros((4, 3072), np.uint8), b"fine_labels": [0, 1, 2, 3]})}, "0 to 2"),
        ({"test": python2_pickle({b"data": np.zeros((4, 3072), np.uint8), b"fine_labels": [0]})}, "4 labels, found 1"),
        ({"meta": python2_pickle({b"fine_label_names": [b"apple"]})}, "name 3 classes"),
        ({"test": b"\x80\x02}("}, "not one of CIFAR's files"),
    ],
)
def test_cifar_archives_run_no_code_and_are_complete(small_cifar, tmp_path, capsys, changes, message):
    build, _ = small_cifar
    with pytest.raises(UserError, match=message):
        image_sets.prepare(build(**changes), "cifar100", tmp_path / "out")
    assert "ran" not in capsys.readouterr().out
    assert not (tmp_path / "out" / "test" / "split.json").exists()


def test_a_cifar_archive_comes_from_the_mirror_and_its_bytes_are_checked(small_cifar, tmp_path, monkeypatch, capsys):
    build, pixels = small_cifar
    monkeypatch.chdir(tmp_path)
    archive = tmp_path / "mirror/cifar100/cifar-100-python.tar.gz"
    archive.parent.mkdir(parents=True)
    raw = configuration.read(configuration.ROOT / "config.yaml")
    spec = {"data": "cifar100", "architecture": "conv3", "side": 32}
    changes = {"mirror": "mirror", "tables": ["oar2024/table_4"], "figures": [],
               "image": {"backbones": {"CIFAR100_ResNet-50": spec}}}  # fmt: skip
    catalogue = Catalogue(configuration.parse(configuration.merge(raw, changes)))
    (encoder,) = catalogue.builds()
    with pytest.raises(UserError, match=r"mirror/cifar100/cifar-100-python\.tar\.gz' is missing from the mirror"):
        catalogue.check_inputs()
    build().rename(archive)
    catalogue.check_inputs()
    stages.fetch(encoder.source, catalogue.config)
    record = read_json(encoder.source.record)
    assert record["sha256"] == sha256(archive)
    assert (tmp_path / record["path"]).samefile(archive)
    stages.prepare(encoder, catalogue.config)
    assert np.array_equal(image_sets.load(encoder.folder / "test").images.reshape(-1, 3072), pixels["test"])
    # another archive in its place, one that would run code: refused by its hash, and unread where no hash is known
    build(train=pickle.dumps(Harmful(), protocol=2)).rename(archive)
    with pytest.raises(UserError, match="learned at the first fetch"):
        stages.fetch(encoder.source, catalogue.config)
    (tmp_path / "data/checksums.json").unlink()
    stages.fetch(encoder.source, catalogue.config)
    with pytest.raises(UserError, match=r"__builtin__\.print, which no image archive needs"):
        stages.prepare(encoder, catalogue.config)
    assert "ran" not in capsys.readouterr().out


def test_a_truncated_cifar_archive_is_refused(small_cifar, tmp_path):
    build, _ = small_cifar
    path = build()
    path.write_bytes(path.read_bytes()[:-4000])
    with pytest.raises(UserError, match="not a complete tar archive"):
        image_sets.prepare(path, "cifar100", tmp_path / "out")
