"""What comes in cannot write elsewhere, run code or fill the disk; what goes out says nothing of its maker."""

import ast
import io
import lzma
import os
import pickle
import shutil
import struct
import tarfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.modalities.image import archives
from clrepro.paths import ROOT, read_json
from clrepro.sources import download, unpack
from tests.finished import finished

# archives


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 1) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size if kind == tarfile.REGTYPE else 0
    return info


HOSTILE = {
    "a path that climbs out": [member("../escaped")],
    "one that climbs out later": [member("inside/../../escaped")],
    "an absolute path": [member("/tmp/clrepro-escaped")],
    "a symbolic link": [member("link", tarfile.SYMTYPE, "..")],
    "a file behind a symbolic link": [member("link", tarfile.SYMTYPE, ".."), member("link/escaped")],
    "a hard link": [member("link", tarfile.LNKTYPE, "../../secret")],
    "a device": [member("device", tarfile.CHRTYPE)],
    "a pipe": [member("pipe", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
@pytest.mark.parametrize("how", [None, *HOSTILE])
def test_a_tar_archive_unpacks_files_and_folders_inside_its_folder_or_nothing(tmp_path, how, mode):
    (tmp_path / "secret").write_text("secret")
    raw, place = tmp_path / "archive.tar", tmp_path / "work"
    place.mkdir()
    with tarfile.open(raw, mode) as archive:
        for info in [member("STS/good"), *HOSTILE.get(how, [])]:
            archive.addfile(info, io.BytesIO(b"x"))
    if how is None:
        unpack.unpack_tar(raw, place / "tree")
        assert (place / "tree/STS/good").read_bytes() == b"x"
        return
    with pytest.raises(UserError, match="is a link, a device, or lies outside its folder"):
        unpack.unpack_tar(raw, place / "tree")
    assert not any(place.iterdir())
    assert sorted(os.listdir(tmp_path)) == ["archive.tar", "secret", "work"]
    assert not Path("/tmp/clrepro-escaped").exists()


@pytest.fixture
def little_space(monkeypatch):
    """A disk with a million bytes to spare."""
    usage = shutil.disk_usage("/")._replace(free=download.SPARE + 1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)


def test_what_the_disk_cannot_hold_is_refused_before_it_is_unpacked(tmp_path, little_space):
    bomb, text = tmp_path / "bomb.tar", tmp_path / "text.xz"
    bomb.write_bytes(member("STS/vast", size=2 << 40).tobuf())  # a header is enough
    text.write_bytes(lzma.compress(bytes(20 << 20)))
    with pytest.raises(UserError, match=r"bomb.tar, unpacked, needs 2,199,023,255,552 bytes .* 1,000,000 to spare"):
        unpack.unpack_tar(bomb, tmp_path / "tree")
    with pytest.raises(UserError, match="text.xz, unpacked, at least needs .* 1,000,000 to spare"):
        unpack.unpack_text(text, tmp_path / "text.txt")
    assert sorted(os.listdir(tmp_path)) == ["bomb.tar", "text.xz"]


def test_vast_members_of_image_archives_are_not_read_into_memory(tmp_path):
    (tmp_path / "cifar.tar").write_bytes(member("cifar-10-batches-py/batches.meta", size=1 << 40).tobuf())
    with pytest.raises(UserError, match="has 1,099,511,627,776 bytes, far too many"):
        list(archives.cifar_archive("cifar10", tmp_path / "cifar.tar"))
    with zipfile.ZipFile(tmp_path / "cifar.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train/cat/0.jpg", bytes(10 << 20))
    with pytest.raises(UserError, match="has 10,485,760 bytes, which no such picture has"):
        list(archives.jpeg_zip(tmp_path / "cifar.zip"))


def test_a_picture_that_says_it_is_vast_is_not_decoded(tmp_path):
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, 60_000, 60_000, 3) + b"\1\x11\0\2\x11\0\3\x11\0"
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("train/cat/0.jpg", b"\xff\xd8" + frame)
    with zipfile.ZipFile(tmp_path / "one.zip") as archive, pytest.raises(UserError, match="60000|exceeds limit"):
        archives.decode_member(archive, "train/cat/0.jpg", tmp_path / "one.zip")


# pickles


def touching(file: str) -> dict[str, bytes]:
    """Pickles that make a file when they are loaded, by every door of the format."""
    command = f"touch {file}".encode()
    short = b"\x8c" + bytes([len(command)]) + command

    class Reduced:
        def __reduce__(self):
            return os.system, (command.decode(),)

    return {
        "reduce, protocol 0": pickle.dumps(Reduced(), 0),
        "reduce, protocol 2": pickle.dumps([{"data": Reduced()}], 2),
        "reduce, protocol 5": pickle.dumps(Reduced(), 5),
        "global": b"cposix\nsystem\n(S'" + command + b"'\ntR.",
        "instance": b"(S'" + command + b"'\niposix\nsystem\n.",
        "object": b"(cposix\nsystem\nS'" + command + b"'\no.",
        "stack global": b"\x80\x04\x8c\x05posix\x8c\x06system\x93" + short + b"\x85R.",
        "evaluated": b'cbuiltins\neval\n(S\'__import__("os").system("' + command + b"\")'\ntR.",
        "an attribute of what is admitted": (
            b"\x80\x04\x8c\x05numpy\x8c\x0flib._datasource\x93\x30cposix\nsystem\n" + short + b"\x85R."
        ),
    }


@pytest.mark.parametrize("door", touching(""))
def test_a_pickle_in_an_image_archive_runs_no_code(tmp_path, monkeypatch, door):
    monkeypatch.chdir(tmp_path)
    harmful = touching("ran")[door]
    with suppress(TypeError):  # it does its harm where pickles are trusted, or the test would show nothing
        pickle.loads(harmful)
    assert Path("ran").exists()
    Path("ran").unlink()
    with tarfile.open("cifar-10-python.tar.gz", "w:gz") as archive:
        for name in ["batches.meta", "test_batch", *(f"data_batch_{number}" for number in range(1, 6))]:
            archive.addfile(member(f"cifar-10-batches-py/{name}", size=len(harmful)), io.BytesIO(harmful))
    with pytest.raises(UserError, match="which no image archive needs"):
        list(archives.cifar_archive("cifar10", Path("cifar-10-python.tar.gz")))
    assert not Path("ran").exists()


def calls(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), {word.arg: ast.unparse(word.value) for word in node.keywords}


def test_nothing_else_unpickles_or_unpacks():
    """The few places are named here; a new one has to be looked at."""
    unpacking = {"extractall": ["unpack.py"], "extract": [], "unpack_archive": [], "extractfile": ["image_archives.py"]}
    seen = 0
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        tree = ast.parse(file.read_text("utf-8"))
        for name, words in calls(tree):
            place, last = f"{file.name}: {name}", name.rpartition(".")[2]
            assert name not in {"pickle.load", "pickle.loads", "joblib.load", "yaml.unsafe_load", "eval", "exec"}, place
            if name == "torch.load":
                assert words.get("weights_only") == "True", place
            assert words.get("allow_pickle", "False") == "False", place
            assert words.get("trust_remote_code", "False") == "False", place
            if last in unpacking and "archive" in name:
                assert file.name in unpacking[last], place
                seen += 1
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert "pickle" not in imported or file.name == "image_archives.py", file.name
    assert seen == 2


def test_model_folders_without_safetensors_are_refused(tmp_path):
    from clrepro.modalities.sentence import backbone

    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(touching(str(tmp_path / "ran"))["global"])
    with pytest.raises(UserError, match="model.safetensors is missing"):
        backbone.describe(tmp_path)
    assert not (tmp_path / "ran").exists()


# what leaves the machine


SECRETS = {
    "HF_TOKEN": "hf_topsecret",
    "AWS_SECRET_ACCESS_KEY": "aws_topsecret",
    "AWS_SESSION_TOKEN": "session_topsecret",
}
ABOUT_ME = ("topsecret", "annamuster")


def telltales(folder: Path, words: tuple[str, ...] = ABOUT_ME) -> list[str]:
    """Files below a folder that hold a secret, the home folder or the user's name, unpacked where they are packed."""
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        raw = file.read_bytes()
        texts = [raw]
        if file.suffix == ".png":  # its text chunks may be compressed
            texts += [zlib.decompress(part[5:]) for part in raw.split(b"zTXt")[1:]]
        if any(word.encode() in text for text in texts for word in words):
            found.append(str(file.relative_to(folder)))
    return found


def test_results_and_report_say_nothing_of_who_made_them_and_where(tmp_path, monkeypatch, tiny):
    from clrepro import stages
    from clrepro.ledger import Records
    from clrepro.report import html, tables

    home = tmp_path / "home" / "annamuster"
    work = home / "work"
    work.mkdir(parents=True)
    shutil.copytree(tiny[1], home / "models" / "my-bert")
    monkeypatch.chdir(work)
    for name, value in {**SECRETS, "HOME": str(home), "USER": "annamuster", "LOGNAME": "annamuster"}.items():
        monkeypatch.setenv(name, value)
    raw = configuration.merge(
        configuration.read(ROOT / "config.yaml"),
        {
            "papers": ["nie2023"],
            "tables": ["nie2023/table_1"],
            "figures": [],
            "mirror": str(home),
            "sentence": {
                "corpus_lines": 300,
                "backbones": {
                    "BERT_base": {"kind": "pretrained", "path": str(home / "models" / "my-bert")},
                    "BERT_large": None, "RoBERTa_base": None, "RoBERTa_large": None,
                },
            },
        },
    )  # fmt: skip
    catalogue = Catalogue(configuration.parse(raw))
    finished(catalogue)
    # besides, what the first stages really write
    for source in catalogue.sources():
        stages.fetch(catalogue, source)
    (build,) = catalogue.backbones()
    stages.prepare(catalogue, build)
    untrained = [run for run in catalogue.runs if not run.objective]
    assert untrained
    stages.train(catalogue, untrained)
    model = read_json(untrained[0].record)["model"]
    assert Path(model["path"]).resolve() == home / "models" / "my-bert"
    for table in catalogue.tables:
        tables.write(catalogue, table, Records())
    content = html.write(catalogue)
    assert len(content["runs"]) == len(catalogue.runs)
    assert telltales(work) == []
    (work / "planted.json").write_text(str(work))
    assert telltales(work) == ["planted.json"]
