"""clrepro doctor on machines that stand-ins of nvidia-smi describe."""

import pytest
import torch
from typer.testing import CliRunner

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.cli import app
from clrepro.cli import findings as doctor

H200 = "NVIDIA H200, 580.65, 143771, 9.0"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with these GPUs, and no other program; torch as locked, whatever is installed."""
    monkeypatch.setattr(torch.version, "cuda", "13.2")
    monkeypatch.setattr(torch._C, "_cuda_getArchFlags", lambda: "sm_75 sm_80 sm_86 sm_90 sm_120")
    monkeypatch.setenv("PATH", str(tmp_path))

    def made(*gpus: str, code: int = 0) -> None:
        lines = "".join(f"{gpu}\\n" for gpu in gpus)
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\nprintf '{lines}'\nexit {code}\n")
        program.chmod(0o755)

    return made


def found(what: str, scale: str = "paper", **changes) -> list[doctor.Finding]:
    config = configuration.load(scale).model_copy(update=changes)
    return [one for one in doctor.examine(Catalogue(config)) if one.what == what]


def test_a_gpu_that_fits_and_one_of_a_newer_kind(machine):
    machine(H200, "NVIDIA L40S, 595.1, 46068, 8.9")
    assert [one.state for one in found("GPU")] == ["ok", "ok"]


def test_a_gpu_too_small_for_some_trainings(machine):
    machine("NVIDIA T4, 580.65, 15360, 7.5")
    (one,) = found("GPU")
    assert one.state == "problem"
    assert "too little for " in one.says
    assert "hardware: {memory_gb: 16}" in one.remedy
    (one,) = found("GPU", scale="demo")
    assert one.state == "ok"


@pytest.mark.parametrize(
    ("gpus", "remedy"),
    [
        (["NVIDIA H200, 570.86, 143771, 9.0"], "torch for CUDA 13.2 needs driver 580 or newer"),
        (["Tesla V100-SXM2-32GB, 580.65, 32768, 7.0"], "this torch is built for compute capability 7.5 and newer"),
        ([], "needs one with driver 580 or newer"),
    ],
)
def test_what_the_locked_torch_cannot_use_is_named_with_the_remedy(machine, gpus, remedy):
    machine(*gpus, code=0 if gpus else 9)
    (one,) = found("GPU")
    assert one.state == "problem"
    assert remedy in one.remedy
    assert "device=cpu" in one.remedy
    (one,) = found("GPU", scale="demo")  # on the CPU nothing depends on it
    assert one.state in ("ok", "note")


def test_a_driver_so_old_that_its_program_does_not_know_the_capability(machine, tmp_path):
    machine("Tesla V100-SXM2-32GB, 470.82, 32768")
    program = tmp_path / "nvidia-smi"
    refuses = 'case "$1" in *compute_cap*) echo not a valid field to query; exit 2;; esac'
    program.write_text(program.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{refuses}\n"))
    (one,) = found("GPU")
    assert (one.state, "driver 470.82" in one.says) == ("problem", True)
    assert "needs driver 580 or newer" in one.remedy


def test_a_configuration_that_asks_for_no_gpu_and_a_full_disk_and_a_mirror_that_is_not_there(machine, monkeypatch):
    machine(H200)
    jobs = configuration.load("paper").jobs.model_copy(update={"gpus": 0})
    assert "jobs.gpus is 0" in found("GPU", jobs=jobs)[-1].says
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: doctor.shutil._ntuple_diskusage(2, 1, 1 * 10**9))
    (disk,) = found("disk")
    assert disk.state == "problem"
    assert disk.says.startswith("1.0 GB free in ")
    (mirror,) = found("mirror", mirror="/nowhere")
    assert (mirror.state, mirror.says) == ("problem", "/nowhere")


def test_the_command_says_all_and_its_exit_status_is_the_answer(machine):
    machine()
    good = CliRunner().invoke(app, ["doctor"])
    assert good.exit_code == 0
    assert "nothing here would stop this configuration" in good.output
    bad = CliRunner().invoke(app, ["doctor", "--scale", "paper"])
    assert bad.exit_code == 1
    assert "problem GPU" in bad.output
