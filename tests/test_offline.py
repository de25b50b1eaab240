"""Filling a mirror from servers that misbehave, and the command line that does it; no real network is touched."""

import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.parse
from contextlib import contextmanager
from dataclasses import replace

import pytest

from clrepro.errors import UserError
from clrepro.paths import read_json
from clrepro.sources import download, fetch, mirroring
from clrepro.sources.source import source, sources

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """A file server in a thread. ``cuts``: bytes after which successive answers break off; ``asked``: their ranges."""

    def __init__(self, content=CONTENT, ranges=True, tag='"one"', cuts=(), statuses=()):
        self.content, self.ranges, self.tag = content, ranges, tag
        self.cuts, self.statuses, self.asked = list(cuts), list(statuses), []

    def answer(self, handler):
        wanted = handler.headers.get("Range")
        self.asked.append(wanted)
        if self.statuses:
            return handler.send_error(self.statuses.pop(0))
        unchanged = handler.headers.get("If-Range") in (None, self.tag)
        start = int(wanted[6:].rstrip("-")) if wanted and self.ranges and unchanged else 0
        if start and start >= len(self.content):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(self.content)}")
            handler.send_header("Content-Length", "0")
            return handler.end_headers()
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}")
        if self.tag:
            handler.send_header("ETag", self.tag)
        handler.send_header("Content-Length", str(len(self.content) - start))
        handler.end_headers()
        cut = self.cuts.pop(0) if self.cuts else len(self.content)
        return handler.wfile.write(self.content[start : start + cut])


@contextmanager
def serving(answer):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        do_HEAD = do_POST = do_GET

        def log_message(self, *_):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}"
    finally:
        running.shutdown()
        running.server_close()


@pytest.fixture(autouse=True)
def quick(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(download, "PAUSE", 0.001)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def get(server, target, sha256=SHA256):
    with serving(server.answer) as address:
        wanted = replace(source("cifar10"), url=f"{address}/file.bin", sha256=sha256)
        return download.download(wanted, target)


# one file


def test_a_cut_connection_is_taken_up_where_it_broke_off(tmp_path):
    server = Server(cuts=[500_000, 100_000])
    assert get(server, tmp_path / "file.bin") == SHA256
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=500000-", "bytes=600000-"]
    assert os.listdir(tmp_path) == ["file.bin"]


def test_what_an_earlier_call_received_is_continued_and_never_has_the_final_name(tmp_path):
    server = Server(cuts=[500_000] + [0] * 20)
    with pytest.raises(UserError, match="the connection ended after 500,000 of 1,048,576 bytes.*is kept; run again"):
        get(server, tmp_path / "file.bin")
    assert not (tmp_path / "file.bin").exists()
    assert len(server.asked) == 1 + download.ATTEMPTS  # the first one brought something
    server.cuts, server.asked = [], []
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.asked == ["bytes=500000-"]


def test_a_server_without_ranges_sends_all_again(tmp_path):
    server = Server(ranges=False, cuts=[500_000])
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=500000-"]


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_two_halves_of_different_files_are_never_joined(tmp_path, sha256):
    """The file changes on the server between two calls: with a tag the rest begins anew."""
    (tmp_path / "file.bin.part").write_bytes(b"x" * 1000)
    (tmp_path / "file.bin.part.tag").write_text('"older"')
    get(Server(), tmp_path / "file.bin", sha256)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_without_tag_and_checksum_nothing_is_continued(tmp_path):
    (tmp_path / "file.bin.part").write_bytes(b"x" * 1000)
    server = Server(tag=None)
    get(server, tmp_path / "file.bin", sha256=None)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.asked == [None]


def test_a_kill_between_the_last_byte_and_the_rename_costs_nothing(tmp_path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    assert get(Server(), tmp_path / "file.bin") == SHA256
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_wrong_hash_is_one_error_and_the_bytes_are_kept_under_another_name(tmp_path):
    page = b"<!DOCTYPE html><html>please log in</html>"
    for _ in range(2):  # the second time over the first one's
        with pytest.raises(UserError, match=f"expected {SHA256}. It starts like an HTML page. .* file.bin.wrong|wrong"):
            get(Server(page), tmp_path / "file.bin")
        assert os.listdir(tmp_path) == ["file.bin.wrong"]
        assert (tmp_path / "file.bin.wrong").read_bytes() == page


@pytest.mark.parametrize(("statuses", "requests"), [([503, 429], 3), ([404], 1), ([403], 1)])
def test_busy_servers_are_asked_again_and_refusals_are_not(tmp_path, statuses, requests):
    server = Server(statuses=statuses)
    if requests == 1:
        with pytest.raises(UserError, match=f"HTTP Error {statuses[0]}"):
            get(server, tmp_path / "file.bin")
    else:
        get(server, tmp_path / "file.bin")
    assert len(server.asked) == requests


def test_a_file_that_the_disk_cannot_hold_is_refused_before_the_first_byte(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=download.SPARE + len(CONTENT) - 1))
    with pytest.raises(UserError, match="needs 1,048,576 bytes in .* which has 1,048,575 to spare"):
        get(Server(), tmp_path / "file.bin")
    assert "file.bin" not in os.listdir(tmp_path)


# a model hub


class Hub:
    """The few addresses of a model hub that a download at a pinned revision asks for."""

    def __init__(self, name, revision, files):
        self.name, self.revision, self.files, self.asked = name, revision, files, []
        self.stated = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}

    def answer(self, handler):
        path = handler.path.split("?")[0]
        self.asked.append((handler.path, handler.headers.get("Authorization")))
        body, headers = b"", {}
        if handler.command == "POST":
            form = urllib.parse.parse_qs(handler.rfile.read(int(handler.headers["Content-Length"])).decode())
            body = self.listing(form["paths"])
        elif path.startswith(f"/api/models/{self.name}/tree/{self.revision}"):
            body = self.listing(self.files)
        elif path == f"/api/models/{self.name}/revision/{self.revision}":
            siblings = [{"rfilename": name} for name in self.files]
            body = json.dumps({"id": self.name, "sha": self.revision, "siblings": siblings}).encode()
        elif path.startswith(f"/{self.name}/resolve/{self.revision}/"):
            file = path.rsplit("/", 1)[1]
            body = self.files[file]
            headers = {"ETag": f'"{self.stated[file]}"', "X-Repo-Commit": self.revision}
        else:
            return handler.send_error(404)
        handler.send_response(200)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(key, value)
        handler.end_headers()
        return handler.wfile.write(b"" if handler.command == "HEAD" else body)

    def listing(self, paths):
        entries = []
        for path in paths:
            size = len(self.files[path])
            large = {"oid": self.stated[path], "sha256": self.stated[path], "size": size, "pointerSize": 1}
            entries.append({"type": "file", "path": path, "size": size, "oid": "0" * 40, "lfs": large})
        return json.dumps(entries).encode()


@pytest.fixture
def hub(monkeypatch):
    from huggingface_hub import constants

    bert = source("bert-base-uncased")
    files = {"config.json": b"{}", "model.safetensors": b"weights" * 1000, "tokenizer.json": b"{}"}
    hub = Hub(bert.url, bert.revision, {**files, "pytorch_model.bin": b"a pickle", "evil.py": b"raise SystemExit"})
    with serving(hub.answer) as address:
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        yield hub


def test_a_model_comes_at_its_revision_without_pickles_or_code(hub, tmp_path):
    download.download_model(source("bert-base-uncased"), tmp_path / "bert")
    assert sorted(os.listdir(tmp_path / "bert")) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert (tmp_path / "bert/model.safetensors").read_bytes() == hub.files["model.safetensors"]
    assert not any("main" in path for path, _ in hub.asked)


def test_a_model_that_is_not_what_the_hub_states_never_gets_its_name(hub, tmp_path):
    hub.stated["model.safetensors"] = "0" * 64
    with pytest.raises(UserError, match="model.safetensors is not what google-bert/bert-base-uncased has at 86b5e093"):
        download.download_model(source("bert-base-uncased"), tmp_path / "bert")
    assert os.listdir(tmp_path) == ["bert.wrong"]


# a mirror


@pytest.fixture
def some(hub):
    """A server, and five sources: a file, a model, an archive that is by hand, ImageNet."""
    server = Server(cuts=[300_000])
    with serving(server.answer) as address:
        known = sources()
        parts = [
            replace(known["cifar10"], url=f"{address}/cifar10", sha256=SHA256),
            replace(known["wiki1m-for-simcse"], url=f"{address}/wiki"),
            known["bert-base-uncased"],
        ]
        yield server, [*((part, True) for part in parts), (known["imagenet-1k"], False)]


def states(findings):
    return [finding.state for finding in findings]


def test_a_mirror_is_filled_once_then_verified_then_used(some, hub, tmp_path, monkeypatch):
    server, needed = some
    folder = tmp_path / "mirror"
    assert states(mirroring.plan(folder, needed)) == ["to download"] * 3 + ["PUT IT THERE"]
    assert not folder.exists()
    found = list(mirroring.fill(folder, needed))
    assert states(found) == ["downloaded"] * 3 + ["PUT IT THERE"]
    assert "by agreement (image-net.org)) and put it at" in str(found[-1])
    manifest = read_json(folder / "manifest.json")["files"]
    assert set(manifest) == {"cifar10/cifar-10-python.tar.gz", "wiki/wiki1m_for_simcse.txt"} | {
        f"models/bert-base-uncased/{name}" for name in ("config.json", "model.safetensors", "tokenizer.json")
    }
    assert manifest["cifar10/cifar-10-python.tar.gz"]["sha256"] == SHA256
    weights = manifest["models/bert-base-uncased/model.safetensors"]
    assert weights["revision"] == source("bert-base-uncased").revision
    assert (weights["bytes"], weights["url"]) == (7000, "google-bert/bert-base-uncased")

    server.asked, hub.asked = [], []
    assert states(mirroring.fill(folder, needed)) == ["verified"] * 3 + ["PUT IT THERE"]
    assert states(mirroring.check(folder, needed)) == ["verified"] * 3 + ["PUT IT THERE"]
    assert not any(finding.fatal for finding in mirroring.check(folder, needed))
    assert server.asked == hub.asked == []

    # without the servers, from the mirror; no record says where the mirror is
    for wanted in (needed[0][0], needed[2][0]):
        fetch.fetch(replace(wanted, url="http://127.0.0.1:9"), str(folder))
        found = read_json(wanted.record)["path"]
        assert not found.startswith("/")
        assert os.path.realpath(found) == str(folder / wanted.mirror)


@pytest.mark.parametrize("how", ["changed", "shortened", "removed"])
@pytest.mark.parametrize("file", ["cifar10/cifar-10-python.tar.gz", "models/bert-base-uncased/tokenizer.json"])
def test_damage_in_a_mirror_is_found_refused_and_mended(some, tmp_path, file, how):
    _, needed = some
    folder = tmp_path / "mirror"
    list(mirroring.fill(folder, needed))
    good, place = (folder / file).read_bytes(), 0 if "cifar" in file else 2
    {
        "changed": lambda: (folder / file).write_bytes(good[:-1] + b"?"),
        "shortened": lambda: (folder / file).write_bytes(good[:-1]),
        "removed": (folder / file).unlink,
    }[how]()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found = list(mirroring.check(folder, needed))
    assert found[place].fatal
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    with pytest.raises(UserError, match=file.rsplit("/")[-1]):
        fetch.fetch(needed[place][0], str(folder))
    assert states(mirroring.fill(folder, needed))[place] == "downloaded"
    assert (folder / file).read_bytes() == good
    assert states(mirroring.check(folder, needed))[place] == "verified"


def test_one_failing_source_does_not_stop_the_others(some, tmp_path):
    server, needed = some
    server.statuses = [404]
    found = list(mirroring.fill(tmp_path / "mirror", needed))
    assert states(found) == ["FAILED", "downloaded", "downloaded", "PUT IT THERE"]
    assert [finding.fatal for finding in found] == [True, False, False, False]


def test_another_revision_in_the_mirror_is_named_and_replaced(some, tmp_path):
    _, needed = some
    folder = tmp_path / "mirror"
    list(mirroring.fill(folder, needed))
    manifest = read_json(folder / "manifest.json")
    for entry in manifest["files"].values():
        entry["revision"] = "older"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "has revision older of it, needed is 86b5e093" in str(list(mirroring.check(folder, needed))[2])
    with pytest.raises(UserError, match="the mirror has revision older, needed is 86b5e093"):
        fetch.fetch(needed[2][0], str(folder))
    assert states(mirroring.fill(folder, needed))[:3] == ["downloaded"] * 3
    assert states(mirroring.check(folder, needed))[:3] == ["verified"] * 3


def test_paper_scale_needs_every_source_that_its_configuration_names(tmp_path):
    from clrepro.config import load

    needed = mirroring.needs(load("paper"), tmp_path)
    required = {
        "wiki1m-for-simcse", "senteval-simcse", "bert-base-uncased", "bert-large-uncased", "roberta-base",
        "roberta-large", "cifar10", "cifar100",
    }  # fmt: skip
    assert {part.name for part, runs_fail in needed if runs_fail} == required
    # ImageNet is got by hand, and detectors start from what is trained on it
    more = {"imagenet-1k", "voc2007-trainval", "voc2012-trainval", "voc2007-test"}
    assert {part.name for part, runs_fail in needed if not runs_fail} == more
    (tmp_path / "imagenet").mkdir()
    assert {part.name for part, runs_fail in mirroring.needs(load("paper"), tmp_path) if runs_fail} == required | more
    assert mirroring.needs(load("demo"), tmp_path) == []


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


def test_one_mirror_is_filled_by_one_command_at_a_time(some, tmp_path):
    _, needed = some
    first = mirroring.fill(tmp_path / "mirror", needed)
    next(first)
    with pytest.raises(UserError, match="another clrepro mirror is filling"):
        next(mirroring.fill(tmp_path / "mirror", needed))
    assert states(first) == ["downloaded"] * 2 + ["PUT IT THERE"]


def command(*words):
    """Exit code and output of the command line."""
    done = subprocess.run([sys.executable, "-m", "clrepro.cli", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_command_line_names_what_is_missing_and_fails_for_it(tmp_path):
    code, said = command("mirror", "--scale", "paper", "--dry-run", "here")
    assert code == 0
    assert "roberta-large: to download: 1,425 MB, FacebookAI/roberta-large at 722cf37b, from the model hub" in said
    assert "7.1 GB to download into here; nothing was done" in said
    assert command("mirror", "--scale", "paper", "--check", "here") == (1, "error: mirror: 'here' is not a folder\n")
    (tmp_path / "here/senteval").mkdir(parents=True)
    (tmp_path / "here/senteval/senteval.tar.xz").write_bytes(b"another file")
    code, said = command("mirror", "--scale", "bench", "--check", "here")
    assert code == 1
    assert "senteval-downstream: WRONG: here/senteval/senteval.tar.xz has sha256" in said
    assert "wikipedia-sentences: PUT IT THERE: get it yourself" in said
    assert "Traceback" not in said
    code, said = command("sources", "--mirror", "here")
    assert code == 0
    assert "now: in the mirror: here/senteval/senteval.tar.xz (not fetched yet)" in said
    assert "now: missing from the mirror: clrepro mirror here downloads it" in said
    assert "now: to be got by hand: put it at here/imagenet" in said
