"""Lists of what a job that several runs share has made."""

import os
from pathlib import Path

import pytest

from clrepro.paths import read_json, sha256
from clrepro.workflow import manifest


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A list of two files, below a working directory."""
    monkeypatch.chdir(tmp_path)
    files = [Path("results/a/record.json"), Path("results/b/record.json")]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True)
        file.write_text(str(number))
    listed = Path("results/manifests/train/x.json")
    manifest.write(listed, files)
    return listed, files


def test_a_list_names_its_files_by_content_and_is_the_same_for_the_same_bytes(made):
    listed, files = made
    assert read_json(listed)["files"] == {str(file): sha256(file) for file in files}
    before = listed.read_bytes()
    files[0].write_text("0")
    manifest.write(listed, files)
    assert listed.read_bytes() == before
    files[0].write_text("another content")
    manifest.write(listed, files)
    assert listed.read_bytes() != before


def test_a_member_that_was_deleted_or_overwritten_is_found_and_named(made):
    listed, files = made
    assert manifest.lost([listed]) == {}
    files[1].unlink()
    assert manifest.lost([listed]) == {str(listed): [str(files[1])]}
    files[1].write_text("of another configuration")
    assert manifest.lost([listed]) == {str(listed): [str(files[1])]}
    # what no job has made yet is not lost
    assert manifest.lost([Path("results/manifests/train/other.json")]) == {}


def test_a_member_that_another_job_wrote_since_is_found(made):
    listed, files = made
    later = listed.stat().st_mtime_ns + 1_000_000
    os.utime(files[0], ns=(later, later))  # written again with the same bytes: nothing to do
    assert manifest.lost([listed]) == {}
    files[0].write_text("of another configuration")
    os.utime(files[0], ns=(later, later))
    assert manifest.lost([listed]) == {str(listed): [str(files[0])]}


def test_forgotten_lists_are_gone_and_named(made, capsys):
    listed, files = made
    files[1].unlink()
    manifest.forget(manifest.lost([listed]))
    assert not listed.exists()
    assert f"{listed}: gone or overwritten: {files[1]}; its job runs again" in capsys.readouterr().err


@pytest.mark.parametrize("content", ['{"files": {"results/a/rec', "{}", "[]", '{"files": null}', '{"files": {}}'])
def test_a_broken_list_counts_as_lost(made, content):
    listed, _ = made
    listed.write_text(content)
    assert manifest.lost([listed]) == {str(listed): ["its content"]}


def test_a_list_of_files_that_are_not_there_is_not_written(made):
    listed, files = made
    listed.unlink()
    files[0].unlink()
    with pytest.raises(FileNotFoundError):
        manifest.write(listed, files)
    assert not listed.exists()


def test_a_file_that_another_job_makes_now_is_not_taken_for_its_own(made):
    listed, files = made
    others = [Path("results/c/record.json")]
    assert manifest.taken([listed], others) == manifest.taken([Path("results/none.json")], files) == {}
    assert set(manifest.taken([listed], [files[0], *others])) == {str(listed), str(files[0])}


def test_clearing_removes_files_and_takes_what_is_gone_already_for_done(made):
    _, files = made
    files[0].unlink()
    manifest.clear(files)
    assert not any(file.exists() for file in files)
    assert files[0].parent.is_dir()
