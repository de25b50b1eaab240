"""Fetching from a mirror: what is wrong is refused with its name, its place and the remedy."""

import io
import lzma
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from clrepro.errors import UserError
from clrepro.paths import read_json, sha256
from clrepro.sources import fetch
from clrepro.sources.source import source
from tests.sources.server import CONTENT

# fetching


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror with a packed text and an archive, and a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "text.txt.xz").write_bytes(lzma.compress(b"One sentence.\nAnother one.\n"))
    with tarfile.open(folder / "tasks.tar", "w") as archive:
        add(archive, "downstream/STS/readme.txt", b"x")
    return folder


def add(archive, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def text_source(mirror, **changes):
    right = sha256(mirror / "text.txt.xz")
    base = replace(source("wikipedia-sentences"), mirror="text.txt.xz", sha256=right)
    return replace(base, **changes)


def test_a_mirrored_file_is_verified_and_unpacked(mirror):
    wanted = text_source(mirror)
    fetch.fetch(wanted, str(mirror))
    record = read_json(wanted.record)
    assert Path(record["path"]).read_text() == "One sentence.\nAnother one.\n"
    assert record["sha256"] == wanted.sha256


def test_a_missing_mirror_or_file_is_named_before_anything_starts(mirror):
    wanted = replace(text_source(mirror), mirror="other.txt.xz")
    with pytest.raises(UserError, match=r"'.*other\.txt\.xz' is missing from the mirror"):
        wanted.check_reachable(str(mirror))
    with pytest.raises(UserError, match="set `mirror:` to a folder that holds other.txt.xz"):
        wanted.check_reachable(None)
    with pytest.raises(UserError, match="mirror: '/nowhere' is not a folder"):
        wanted.check_reachable("/nowhere")


def test_a_wrong_hash_names_both_and_leaves_no_record(mirror):
    wanted = text_source(mirror, sha256="0" * 64)
    with pytest.raises(UserError, match=f"has sha256 {sha256(mirror / 'text.txt.xz')}, expected 0000"):
        fetch.fetch(wanted, str(mirror))
    assert not wanted.record.exists()


def test_an_html_page_in_place_of_the_file_is_called_that(mirror):
    (mirror / "text.txt.xz").write_bytes(b"<!DOCTYPE html><html>404</html>")
    with pytest.raises(UserError, match="starts like an HTML page"):
        fetch.fetch(text_source(mirror, sha256="0" * 64), str(mirror))


def test_an_unpublished_hash_is_learned_once_and_checked_from_then_on(mirror):
    wanted = text_source(mirror, sha256=None)
    fetch.fetch(wanted, str(mirror))
    (mirror / "text.txt.xz").write_bytes(lzma.compress(b"Something else.\n"))
    with pytest.raises(UserError, match="learned at the first fetch"):
        fetch.fetch(wanted, str(mirror))


def test_a_truncated_file_is_refused(mirror):
    packed = (mirror / "text.txt.xz").read_bytes()
    (mirror / "text.txt.xz").write_bytes(packed[:-20])
    with pytest.raises(UserError, match="not a complete xz file"):
        fetch.fetch(text_source(mirror), str(mirror))


def test_an_archive_cannot_write_outside_its_folder(mirror, tmp_path):
    with tarfile.open(mirror / "tasks.tar", "w") as archive:
        add(archive, "../../../../escaped.txt", b"x")
    wanted = replace(source("senteval-downstream"), mirror="tasks.tar", sha256=None)
    with pytest.raises(UserError, match="cannot be unpacked"):
        fetch.fetch(wanted, str(mirror))
    assert not list(tmp_path.rglob("escaped.txt"))


def test_a_mirror_without_a_source_is_refused_even_where_a_url_exists(mirror):
    with pytest.raises(UserError, match="missing from the mirror; run `clrepro mirror`, or fetch once without"):
        source("wiki1m-for-simcse").check_reachable(str(mirror))
    source("wiki1m-for-simcse").check_reachable(None)


# a mirror


def test_a_mirror_that_has_moved_costs_one_record(tmp_path):
    (tmp_path / "old/cifar10").mkdir(parents=True)
    (tmp_path / "old/cifar10/cifar-10-python.tar.gz").write_bytes(CONTENT)
    wanted = source("cifar10")
    fetch.fetch(wanted, str(tmp_path / "old"))
    before = wanted.record.read_bytes()
    (tmp_path / "old").rename(tmp_path / "new")
    with pytest.raises(
        UserError, match=f"which is gone; if the mirror has moved, set `mirror:` and delete {wanted.record}"
    ):
        wanted.check_reachable(str(tmp_path / "new"))
    wanted.record.unlink()
    fetch.fetch(wanted, str(tmp_path / "new"))
    assert wanted.record.read_bytes() == before  # so that nothing is made again from it
