"""Fingerprints: deaf to comments and formatting, alert to every constant, stable over Python versions."""

import pytest

from clrepro.objectives import NAMES
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


def test_objectives_do_not_share_fingerprints_and_the_registry_is_left_out():
    assert len({fingerprint.of_stage("train", name) for name in NAMES}) == len(NAMES)
    modules = fingerprint.modules(*fingerprint.STAGES["train"], "clrepro.objectives.modified_mhs")
    assert {"clrepro.objectives.mhs", "clrepro.objectives._similarity", "clrepro.training.loop"} <= set(modules)
    assert "clrepro.objectives" not in modules
    assert "clrepro.objectives.mpt" not in modules
    assert not any(module.startswith(("clrepro.catalogue", "clrepro.report")) for module in modules)


def test_probes_and_loaders_may_change_without_retraining():
    modules = set(fingerprint.modules(*fingerprint.STAGES["train"]))
    assert not modules & {
        "clrepro.evaluation.senteval.files",
        "clrepro.evaluation.senteval.sts",
        "clrepro.evaluation.senteval.transfer",
    }
    assert "clrepro.evaluation.senteval.files" in fingerprint.modules(*fingerprint.STAGES["embed"])
    assert "clrepro.objectives._objective" in modules
