"""IEEE arithmetic or TF32: set before anything is computed, in a run's identity, in its record."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.settings import Float32
from clrepro.stages import evaluate, evaluate_checkpoints, train
from clrepro.training.float32 import choose_arithmetic
from clrepro.workflow import provenance

SET = torch.backends.cuda.matmul, torch.backends.cudnn.conv


@pytest.fixture(autouse=True)
def as_before():
    before = [place.fp32_precision for place in SET]
    yield
    for place, value in zip(SET, before, strict=True):
        place.fp32_precision = value


def configured(**changes):
    return configuration.load("demo").model_copy(update=changes)


def now():
    return [place.fp32_precision for place in SET]


def evaluate_shown(runs, config, shows=True):
    """An evaluation of features, of one that shows the encoder images or of one that reads numbers alone."""
    about = SimpleNamespace(
        file="scores.json", uses_gpu=lambda protocol: shows, resumes=lambda protocol: False, function=lambda: dict
    )
    one = SimpleNamespace(about=about, protocol={}, repeated=lambda function: {}, kinds=[])
    work = SimpleNamespace(load=lambda *place: {})
    run = SimpleNamespace(plan=SimpleNamespace(work_module=lambda: work), name="run", folder=Path("run"))
    evaluate([(run, [one])], config, Path("features"))


@pytest.mark.parametrize("stage", [train, evaluate_checkpoints, evaluate_shown])
def test_every_stage_that_computes_sets_what_the_configuration_says(stage, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for matmul, convolution in (("tf32", "ieee"), ("ieee", "tf32"), ("ieee", "ieee")):
        stage([], configured(device="auto", float32=Float32(matmul=matmul, convolution=convolution)))
        assert now() == [matmul, convolution]
        evaluate_shown([], configured(device="auto", float32=Float32(matmul="tf32", convolution="tf32")), shows=False)
        assert now() == [matmul, convolution]  # what needs no GPU imports no torch to say how one computes


def test_pytorchs_own_default_decides_nothing():
    for place in SET:
        place.fp32_precision = "tf32"
    choose_arithmetic(configured(device="cpu"))
    assert now() == ["tf32", "tf32"]  # nothing there reads it
    choose_arithmetic(configured(device="cuda"))
    assert now() == ["ieee", "ieee"]


def test_tf32_is_another_run_and_ieee_is_the_one_that_was():
    small = {"tables": ["huang2023/table_B3"], "papers": ["huang2023"], "figures": []}
    usual, coarse = (
        {run.folder: run.identity for run in Catalogue(configured(**small, float32=how)).runs}
        for how in (Float32(), Float32(convolution="tf32"))
    )
    assert not usual.keys() & coarse.keys()
    assert all("float32" not in identity["data"] for identity in usual.values())
    assert all(identity["data"]["float32"]["convolution"] == "tf32" for identity in coarse.values())


def test_the_record_of_a_gpu_says_how_it_computed(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA Test")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    choose_arithmetic(configured(device="cuda", float32=Float32(matmul="tf32")))
    found = provenance.hardware("cuda")
    assert (found["gpu"], found["fp32_matmul"], found["fp32_convolution"]) == ("NVIDIA Test", "tf32", "ieee")
    assert "fp32_matmul" not in provenance.hardware("cpu")
