"""SentEval's data fetched for a user, from a server and from a mirror."""

import hashlib
import io
import shutil
import tarfile
from dataclasses import replace

import pytest

from clrepro.errors import UserError
from clrepro.paths import read_json
from clrepro.sources import evaluation_sets, fetch
from clrepro.sources.source import source
from tests.sources.server import Server, serving


def archive(text):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        info = tarfile.TarInfo("STS/note.txt")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return packed.getvalue()


SENT = archive(b"pairs")
SHA256 = hashlib.sha256(SENT).hexdigest()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server that has the archive of senteval-simcse, whose sha256 nobody published."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    server = Server(SENT)
    with serving(server.answer) as address:
        server.sha256 = {}

        def described(name):
            found = source(name)
            url = f"{address}/{name}.tar" if found.url else None
            return replace(found, url=url, sha256=server.sha256.get(name, found.sha256))

        monkeypatch.setattr(evaluation_sets, "source", described)
        yield server


def test_it_is_announced_fetched_once_and_known_from_then_on(server, tmp_path, capfd):
    found = evaluation_sets.senteval()
    folder = tmp_path / "cache/clrepro/sources/senteval-simcse-main"
    assert found == evaluation_sets.Fetched(folder / "tree", "senteval-simcse@main", SHA256)
    assert (found.root / "STS/note.txt").read_text() == "pairs"
    said = capfd.readouterr().err
    about = source("senteval-simcse")
    assert f"{about.megabytes:g} MB from http://127.0.0.1:" in said
    assert f"to {folder}" in said
    assert about.licence in said
    assert evaluation_sets.senteval() == found
    assert (server.asked, capfd.readouterr().err) == ([None], "")
    assert read_json(tmp_path / "cache/clrepro/checksums.json") == {"senteval-simcse@main": SHA256}
    # other bytes at the same address are refused by what the first had, and the old ones are not touched
    (folder / "record.json").unlink()
    (folder / "raw/senteval.tar").unlink()
    server.content = archive(b"other")
    with pytest.raises(UserError, match=f"sha256 {hashlib.sha256(server.content).hexdigest()}, expected {SHA256}"):
        evaluation_sets.senteval()
    assert (found.root / "STS/note.txt").read_text() == "pairs"


def test_a_wrong_published_hash_leaves_nothing_that_would_be_used(server, tmp_path):
    server.sha256["senteval-simcse"] = "0" * 64
    for _ in range(2):
        with pytest.raises(UserError, match=f"sha256 {SHA256}, expected 0000.*kept as .*senteval.tar.wrong"):
            evaluation_sets.senteval()
    server.sha256["senteval-simcse"] = SHA256
    assert evaluation_sets.senteval().sha256 == SHA256


def test_a_mirror_is_used_in_place_of_the_network(server, tmp_path, capfd):
    (tmp_path / "mirror/senteval").mkdir(parents=True)
    with pytest.raises(UserError, match="senteval.tar' is missing from the mirror"):
        evaluation_sets.senteval(str(tmp_path / "mirror"))
    (tmp_path / "mirror/senteval/senteval.tar.xz").write_bytes(SENT)
    with pytest.raises(UserError, match=f"'senteval-downstream': .*senteval.tar.xz has sha256 {SHA256}, expected a79"):
        evaluation_sets.senteval(str(tmp_path / "mirror"))
    server.sha256["senteval-downstream"] = SHA256
    found = evaluation_sets.senteval(str(tmp_path / "mirror"))
    assert found.source == "senteval-downstream@mirror-2026"
    assert server.asked == []
    assert "senteval.tar.xz to " in capfd.readouterr().err
    assert evaluation_sets.senteval() == found  # neither network nor mirror is asked for what is there
    (tmp_path / "mirror/senteval/senteval.tar").write_bytes(SENT)
    assert evaluation_sets.senteval(str(tmp_path / "mirror")) == found


def test_what_the_working_directory_has_is_used(server, tmp_path):
    (tmp_path / "mirror/senteval").mkdir(parents=True)
    (tmp_path / "mirror/senteval/senteval.tar").write_bytes(SENT)
    in_cache = evaluation_sets.senteval(str(tmp_path / "mirror"))
    fetch.fetch(source("senteval-simcse"), str(tmp_path / "mirror"))
    here = evaluation_sets.senteval()
    assert here.root.is_relative_to("data/sources")
    shutil.rmtree("data")
    assert evaluation_sets.senteval() == in_cache != here
    assert server.asked == []


def test_a_cache_that_cannot_be_written_is_named(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UserError, match="file/clrepro.*cannot write there .*set XDG_CACHE_HOME"):
        evaluation_sets.senteval()
