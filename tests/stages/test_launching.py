"""Jobs that start several processes."""

import re
import subprocess
import sys
import time

import pytest
import yaml

from clrepro import config as configuration
from clrepro import stages
from clrepro.catalogue import Catalogue
from clrepro.errors import Interrupted
from clrepro.paths import ROOT, read_json


def of_two_processes(folder, epochs):
    """The catalogue of three small trainings, each by two processes, and one of them."""
    small = yaml.safe_load((ROOT / "tests/cluster/small.yaml").read_text())
    small["sentence"]["training"] |= {"epochs": epochs, "evaluate_every": 10}
    small |= {"papers": ["nie2023"], "tables": []}  # graphs are trained by single processes
    (folder / "two.yaml").write_text(yaml.safe_dump({**small, "jobs": {"processes": 2}}))
    catalogue = Catalogue(configuration.load("demo", [folder / "two.yaml"]))
    return catalogue, next(run for run in catalogue.figure("nie2023/figure_1a").runs if run.group == "dcl")


@pytest.mark.slow
def test_a_training_by_two_processes_saves_when_told_to_stop_and_goes_on(tmp_path, monkeypatch):
    """torchrun and gloo, started by the job itself; one SIGTERM to the job."""
    monkeypatch.chdir(tmp_path)
    catalogue, run = of_two_processes(tmp_path, epochs=4.0)
    for source in catalogue.sources():
        stages.fetch(source, catalogue.config)
    stages.prepare(run.backbone, catalogue.config)
    arguments = ["--configfile", "two.yaml", "--objective", "dcl", "--no-evaluate"]
    command = [sys.executable, "-m", "clrepro.cli", "train", *arguments]
    job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("state/demo/*/best-*")):
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.1)
    job.terminate()
    said = job.communicate(timeout=900)[1]
    assert job.returncode == Interrupted.EXIT_CODE, said
    stopped = re.search(r"^stopped at step (\d+) of 200; the state is saved", said, re.M)
    assert stopped, said
    assert not run.record.exists()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert min(map(int, re.findall(r"step (\d+)/", done.stderr))) > int(stopped[1])
    assert read_json(run.record)["processes"] == 2
