"""Downloads from servers that misbehave."""

import os
import shutil
from dataclasses import replace

import pytest

from clrepro.errors import UserError
from clrepro.sources import download
from clrepro.sources.source import source
from tests.sources.server import CONTENT, SHA256, Server, serving


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
