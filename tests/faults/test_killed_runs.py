"""Runs that were killed, and the jobs that outlive them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clrepro.paths import write_json
from clrepro.workflow import start


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
