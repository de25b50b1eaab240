"""Jobs find a free GPU, wait for one, and give it back however they end; on GPUs that are only names."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from clrepro.errors import UserError
from clrepro.workflow import placement
from clrepro.workflow.placement import placed

JOB = """
import sys, time
from pathlib import Path
from clrepro.workflow.placement import placed
gpus, per_gpu, folder, seconds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
with placed(gpus, per_gpu, *[Path(folder)] * bool(folder)) as names:
    begun = time.monotonic()
    print(",".join(names), flush=True)
    time.sleep(seconds)
    print(begun, time.monotonic(), flush=True)
"""


@pytest.fixture(autouse=True)
def four_gpus(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("CLREPRO_GPUS", "0,1,2,3")


def job(folder, gpus=1, per_gpu=1, seconds=60.0) -> subprocess.Popen:
    arguments = [str(gpus), str(per_gpu), str(folder), str(seconds)]
    return subprocess.Popen([sys.executable, "-c", JOB, *arguments], stdout=subprocess.PIPE, text=True)


def test_jobs_get_gpus_of_their_own_and_a_killed_one_frees_its(tmp_path):
    jobs = [job(tmp_path, gpus=2), job(tmp_path), job(tmp_path)]
    try:
        names = [one.stdout.readline().strip() for one in jobs]
        assert sorted(",".join(names).split(",")) == ["0", "1", "2", "3"]
        waiting = job(tmp_path)
        jobs.append(waiting)
        time.sleep(1)
        assert waiting.poll() is None
        jobs[1].send_signal(signal.SIGKILL)
        jobs[1].wait()
        assert waiting.stdout.readline().strip() == names[1]
    finally:
        for one in jobs:
            one.kill()
            one.wait()


def test_no_gpu_ever_has_more_jobs_than_slots_and_none_waits_in_vain(tmp_path):
    """Twelve jobs of one and two GPUs at once, two to a GPU."""
    jobs = [job(tmp_path, gpus=1 + number % 2, per_gpu=2, seconds=0.3) for number in range(12)]
    spans = []
    for one in jobs:
        names, times = one.communicate(timeout=900)[0].splitlines()
        spans += [(name, *map(float, times.split())) for name in names.split(",")]
    assert len(spans) == 6 + 2 * 6
    for name, begun, _ in spans:
        assert sum(other == name and start <= begun < end for other, start, end in spans) <= 2


def test_a_second_job_goes_to_an_empty_gpu_before_it_shares_one(tmp_path):
    with placed(3, 2, tmp_path) as first:
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1,2" == ",".join(first)
        second = job(tmp_path, gpus=3, per_gpu=2)
        assert second.stdout.readline().strip() == ""  # it was given its GPUs by our environment
        second.kill()
        second.wait()
        del os.environ["CUDA_VISIBLE_DEVICES"]
        with placed(2, 2, tmp_path) as second_names:
            assert second_names == ["3", "0"]
        os.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2"
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


@pytest.mark.parametrize("given", ["5", "", "-1"])
def test_what_a_scheduler_chose_stays(tmp_path, monkeypatch, given):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    with placed(1, 1, tmp_path) as names:
        assert names == []
        assert os.environ["CUDA_VISIBLE_DEVICES"] == given
    assert not list(tmp_path.iterdir())


def test_jobs_in_an_allocation_of_several_gpus_get_one_each(tmp_path, monkeypatch):
    """As where SLURM gave a whole node to the job that runs Snakemake."""
    monkeypatch.delenv("CLREPRO_GPUS")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4, 5,7")
    smi(tmp_path, monkeypatch, "4, GPU-d\\n5, GPU-e\\n6, GPU-f\\n")
    locks = tmp_path / "locks"
    with placed(1, 1, locks) as first:
        assert first == ["GPU-d"] == os.environ["CUDA_VISIBLE_DEVICES"].split(",")
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,7")
        with placed(2, 1, locks) as second:
            assert second == ["GPU-e", "7"]  # what nvidia-smi does not list keeps its name
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "4,5,7"
        with pytest.raises(UserError, match="needs 4 GPUs and CUDA_VISIBLE_DEVICES names 3"), placed(4, 1, locks):
            pass


def test_jobs_with_temporary_folders_of_their_own_do_not_share_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("CLREPRO_GPUS", f"test-{os.getpid()}")
    with placed(1, 1) as (name,):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        other = job("")
        time.sleep(1)
        waits = other.poll() is None and not select.select([other.stdout], [], [], 0)[0]
        other.kill()
        other.wait()
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", name)
    for lock in placement.LOCKS.glob(f"{name}-*"):
        lock.unlink()
    assert waits


def test_a_negative_number_ends_the_list_as_cuda_reads_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "6,-1,7")
    assert placement.visible() == ["6"]


def test_no_gpu_asked_for_or_none_there_is_nothing_to_do(tmp_path, monkeypatch):
    with placed(0, 1, tmp_path):
        assert "CUDA_VISIBLE_DEVICES" not in os.environ
    monkeypatch.setenv("CLREPRO_GPUS", "")
    with placed(1, 1, tmp_path):
        assert "CUDA_VISIBLE_DEVICES" not in os.environ
    assert not list(tmp_path.iterdir())


def test_more_gpus_than_the_machine_has_are_refused(tmp_path):
    with pytest.raises(UserError, match="needs 5 GPUs and this machine has 4; lower"), placed(5, 1, tmp_path):
        pass


def test_other_users_may_use_the_locks(tmp_path):
    folder = tmp_path / "locks"
    with placed(1, 1, folder):
        assert (folder.stat().st_mode & 0o7777, (folder / "0-0").stat().st_mode & 0o777) == (0o1777, 0o666)


def smi(folder, monkeypatch, answer: str, code: int = 0) -> None:
    """A program in the place of nvidia-smi."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{answer}'\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_nvidia_smi_names_the_gpus(tmp_path, monkeypatch):
    monkeypatch.delenv("CLREPRO_GPUS")
    smi(tmp_path, monkeypatch, "GPU-1a\\nGPU-2b\\n")
    assert placement.devices() == ["GPU-1a", "GPU-2b"]
    smi(tmp_path, monkeypatch, "GPU-1a\\n", code=9)
    assert placement.devices() == []
