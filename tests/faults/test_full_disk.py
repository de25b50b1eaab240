"""Full disks and writers that were killed."""

import os
import resource
import shutil
import signal
import subprocess

import pytest
import torch

from clrepro.errors import Interrupted, UserError
from clrepro.paths import read_json, replacing, write_json
from clrepro.training import progress
from tests.faults.stopping import load_best, stops_at
from tests.modalities.sentence.trainings import train, weights


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MB, or None where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True)
    yield folder if done.returncode == 0 else None
    if done.returncode == 0:
        subprocess.run(["umount", "--lazy", folder], check=True)  # tensors may still be mapped from it


def test_a_full_disk_names_place_and_need_and_training_goes_on_after_room_is_made(
    tiny, demo_tasks, tmp_path, monkeypatch, small_disk
):
    """On a small file system; where none can be mounted, a limit on the size of files stands for it."""
    whole = train(tiny, demo_tasks, tmp_path / "whole")
    state = (small_disk or tmp_path) / "parts"
    monkeypatch.setattr(progress.Progress, "due", lambda self: self.step in (6, 8))
    with pytest.raises(Interrupted, match="step 7"):
        train(tiny, demo_tasks, state, stops_at(7, signal.SIGTERM))
    good = {file: file.read_bytes() for file in state.rglob("saved-*/*")}
    with full(small_disk), pytest.raises(UserError) as failure:
        train(tiny, demo_tasks, state)
    said = str(failure.value)
    assert f"cannot write {state / 'saved-8'}: " in said
    assert ("no space left on device" in said) == (small_disk is not None)
    assert " MB needed). Make room and start again: training goes on from step 7" in said
    assert {file: file.read_bytes() for file in state.rglob("saved-*/*")} == good
    assert not list(state.glob("*.new"))
    parts = train(tiny, demo_tasks, state)
    assert parts["history"] == whole["history"]
    one, two = weights(tmp_path / "whole"), load_best(state, parts["best_step"])
    assert all(torch.equal(one[name], two[name]) for name in one)


class full:
    """A disk without room, or files that may not grow beyond 20 kB."""

    def __init__(self, disk):
        self.disk = disk

    def __enter__(self):
        if self.disk:
            free = shutil.disk_usage(self.disk).free
            (self.disk / "filler").write_bytes(b"x" * (free - 20_000))
        else:
            print("no file system can be mounted here: a limit on the size of files stands for a full disk")
            self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, self.before[1]))

    def __exit__(self, *_):
        if self.disk:
            (self.disk / "filler").unlink()
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


def test_a_small_file_on_a_full_disk_keeps_its_old_content_and_leaves_nothing_else(tmp_path, small_disk):
    file = (small_disk or tmp_path) / "record.json"
    write_json(file, {"old": 1})
    with full(small_disk), pytest.raises(UserError, match=r"cannot write .*record\.json: .* Make room and start again"):
        write_json(file, {"new": "x" * 50_000})
    assert read_json(file) == {"old": 1}
    assert [path.name for path in file.parent.iterdir() if "record" in path.name] == ["record.json"]


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path):
    child = os.fork()
    if child == 0:
        with replacing(tmp_path / "a.json") as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".a.json.")
    write_json(tmp_path / "a.json", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
