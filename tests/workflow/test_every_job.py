"""What `jobs:` of a configuration says is what every kind of job asks the scheduler for; `device` decides on GPUs."""

import re
from types import SimpleNamespace

import yaml

from clrepro.paths import ROOT
from clrepro.stages import job as jobs
from tests.workflow.checkout import Checkout


def resources(tmp_path, **changes) -> dict[str, dict[str, int]]:
    """Threads, memory, minutes and GPUs that a dry run prints, by rule; of evaluations by rule and stage."""
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"figures": [], **changes}))
    folder = Checkout(tmp_path)
    files = ["--configfile", "config.yaml", "mine.yaml"]
    dry = folder.run("-n", "--cores", "64", "--workflow-profile", "none", *files).stdout
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


def test_several_processes_ask_for_as_much_each(tmp_path):
    mine = {"threads": 3, "gpus": 2, "memory_mb": 5000, "processes": 2}
    found = resources(tmp_path, papers=["nie2023"], tables=["nie2023/table_1"], jobs=mine)
    assert found["train"] == {"threads": 6, "mem_mb": 10000, "runtime": 60, "gpu": 4}
    assert found["embed"] == {"threads": 3, "mem_mb": 5000, "runtime": 60, "gpu": 2}


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
