"""What `jobs:` of a configuration says is what every kind of job asks the scheduler for; `device` decides on GPUs."""

import re
import subprocess
import sys
from types import SimpleNamespace

import yaml

from clrepro.paths import ROOT
from clrepro.stages import job as jobs
from tests.workflow.checkout import Checkout

OPTIONS = ("--cores", "64", "--workflow-profile", "none", "--configfile", "config.yaml", "mine.yaml")


def resources(folder, **changes) -> dict[str, dict[str, int]]:
    """Threads, memory, minutes and GPUs that a dry run prints, by rule; of evaluations by rule and stage."""
    checkout = Checkout(folder)
    (folder / "mine.yaml").write_text(yaml.safe_dump({"figures": [], **changes}))
    dry = checkout.run("-n", *OPTIONS).stdout
    found = {}
    for block in re.findall(r"^rule .*?(?=^\[|\Z)", dry, re.M | re.S):
        rule = re.match(r"rule (\w+):", block)[1]
        stage = re.search(r"job=(\w+)", block)
        asked = {name: int(value) for name, value in re.findall(r"\b(threads: |mem_mb=|runtime=|gpu=)(\d+)", block)}
        found[f"{rule} {stage[1]}" if stage else rule] = {name.strip(":= "): value for name, value in asked.items()}
    return found


def test_every_kind_of_job_asks_for_what_the_configuration_says(tmp_path):
    mine = {"runs": 24, "threads": 3, "gpus": 2, "memory_mb": 5000, "runtime_minutes": 70}
    tables = ["nie2023/table_1", "huang2023/table_4", "huang2023/table_5"]
    found = resources(tmp_path, papers=["nie2023", "huang2023"], tables=tables, jobs=mine)
    usual = {"threads": 3, "mem_mb": 5000, "runtime": 70}
    assert found["prepare"] == usual
    assert found["train"] == found["embed"] == {**usual, "gpu": 2}
    assert found["evaluate_checkpoint molecules"] == {
        **usual,
        "runtime": 2880,
        "gpu": 2,
    }  # graph.molecules.runtime_minutes
    assert found["evaluate sts"]["mem_mb"] == 4000
    assert found["evaluate sts"].get("threads", 1) == 1
    assert found["evaluate transfer"]["threads"] == 3
    assert found["evaluate svm"]["mem_mb"] == 8000


def test_a_probe_that_augments_images_asks_for_what_a_training_does(tmp_path):
    digits = {"data": "digits", "architecture": "conv3"}
    mine = {"runs": 24, "threads": 3, "gpus": 2, "memory_mb": 9000, "runtime_minutes": 700}
    asked = dict(papers=["huang2023"], image={"backbones": {"ImageNet100_ResNet-50": digits}}, jobs=mine)
    folders = {table: tmp_path / table for table in ("table_B1", "table_9")}
    for folder in folders.values():
        folder.mkdir()
    found = {name: resources(folder, tables=[f"huang2023/{name}"], **asked)["evaluate features"]
             for name, folder in folders.items()}  # fmt: skip
    assert found["table_B1"] == {"threads": 3, "mem_mb": 9000, "runtime": 700, "gpu": 2}
    assert found["table_9"] == {"mem_mb": 8000, "runtime": 240, "gpu": 0}  # of stored features


def test_several_processes_ask_for_as_much_each(tmp_path):
    mine = {"threads": 3, "gpus": 2, "memory_mb": 5000, "processes": 2}
    found = resources(tmp_path, papers=["nie2023"], tables=["nie2023/table_1"], jobs=mine)
    assert found["train"] == {"threads": 6, "mem_mb": 10000, "runtime": 60, "gpu": 4}
    assert found["embed"] == {"threads": 3, "mem_mb": 5000, "runtime": 60, "gpu": 2}


def test_a_gpu_of_this_machine_waits_for_no_core_and_no_job_waits_for_it_on_one(tmp_path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    mine = {"threads": 3, "gpus": 1, "per_gpu": 2}
    asked = dict(papers=["nie2023"], tables=["nie2023/table_1"], device="auto", jobs=mine)
    (tmp_path / "none").mkdir()
    monkeypatch.setenv("CLREPRO_GPUS", "")
    assert resources(tmp_path / "none", **asked)["train"]["threads"] == 3
    monkeypatch.setenv("CLREPRO_GPUS", "0,1")
    found = resources(tmp_path, **asked)
    assert found["train"]["gpu"] == 1
    assert found["train"].get("threads", 1) == found["embed"].get("threads", 1) == 1
    assert found["evaluate transfer"]["threads"] == 3  # on the CPU
    (tmp_path / "more.smk").write_text("include: 'Snakefile'\nprint('slots', workflow.global_resources['gpu'].value)\n")
    command = [sys.executable, "-m", "snakemake", "-n", "-s", "more.smk", *OPTIONS]
    limits = ([], ["--resources", "gpu=3"])
    printed = [
        subprocess.run([*command, *limit], cwd=tmp_path, capture_output=True, text=True).stdout for limit in limits
    ]
    assert ["slots 4" in printed[0], "slots 3" in printed[1]] == [True, True]


def test_a_job_takes_gpus_only_where_the_device_is_one_and_as_many_share_one_as_the_configuration_says(
    tmp_path, monkeypatch
):
    asked = []

    def placed(gpus, per_gpu):
        asked.append((gpus, per_gpu))
        return jobs.room_for(tmp_path / "output")

    monkeypatch.setattr(jobs, "placed", placed)
    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    for device in ("cpu", "mps", "auto", "cuda"):
        config = {**raw, "device": device, "jobs": {"per_gpu": 5}}
        made = SimpleNamespace(
            rule="train", log=[str(tmp_path / "log")], config=config, resources={"gpu": 2}, output=[tmp_path / "output"]
        )
        with jobs.job(made) as found:
            assert found.device == device
    assert asked == [(0, 5), (0, 5), (2, 5), (2, 5)]
