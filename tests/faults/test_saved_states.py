"""Saved states that are not what they should be, full disks, memory, signals; two processes; jobs that outlive their
workflow."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from clrepro import objectives
from clrepro.errors import Interrupted, UserError
from clrepro.modalities.sentence.training import SentenceWorkload
from clrepro.paths import read_json, replacing, write_json
from clrepro.stages.training import alone
from clrepro.training import loop, progress, saved
from clrepro.workflow import locks, start
from tests.test_training import run_training, train, weights


@pytest.fixture
def parts(tiny, demo_tasks, tmp_path, monkeypatch):
    """A whole training, and one that was stopped at step 14 with states saved at steps 11 and 14."""
    whole = train(tiny, demo_tasks, tmp_path / "whole")
    monkeypatch.setattr(progress.Progress, "due", lambda self: self.step % 11 == 0)
    state = tmp_path / "parts"
    with pytest.raises(Interrupted, match="stopped at step 14 of 19"):
        train(tiny, demo_tasks, state, stops_at(14, signal.SIGUSR1))
    assert [path.name for path in saved.saved_states(state)] == ["saved-11", "saved-14"]

    def end():
        seen = []
        objective = objectives.make("infonce")
        result = train(tiny, demo_tasks, state, lambda a, b: seen.append(1) or objective(a, b))
        assert result["history"] == whole["history"]
        one, two = weights(tmp_path / "whole"), load_best(state, result["best_step"])
        assert all(torch.equal(one[name], two[name]) for name in one)
        return 19 - len(seen), result["best_step"]

    return state, end


def stops_at(step, number):
    objective, steps = objectives.make("infonce"), [0]

    def interrupted(view1, view2):
        steps[0] += 1
        if steps[0] == step:
            os.kill(os.getpid(), number)
        return objective(view1, view2)

    return interrupted


def load_best(state, step):
    return load_file(state / f"best-{step}" / "model.safetensors")


def truncate(saved):
    os.truncate(saved / "state.pt", 1000)


def flip(saved):
    content = bytearray((saved / "state.pt").read_bytes())
    content[len(content) // 2] ^= 1
    (saved / "state.pt").write_bytes(content)


def make_foreign(saved):
    about = read_json(saved / "about.json")
    write_json(saved / "about.json", {**about, "run": "abcdef01-seed7-0123456789abcdef-01234567"})


def lose_checkpoint(saved):
    about = read_json(saved / "about.json")
    write_json(saved / "about.json", {**about, "best_step": 13})


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (truncate, r"is truncated: state.pt has 1,000 of [\d,]+ bytes"),
        (flip, "is damaged: the sha256 of state.pt is not the recorded one"),
        (make_foreign, "is foreign: it belongs to step 14 of abcdef01-seed7-0123456789abcdef-01234567"),
        (lose_checkpoint, "names the checkpoint best-13, which is missing"),
        (lambda saved: (saved / "about.json").write_text('{"form'), "cannot be read"),
        (lambda saved: (saved / "about.json").write_text('{"format": "x"}'), "is no 'clrepro training state 2'"),
    ],
)
def test_a_spoilt_state_is_refused_by_name_and_the_one_before_it_used(parts, capfd, spoil, reason):
    state, end = parts
    spoil(state / "saved-14")
    start, best = end()
    assert start == 11
    said = capfd.readouterr().err
    (line,) = [line for line in said.splitlines() if "not used" in line]
    assert re.search(f"saved-14 {reason}", line)
    assert (state / "refused-saved-14").is_dir()
    saved.finish(state, best)
    assert {path.name for path in state.iterdir()} == {f"best-{best}", "statistics.json"}


def test_without_any_good_state_training_starts_anew_and_says_so(parts, capfd):
    state, end = parts
    truncate(state / "saved-14")
    (state / "saved-11" / "state.pt").unlink()
    assert end()[0] == 0
    assert f"{state} has no state that can be used: this training starts anew" in capfd.readouterr().err


def test_the_checkpoint_that_the_older_state_names_stays_until_none_names_it(tiny, demo_tasks, tmp_path, monkeypatch):
    scores = iter([0.2, 0.9, 0.95])
    monkeypatch.setattr(SentenceWorkload, "select", lambda self, vectors, device: {"stsb_dev": next(scores)})
    monkeypatch.setattr(progress.Progress, "due", lambda self: True)
    kept = {}
    save = progress.Progress.save

    def watched(self, generators):
        save(self, generators)
        kept[self.step] = {folder.name for folder in tmp_path.glob("best-*")}

    monkeypatch.setattr(progress.Progress, "save", watched)
    train(tiny, demo_tasks, tmp_path)
    assert kept[5] == kept[9] == {"best-5"}
    assert kept[10] == {"best-5", "best-10"}  # the state of step 9 still names the older one
    assert kept[11] == {"best-10"}
    assert kept[15] == {"best-10", "best-15"}


def test_saves_are_rare_when_they_are_dear_but_never_further_apart_than_ten_minutes(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    made = progress.Progress(tmp_path, None, None, None, None)
    for cost, wait in ((0.1, 60), (5, 100), (300, 600)):
        made.cost = cost
        clock[0] = wait - 0.1
        assert not made.due()
        clock[0] = wait + 0.1
        assert made.due()


# full disks


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


# several processes


def train_part(rank, paths, state, settings, stop_at):
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", OMP_NUM_THREADS="1")
    objective = stops_at(stop_at, signal.SIGTERM) if stop_at and rank else None
    try:
        with loop.StopFlag() as stop:
            run_training(*paths, state, stop, objective, settings)
    except Interrupted:
        assert stop_at
    finally:
        torch.distributed.destroy_process_group()


def test_two_processes_resume_to_the_bit_with_dropout_in_both(tiny, demo_tasks, tmp_path, monkeypatch):
    """The second process alone gets the signal; both stop at the next look, and each goes on with its own masks."""
    settings = dict(batch_size=40, epochs=1.0, evaluate_every=4)
    paths = (*tiny[:2], demo_tasks)
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    for state, stop_at in (("whole", 0), ("parts", 6), ("parts", 0)):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            monkeypatch.setenv("MASTER_PORT", str(free.getsockname()[1]))
        torch.multiprocessing.spawn(train_part, (paths, tmp_path / state, settings, stop_at), nprocs=2)
        assert (state == "parts") == (tmp_path / state / "saved-8").is_dir()
    bests = [sorted((tmp_path / state).glob("best-*"))[-1] for state in ("whole", "parts")]
    assert bests[0].name == bests[1].name
    one, two = (load_file(best / "model.safetensors") for best in bests)
    assert all(torch.equal(one[name], two[name]) for name in one)


# runs that were killed, and the jobs that outlive them


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(start.MARK, raising=False)
    (tmp_path / ".snakemake/locks").mkdir(parents=True)
    return tmp_path


DEAD_RUN = """
import os, subprocess, sys
from safetensors.torch import load_file

from clrepro.workflow import start
mark = start.begin()
open(".snakemake/locks/0.output.lock", "w").write("results/x")
job = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
print(job.pid, flush=True)
sys.stdin.read(1)
os.kill(os.getpid(), 9)
"""


def start_run(directory):
    run = subprocess.Popen(
        [sys.executable, "-c", DEAD_RUN], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return run, int(run.stdout.readline())


def test_a_live_run_keeps_its_lock_and_is_named(directory, capsys):
    run, job = start_run(directory)
    mark = start.begin()
    assert f"process {run.pid} on " in capsys.readouterr().err
    assert (directory / ".snakemake/locks/0.output.lock").exists()
    start.end_orphans(mark)
    assert running(job)
    run.communicate("x")
    os.kill(job, signal.SIGKILL)


def test_a_killed_run_loses_its_lock_and_its_jobs_and_nobody_elses(directory, capsys):
    run, job = start_run(directory)
    bystander = subprocess.Popen(["sleep", "600"], env={**os.environ, start.MARK: "0" * 32})
    run.communicate("x")
    assert run.returncode == -signal.SIGKILL
    assert running(job)
    mark = start.begin()
    assert f"An earlier run here was killed (process {run.pid} on " in capsys.readouterr().err
    assert not list((directory / ".snakemake/locks").iterdir())
    start.end_orphans(mark)
    assert not running(job)
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
    assert [file.stem for file in start.FOLDER.iterdir()] == [mark]


def test_a_run_of_another_machine_keeps_its_lock(directory, capsys):
    (directory / ".snakemake/locks/0.output.lock").write_text("results/x")
    write_json(start.FOLDER / "ab.json", {"pid": 7, "host": "elsewhere", "since": "yesterday"})
    start.begin()
    said = capsys.readouterr().err
    assert "process 7 on elsewhere since yesterday" in said
    assert "snakemake --unlock" in said
    assert (directory / ".snakemake/locks/0.output.lock").exists()


def running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_a_training_waits_for_the_process_that_trains_the_same_run(tmp_path, capsys):
    code = (
        "import sys; from pathlib import Path; from clrepro import locks; "
        f"handle = locks.hold(Path({str(tmp_path / 'lock')!r})); print(1, flush=True); sys.stdin.read(1)"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other.stdout.readline()
    stop = loop.StopFlag()
    stop.requested = True
    with pytest.raises(Interrupted, match=f"being trained by process {other.pid} on "), alone(tmp_path, stop):
        raise AssertionError
    other.kill()
    other.wait()
    with alone(tmp_path, loop.StopFlag()):
        assert locks.is_held(tmp_path / "lock")
    assert not locks.is_held(tmp_path / "lock")
