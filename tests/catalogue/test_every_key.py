"""Every key of the configuration changes what its description says, and nothing else.

Of the plan, these are compared: the trainings of each modality (their identities), what is prepared for them, how they
are evaluated, which jobs share them, what they cost; keys that reach other places name the test that shows it.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost
from clrepro.catalogue.jobs import Jobs

BASE = configuration.merge(
    configuration.read(configuration.ROOT / "config.yaml"),
    {
        "papers": ["nie2023", "li2024", "huang2023", "oar2024"],
        "tables": [f"huang2023/table_{name}" for name in (3, 4, 5, 9, "B1")] + ["oar2024/table_3"],
        "figures": [],
        "seeds": [1, 2],
        "image": {"backbones": {"ImageNet100_ResNet-50": {"data": "cifar10", "architecture": "resnet8"}}},
    },
)
ST, IT, GT = (f"{modality} trainings" for modality in ("sentence", "image", "graph"))
SP, IP, GP = (f"{modality} preparations" for modality in ("sentence", "image", "graph"))
SE, IE, GE = (f"{modality} evaluations" for modality in ("sentence", "image", "graph"))
JOBS, COST, MINUTES, SIMULATIONS = "jobs", "cost", "minutes of fine-tuning", "simulated figures"
BERT = "sentence.backbones.RoBERTa_base"
RESNET = "image.backbones.CIFAR_ResNet-18"
GIN, MOLECULES = "graph.backbones.GIN_MUTAG", "graph.backbones.GIN_molecules"
SENTENCES, IMAGES, GRAPHS = {ST, JOBS}, {IT, JOBS}, {GT, JOBS}
# key: (where it is set, its value, what changes in the plan). A training's identity is in its jobs as well; what is
# prepared is listed for each training, so that fewer trainings have fewer preparations
CHANGES: dict[str, tuple[str, Any, set[str]]] = {
    "tables": ("tables", ["huang2023/table_3"], {IT, IP, IE, GT, GP, GE, JOBS, COST, MINUTES}),
    "objectives": ("objectives", ["infonce"], {ST, SP, SE, IT, IP, IE, GT, GP, GE, JOBS, COST}),
    "seeds": ("seeds", [1, 3], {ST, IT, GT, SE, IE, GE, JOBS}),
    "figures": ("figures", ["huang2023/graph_epochs"], {GT, GP, GE, JOBS, COST}),
    "grids": ("grids", ["nie2023/L_mpt@BERT_base"], {ST, SP, JOBS, COST}),
    "rows.<name>.objective": ("rows.mine", {"objective": "mpt"}, {ST, SP, SE, JOBS, COST}),
    "simulation.points": ("simulation.points", 7, {SIMULATIONS}),
    "simulation.batches": ("simulation.batches", 7, {SIMULATIONS}),
    "simulation.steps": ("simulation.steps", 7, {SIMULATIONS}),
    "jobs.runs": ("jobs.runs", 3, {JOBS}),
    "jobs.threads": ("jobs.threads", 3, set()),
    "float32.matmul": ("float32.matmul", "tf32", {ST, IT, GT, JOBS}),
    "float32.convolution": ("float32.convolution", "tf32", {ST, IT, GT, JOBS}),
    "hardware.teraflops": ("hardware.teraflops", 5.0, {COST}),
    "sentence.corpus": ("sentence.corpus", "wikipedia-sentences", SENTENCES | {SP, COST}),
    "sentence.corpus_lines": ("sentence.corpus_lines", 2000, SENTENCES | {SP, COST}),
    "sentence.blank_lines": ("sentence.blank_lines", "keep", SENTENCES | {SP}),
    "sentence.tasks": ("sentence.tasks", "senteval-downstream", SENTENCES | {COST}),
    "sentence.protocol": ("sentence.protocol", "test", {SE}),
    **{
        f"sentence.backbones.<name>.{key}": (f"{BERT}.{key}", value, SENTENCES | {SP} | more)
        for key, value, more in (
            ("layers", 3, {COST}), ("hidden_size", 32, {COST}), ("heads", 4, set()),
            ("intermediate_size", 64, {COST}), ("vocabulary", 999, {COST}), ("dropout", 0.3, set()),
            ("mlm_epochs", 3, set()), ("mlm_lines", "all", set()), ("mlm_learning_rate", 0.1, set()),
            ("seed", 3, set()),
        )
    },
    "sentence.backbones.<name>.kind": (BERT, {"kind": "pretrained", "source": "roberta-base"}, SENTENCES | {SP, COST}),
    "sentence.backbones.<name>.source": (
        BERT, {"kind": "pretrained", "source": "roberta-large"}, SENTENCES | {SP, COST}
    ),
    **{
        f"sentence.training.{key}": (f"sentence.training.{key}", value, SENTENCES | more)
        for key, value, more in (
            ("batch_size", 16, {COST}), ("learning_rate", 0.1, set()), ("epochs", 2, {COST}),
            ("evaluate_every", 7, {COST}), ("precision", "bf16", set()), ("max_length", 9, {SP}),
            ("pooling", "cls", set()), ("checkpoint_every", 5, {COST}),
        )
    },
    "image.backbones.<name>.data": (f"{RESNET}.data", "cifar10", IMAGES | {IP, COST}),
    "image.backbones.<name>.architecture": (f"{RESNET}.architecture", "resnet8", IMAGES | {COST}),
    "image.backbones.<name>.stem": (RESNET, {"architecture": "resnet18", "stem": "cifar"}, IMAGES | {COST}),
    "image.backbones.<name>.classes": (f"{RESNET}.classes", "imagenet100", IMAGES | {IP, COST}),
    "image.backbones.<name>.side": (f"{RESNET}.side", 16, IMAGES | {COST}),
    **{
        f"image.training.{key}": (f"image.training.{key}", value, changed)
        for key, value, changed in (
            ("epochs", 3, IMAGES | {COST}), ("batch_divisor", 4, IMAGES | {COST}), ("memory_divisor", 4, IMAGES),
            ("batch_sizes", [128], IMAGES | {IP, IE, COST}), ("learning_rates", [1.0], IMAGES | {IP, IE, COST}),
            ("augmentation", "linear", IMAGES | {COST}), ("probe_epochs", 3, {IE, COST}), ("hidden_divisor", 4, {IE}),
            ("precision", "bf16", IMAGES),
        )
    },
    "graph.backbones.<name>.data": (f"{GIN}.data", "mutag", GRAPHS | {GP, COST}),
    "graph.backbones.<name>.architecture": (
        MOLECULES, {"data": "demo-graphs", "architecture": "gin"}, GRAPHS | {GP, GE, COST, MINUTES}
    ),
    "graph.backbones.<name>.width": (f"{GIN}.width", 4, GRAPHS | {COST}),
    "graph.backbones.<name>.layers": (f"{GIN}.layers", 3, GRAPHS | {COST}),
    "graph.training.epochs": ("graph.training.epochs", 2, GRAPHS | {COST}),
    "graph.training.batch_size": ("graph.training.batch_size", 16, GRAPHS),
    "graph.training.folds": ("graph.training.folds", 3, {GE}),
    "graph.training.inner_folds": ("graph.training.inner_folds", 3, {GE}),
    "graph.runs_per_job": ("graph.runs_per_job", 5, {JOBS}),
    # without a mirror these sets cannot be had, so that nothing is fine-tuned on them
    "graph.molecules.data": ("graph.molecules.data", "moleculenet", GRAPHS | {GP, GE, COST, MINUTES}),
    "graph.molecules.sets": ("graph.molecules.sets", ["BBBP"], {GE, COST}),
    "graph.molecules.seeds": ("graph.molecules.seeds", [3], {GE, COST}),
    "graph.molecules.epochs": ("graph.molecules.epochs", 9, {GE, COST}),
    "graph.molecules.runtime_minutes": ("graph.molecules.runtime_minutes", 7, {MINUTES}),
    "graph.molecules.pretraining.epochs": ("graph.molecules.pretraining.epochs", 7, GRAPHS | {COST}),
    "graph.molecules.pretraining.batch_size": ("graph.molecules.pretraining.batch_size", 16, GRAPHS),
}  # fmt: skip
ELSEWHERE = {  # the test that shows what they do
    "papers": "tests/catalogue/test_planning.py",
    "scale": "tests/test_config.py",
    "mirror": "tests/sources/test_fetch.py",
    "device": "tests/workflow/test_every_job.py",
    "accept_stale": "tests/workflow/test_workflow.py",
    "rows.<name>.variant": "tests/catalogue/test_own_rows.py",
    "rows.<name>.recipe": "tests/catalogue/test_own_rows.py",
    "rows.<name>.settings": "tests/catalogue/test_own_rows.py",
    "ledger.band": "tests/ledger/test_verdicts.py",
    "ledger.alpha": "tests/ledger/test_verdicts.py",
    "jobs.gpus": "tests/workflow/test_every_job.py",
    "jobs.memory_mb": "tests/workflow/test_every_job.py",
    "jobs.runtime_minutes": "tests/workflow/test_every_job.py",
    "jobs.processes": "tests/workflow/test_every_job.py",
    "jobs.per_gpu": "tests/workflow/test_placement.py",
    "hardware.name": "tests/workflow/test_plan.py",
    "hardware.half_teraflops": "tests/catalogue/test_gpus.py",
    "hardware.layer_milliseconds": "tests/catalogue/test_gpus.py",
    "hardware.memory_gb": "tests/catalogue/test_gpus.py",
    "sentence.learning_rate_sweep.rates": "tests/report/test_sweeps.py",
    "sentence.learning_rate_sweep.seed": "tests/report/test_sweeps.py",
    "sentence.training.learning_rates": "tests/report/test_sweeps.py",
    "sentence.backbones.<name>.path": "tests/catalogue/test_every_key.py",
    "image.detection.train": "tests/catalogue/test_detection.py",
    "image.detection.test": "tests/catalogue/test_detection.py",
    "image.detection.settings": "tests/catalogue/test_detection.py",
    "image.detection.runtime_minutes": "tests/catalogue/test_detection.py",
}


def plan(raw: dict[str, Any]) -> dict[str, Any]:
    """What a configuration asks for, part by part."""
    catalogue = Catalogue(configuration.parse(raw))
    jobs = Jobs(catalogue)
    found: dict[str, Any] = {JOBS: [[str(run.folder) for run in part.runs] for part in jobs.bundles.values()]}
    for modality in ("sentence", "image", "graph"):
        runs = [run for run in catalogue.runs if run.modality == modality]
        found[f"{modality} trainings"] = sorted(str(run.folder) for run in runs)
        asked = [(run.seed, one.given) for run, several in jobs.asked_of(runs) for one in several]
        found[f"{modality} evaluations"] = sorted(map(str, asked))
        found[f"{modality} preparations"] = sorted(str(run.backbone.to_prepare) for run in runs)
    total = cost.of_all(catalogue)
    found[COST] = (total.hours, total.gigabytes)
    found[SIMULATIONS] = [(one.name, str(one.settings)) for one in catalogue.simulations]
    fine_tuned = {one.job for one in jobs.evaluations.values() if one.reads == "checkpoint"}
    found[MINUTES] = max(map(jobs.checkpoint_minutes, fine_tuned), default=None)
    return found


def leaves(model: type[BaseModel], place: str = "") -> list[str]:
    """The keys of a configuration that hold values; of a mapping by name, `<name>` stands for any."""
    found = []
    for name, field in model.model_fields.items():
        below = [part for part in parts(field.annotation) if part is not model]
        if not below:
            found.append(f"{place}{name}")
        for part in below:
            inside = "<name>." if is_mapping(field.annotation) else ""
            found += leaves(part, f"{place}{name}.{inside}")
    return list(dict.fromkeys(found))


def is_mapping(annotation: Any) -> bool:
    return get_origin(annotation) is dict or any(is_mapping(part) for part in get_args(annotation))


def parts(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for argument in get_args(annotation) for part in parts(argument)]


@cache
def usual() -> dict[str, Any]:
    return plan(BASE)


@pytest.mark.parametrize("key", CHANGES)
def test_a_key_changes_what_it_says_and_nothing_else(key):
    place, value, expected = CHANGES[key]
    for part in reversed(place.split(".")):
        value = {part: value}
    found = plan(configuration.merge(BASE, value))
    assert {part for part in found if found[part] != usual()[part]} == expected


def test_no_key_is_left_out():
    assert sorted([*CHANGES, *ELSEWHERE]) == sorted(leaves(configuration.model()))
    for key, file in ELSEWHERE.items():
        assert key.split(".")[-1] in (configuration.ROOT / file).read_text("utf-8"), f"{file} says nothing of {key}"


def test_the_path_of_a_backbone_is_what_is_prepared(tmp_path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).touch()
    local = {"sentence": {"backbones": {"RoBERTa_base": {"kind": "pretrained", "path": str(tmp_path)}}}}
    found = plan(configuration.merge(BASE, local))
    assert {part for part in found if found[part] != usual()[part]} == SENTENCES | {SP, COST}
    assert str(tmp_path) in found[SP][0]


NOT_THE_PAPERS = {"sentence.blank_lines": "refuse", "sentence.protocol": "fast"}  # the usual value is not the papers'
KEEPS = {"sentence.training.checkpoint_every", "graph.runs_per_job", "graph.molecules.runtime_minutes"}  # no number
DECIDES = [
    key
    for key, (_, _, changed) in CHANGES.items()
    if key.split(".")[0] in ("sentence", "image", "graph") and "backbones" not in key and key not in KEEPS
]


@pytest.mark.parametrize("key", [*DECIDES, *sorted(KEEPS)])
def test_a_number_compares_with_the_papers_only_under_the_papers_own_settings(key):
    place, value, _ = CHANGES[key]
    value = NOT_THE_PAPERS.get(key, value)
    for part in reversed(place.split(".")):
        value = {part: value}
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    catalogue = Catalogue(configuration.parse(configuration.merge(raw, value)), whole=False)
    modality = key.split(".")[0]
    for other in ("sentence", "image", "graph"):
        expected = other != modality or key in KEEPS
        assert catalogue.compares([SimpleNamespace(modality=other)]) == expected, other
