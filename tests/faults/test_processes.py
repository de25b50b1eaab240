"""Several processes of one training, and several trainings of one run."""

import os
import signal
import socket
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from clrepro.errors import Interrupted
from clrepro.training import loop
from clrepro.training.alone import alone
from clrepro.workflow import locks
from tests.faults.stopping import stops_at
from tests.modalities.sentence.trainings import run_training

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
    bests = [  # an earlier one stays as long as a saved state names it
        max((tmp_path / state).glob("best-*"), key=lambda folder: int(folder.name.split("-")[1]))
        for state in ("whole", "parts")
    ]
    assert bests[0].name == bests[1].name
    one, two = (load_file(best / "model.safetensors") for best in bests)
    assert all(torch.equal(one[name], two[name]) for name in one)


# runs that were killed, and the jobs that outlive them


def test_a_training_waits_for_the_process_that_trains_the_same_run(tmp_path, capsys):
    code = (
        "import sys; from pathlib import Path; from clrepro.workflow import locks; "
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
