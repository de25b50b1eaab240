"""Filling a mirror, and the command line that does it."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from clrepro.catalogue.needs import needs
from clrepro.errors import UserError
from clrepro.paths import read_json
from clrepro.sources import fetch, mirroring
from clrepro.sources.source import source, sources
from tests.sources.server import SHA256, Server, serving


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

    needed = needs(load("paper"), tmp_path)
    required = {
        "wiki1m-for-simcse", "senteval-simcse", "bert-base-uncased", "bert-large-uncased", "roberta-base",
        "roberta-large", "cifar10", "cifar100", "nci1", "proteins", "mutag", "reddit-binary", "dd", "imdb-binary",
    }  # fmt: skip
    assert {part.name for part, runs_fail in needed if runs_fail} == required
    # ImageNet is got by hand, and detectors start from what is trained on it; ZINC may be left out of a mirror
    more = {"imagenet-1k", "voc2007-trainval", "voc2012-trainval", "voc2007-test", "chem-dataset"}
    assert {part.name for part, runs_fail in needed if not runs_fail} == more
    (tmp_path / "imagenet").mkdir()
    failing = {part.name for part, runs_fail in needs(load("paper"), tmp_path) if runs_fail}
    assert failing == (required | more) - {"chem-dataset"}
    assert needs(load("demo"), tmp_path) == []


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
    assert "9.6 GB to download into here; nothing was done" in said
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
