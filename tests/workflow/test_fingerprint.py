"""Fingerprints: deaf to comments and formatting, alert to every constant, stable over Python versions."""

import ast

import pytest

from clrepro.modalities import MODALITIES
from clrepro.modalities.image.plan import IMAGE
from clrepro.modalities.sentence.plan import SENTENCE
from clrepro.objectives import NAMES
from clrepro.paths import ROOT
from clrepro.workflow import fingerprint

SOURCE = '''"""Module docstring."""
import math

LIMIT = 3.5


def f(x, *, scale: float = 2.0):
    """Docstring."""
    return [x * scale + math.pi, f"{x:.2f} of {LIMIT}"]
'''
SAME = {
    "comment": SOURCE.replace("LIMIT = 3.5", "# why\nLIMIT = 3.5  # because"),
    "docstrings": SOURCE.replace('"""Docstring."""', '"""Another one."""').replace('"""Module docstring."""\n', ""),
    "formatting": SOURCE.replace("x * scale + math.pi", "(x*scale)   +\\\n math.pi")
    .replace('f"', "f'")
    .replace('LIMIT}"', "LIMIT}'"),
}
DIFFERENT = {
    "constant": SOURCE.replace("3.5", "3.6"),
    "default": SOURCE.replace("= 2.0", "= 2.5"),
    "operator": SOURCE.replace("x * scale", "x / scale"),
    "text": SOURCE.replace("of", "out of"),
    "name": SOURCE.replace("scale", "factor"),
}


@pytest.mark.parametrize("change", SAME)
def test_what_changes_no_result_changes_no_fingerprint(change):
    assert SAME[change] != SOURCE
    assert fingerprint.of_source(SAME[change]) == fingerprint.of_source(SOURCE)


@pytest.mark.parametrize("change", DIFFERENT)
def test_what_may_change_a_result_changes_the_fingerprint(change):
    assert fingerprint.of_source(DIFFERENT[change]) != fingerprint.of_source(SOURCE)


def test_the_fingerprint_is_the_same_on_every_python_version():
    # computed once with Python 3.11; other versions run this same test
    assert fingerprint.of_source(SOURCE)[:16] == "1b86ee85a6b9892c"


def of_training(modality, *objectives):
    return fingerprint.of_objectives(modality.code["train"], *objectives)


def modules_of(modality) -> set[str]:
    """All modules that decide what a modality trains, embeds and evaluates, objectives aside."""
    parts = [*modality.code.values(), *(one.code for one in modality.evaluations)]
    return set().union(*(fingerprint.modules(*entries) for entries in parts))


@pytest.mark.parametrize("modality", MODALITIES.values(), ids=MODALITIES)
def test_objectives_do_not_share_fingerprints_and_the_registry_is_left_out(modality):
    assert len({of_training(modality, name) for name in NAMES}) == len(NAMES)
    modules = fingerprint.modules(*modality.code["train"], "clrepro.objectives.modified_mhs")
    assert {"clrepro.objectives.mhs", "clrepro.objectives._similarity", "clrepro.training.loop"} <= set(modules)
    assert "clrepro.objectives" not in modules
    assert "clrepro.objectives.mpt" not in modules
    assert not any(module.startswith(("clrepro.catalogue", "clrepro.report")) for module in modules)


def test_what_oar_is_around_counts_and_what_it_could_be_around_does_not():
    assert "clrepro.objectives.oar" not in fingerprint.modules(*IMAGE.code["train"])
    assert of_training(IMAGE, "oar", "infonce") != of_training(IMAGE, "oar", "nt_xent")


def test_probes_and_loaders_may_change_without_retraining():
    modules = set(fingerprint.modules(*SENTENCE.code["train"]))
    assert not modules & {
        "clrepro.evaluation.senteval.files",
        "clrepro.evaluation.senteval.sts",
        "clrepro.evaluation.senteval.transfer",
    }
    assert "clrepro.evaluation.senteval.files" in fingerprint.modules(*SENTENCE.code["embed"])
    assert "clrepro.objectives._objective" in modules
    modules = set(fingerprint.modules(*IMAGE.code["train"]))
    assert not modules & {
        "clrepro.evaluation.knn",
        "clrepro.evaluation.linear_probe",
        "clrepro.modalities.image.probes",
    }


def test_code_of_one_modality_repeats_no_job_of_another():
    sentence, image = modules_of(SENTENCE), modules_of(IMAGE)
    shared = {name for name in sentence & image if not name.startswith(("clrepro.training", "clrepro.objectives"))}
    assert shared == {"clrepro.device", "clrepro.evaluation", "clrepro.evaluation.statistics"}
    for key, own in (("sentence", sentence), ("image", image)):
        others = {name for name in own if name.startswith("clrepro.modalities.")}
        assert others
        assert all(name.startswith(f"clrepro.modalities.{key}") for name in others)
    assert {name for name in image if name.startswith("clrepro.sources")} == {"clrepro.sources.image_folders"}
    assert not any(name.startswith(("clrepro.evaluation.senteval", "clrepro.sources")) for name in sentence & image)


@pytest.mark.parametrize("modality", MODALITIES.values(), ids=MODALITIES)
def test_a_new_plan_repeats_no_training_and_no_evaluation(modality):
    """How runs are planned, captions and prices: what they decide enters by identities and parameters."""
    planned = {f"clrepro.modalities.{modality.key}.{name}" for name in ("plan", "words", "cost", "section", "recipe")}
    assert all(fingerprint.is_plumbing(module) for module in planned)
    assert not planned & modules_of(modality)
    assert not any(name.startswith(("clrepro.catalogue", "clrepro.report")) for name in modules_of(modality))


def test_what_only_plans_computes_nothing():
    """Planning modules stand in no fingerprint of trainings and evaluations, so they may not touch an array."""
    numeric = {"numpy", "scipy", "sklearn", "torch", "torchvision", "transformers"}
    files = [
        file
        for file in (ROOT / "src/clrepro/modalities").rglob("*.py")
        if fingerprint.is_plumbing(".".join(("clrepro", *file.relative_to(ROOT / "src/clrepro").with_suffix("").parts)))
    ]
    assert len(files) > 12
    for file in files:
        names = {name.name if isinstance(node, ast.Import) else node.module or ""
                 for node in ast.walk(ast.parse(file.read_text("utf-8")))
                 if isinstance(node, ast.Import | ast.ImportFrom) for name in node.names}  # fmt: skip
        assert not numeric & {name.split(".")[0] for name in names}, file
