"""Two processes train as one."""

import os
import socket

import pytest
import torch

from clrepro.modalities.sentence import training
from clrepro.modalities.sentence.training import SentenceWorkload
from clrepro.paths import read_json
from clrepro.training import loop
from tests.modalities.sentence.trainings import run_training, weights


class PreciseWorkload(SentenceWorkload):
    """In float64, where the order of a sum does not matter: Adam turns rounding errors into steps."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.model.double()


def train_part(rank, count, paths, state, settings):
    """One of several processes; each starts from the same files."""
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), OMP_NUM_THREADS="1")
    training.SentenceWorkload = PreciseWorkload
    result = run_training(*paths, state, loop.StopFlag(), None, settings)
    assert result is None if rank else result["processes"] == count
    torch.distributed.destroy_process_group()


def test_two_processes_end_in_the_weights_of_one(tiny, demo_tasks, tmp_path, monkeypatch):
    """An epoch of 600 sentences in batches of 38: the last batch of 30 and the global negatives are shared, too."""
    changes = dict(dropout=0.0, batch_size=38, epochs=1.0, evaluate_every=16, head_at_selection=False)
    paths = (*tiny[:2], demo_tasks)
    monkeypatch.setattr(training, "SentenceWorkload", PreciseWorkload)
    alone = run_training(*paths, tmp_path / "one", loop.StopFlag(), None, changes)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        monkeypatch.setenv("MASTER_PORT", str(free.getsockname()[1]))
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    torch.multiprocessing.spawn(train_part, (2, paths, tmp_path / "two", changes), nprocs=2)
    assert alone["steps"] == 16
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        torch.testing.assert_close(two[name], one[name], atol=1e-9, rtol=0)
    statistics = [read_json(tmp_path / state / "statistics.json")["rows"] for state in ("one", "two")]
    assert [row[:2] for row in statistics[0]] == [row[:2] for row in statistics[1]]
    assert [row[2] for row in statistics[0]] == pytest.approx([row[2] for row in statistics[1]], abs=1e-6)
