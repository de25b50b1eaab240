"""Prices on named GPUs, memory of trainings, and a step measured on this machine."""

from dataclasses import replace

import pytest
import torch

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost
from clrepro.catalogue.gpus import DATASHEETS, START_SECONDS, gpu, parts_of
from clrepro.cli import plan_gpus, plan_measured
from clrepro.modalities.image.rehearsal import rehearsal as of_images
from clrepro.modalities.run import RUNTIME_GB
from clrepro.modalities.sentence.rehearsal import rehearsal as of_sentences
from clrepro.paths import ROOT
from clrepro.settings import Hardware
from clrepro.training.rehearsal import kept_bytes


def first(catalogue, key, **recipe):
    fits = lambda run: all(getattr(run.recipe, name) == value for name, value in recipe.items())  # noqa: E731
    return next(run for run in catalogue.runs if run.backbone.key == key and run.objective and fits(run))


@pytest.fixture(scope="module")
def parts(paper_scale):
    return parts_of(paper_scale)


def test_hours_follow_the_slower_of_arithmetic_and_of_starting_kernels():
    unit = Hardware(teraflops=2.0, half_teraflops=8.0, layer_milliseconds=3.6)
    assert unit.hours(7.2e15) == 1
    assert unit.hours(7.2e15, "fp16") == unit.hours(7.2e15, "bf16") == 0.25
    assert unit.hours(7.2e15, "fp16", layer_steps=500_000) == 0.5
    assert Hardware(teraflops=2.0).hours(7.2e15, "bf16", layer_steps=10**9) == 1


def test_simcse_on_an_h100_is_a_matter_of_starting_kernels(paper_scale):
    run = first(paper_scale, "BERT_base", precision="fp16", batch_size=64)
    config = paper_scale.config.model_copy(update={"hardware": gpu("H100")})
    looks = 125 * 4000 * 26 * 2 * 12 * (4 * 768**2 + 2 * 768 * 3072) / (0.5 * 67e12)
    assert run.plan.cost(config, run).training * 3600 == pytest.approx(15_625 * 12 * 1.9e-3 + looks, rel=1e-3)


def test_what_only_a_mirror_has_is_priced_apart(parts, paper_scale):
    ours, apart = parts
    assert set(ours.runs) == set(paper_scale.runs)
    assert {run.backbone.key for run in apart.runs} == {"ImageNet_ResNet-50", "ImageNet100_ResNet-50"}
    assert "imagenet-1k" in apart.title
    hours = {name: apart.hours(name) for name in DATASHEETS}
    assert hours["V100"]["hours"] > hours["A100"]["hours"] > hours["H100"]["hours"] == hours["H200"]["hours"]
    # every picture is read in every epoch, once for both views
    assert hours["V100"]["decoding"] == hours["H200"]["decoding"] > 0
    assert ours.hours("A100")["decoding"] == 0


def test_components_add_up_to_the_price(parts, paper_scale):
    found = parts[0].hours("A100")
    assert found["hours"] == pytest.approx(sum(found[key] for key in ("training", "embedding", "fine_tuning", "start")))
    assert found["start"] == pytest.approx(parts[0].gpu_jobs * START_SECONDS / 3600)
    config = paper_scale.config.model_copy(update={"hardware": gpu("A100")})
    assert cost.of_runs_evaluated(paper_scale, paper_scale.runs, config).training == pytest.approx(found["training"])


@pytest.mark.parametrize(
    ("key", "make", "optimiser"),
    [("BERT_base", of_sentences, 2), ("BERT_large", of_sentences, 2), ("CIFAR_ResNet-18", of_images, 1),
     ("CIFAR10_ResNet-18", of_images, 1), ("CIFAR100_ResNet-50", of_images, 1)],
)  # fmt: skip
def test_memory_is_what_a_forward_pass_keeps_on_the_meta_device(paper_scale, key, make, optimiser):
    run = first(paper_scale, key, precision="fp32")  # what the meta device computes in
    made = make(run, torch.device("meta"), 16)
    weights = 4 * sum(part.numel() for part in made.model.parameters())
    found = (2 + optimiser) * weights + kept_bytes(made) * run.recipe.batch_size / 16
    estimate = (run.plan.memory_gb(run) - RUNTIME_GB) * 1e9
    assert estimate == pytest.approx(found, rel=0.1)


def test_what_is_kept_is_counted_once_and_without_weights():
    from clrepro.training.rehearsal import Rehearsal

    with torch.device("meta"):
        model = torch.nn.Sequential(torch.nn.Linear(10, 20, bias=False), torch.nn.Tanh(), torch.nn.Linear(20, 5))
        inputs = torch.empty(7, 10)
    # the input, and tanh's result, which the second layer shares
    assert kept_bytes(Rehearsal(model, lambda: [(model(inputs), None, {})])) == 4 * 7 * (10 + 20)


def test_a_training_that_overflows_the_memory_is_a_hole_with_its_reason(tmp_path):
    (tmp_path / "imagenet").mkdir()
    config = configuration.load("paper")
    change = {"mirror": str(tmp_path), "papers": ["huang2023"], "figures": []}
    whole = Catalogue(config.model_copy(update=change))
    small = Catalogue(config.model_copy(update=change | {"hardware": Hardware(memory_gb=80)}))
    left_out = set(whole.runs) - set(small.runs)
    assert left_out
    assert all(run.plan.memory_gb(run) > 80 for run in left_out)
    assert all(run.plan.memory_gb(run) <= 80 for run in small.runs)
    reasons = {cell.hole for table in small.tables for cell in table.cells if cell.hole}
    assert any("GB of a GPU's memory, `hardware.memory_gb` is 80" in reason for reason in reasons)


def test_only_the_chosen_objectives_are_trained():
    catalogue = Catalogue(configuration.load("paper", [ROOT / "config/simcse.yaml"]))
    assert {(run.objective, run.backbone.key) for run in catalogue.runs} == {("infonce", "BERT_base")}
    assert {run.seed for run in catalogue.runs} == {42, 43, 44}


def test_the_plan_prints_hours_and_names_what_overflows(parts, capsys):
    plan_gpus.print_hours(parts[1])
    text = capsys.readouterr().out
    assert "V100     A100     H100     H200" in text
    assert "TOO LARGE for one H200: 12 trainings; ImageNet_ResNet-50 at batch 2048 needs about 354 GB." in text


def test_steps_are_measured_for_every_kind_of_training(monkeypatch, capsys):
    monkeypatch.setattr("clrepro.training.rehearsal.MEASURED", 1)
    config = configuration.load("demo")
    catalogue = Catalogue(config.model_copy(update={"papers": ["huang2023"], "figures": []}))
    plan_measured.print_measured(catalogue)
    lines = capsys.readouterr().out.splitlines()
    kinds = plan_measured.kinds(catalogue)
    timed = [line.split() for line in lines if " fp32 " in line]
    # encoder, framework if there is one, precision, batch, runs, ms a step, hours
    assert {(row[0], int(row[-4]), int(row[-3])) for row in timed} == {
        (key, size, len(runs)) for (key, _, _, size), runs in kinds.items()
    }
    assert len(timed) == len(kinds) > 3
    assert all(float(row[-2]) > 0 for row in timed)
    trained = [run for run in catalogue.runs if run.objective and run.plan.rehearsal]
    assert sum(len(runs) for runs in kinds.values()) == len(trained)
    (total,) = (float(line.split()[0]) for line in lines if "hours here" in line)
    assert total == pytest.approx(sum(float(row[-1]) for row in timed), abs=0.05 * (1 + len(timed)))


def test_looks_at_development_data_are_whole_ones(paper_scale):
    run = first(paper_scale, "BERT_base", batch_size=64, precision="fp32")
    often = run.recipe.model_copy(update={"evaluate_every": 9_000, "checkpoint_every": None})
    never = run.recipe.model_copy(update={"evaluate_every": 10**6, "checkpoint_every": None})
    one, none = (cost.of_run(paper_scale, replace(run, recipe=how)).training for how in (often, never))
    weights = 12 * (4 * 768**2 + 2 * 768 * 3072)
    assert (one - none) * 3600 * 1e13 == pytest.approx(2 * 4000 * 26 * weights, rel=1e-6)  # one, of 15,625 steps


def test_probes_are_priced_where_they_are_asked(paper_scale):
    run = first(paper_scale, "BERT_base")
    asked = {one.name: run.plan.cost_of(paper_scale.config, run, one).probing for one in run.plan.evaluations}
    assert asked == {"sts": 0, "transfer": pytest.approx(44.8 / 3600)}
    assert cost.of_run(paper_scale, run).probing == 0
