"""The papers' theory, put to the test: what their equations, bounds and propositions say and whether it is so.

A study is a module of this package; a paper names its studies under `theory` of its experiments.yaml.
`check_all` returns one row per statement and form:
    paper      nie2023, ...
    where      "equation (7)", "lemma 1", ...
    statement  what is said, in one sentence of ours
    form       "printed" and "corrected" where the paper's print needs a correction, else ""
    checked    how it was tested
    verdict    "holds"                       in every case, within the tolerance (1e-9 relative unless `checked` says)
               "holds up to a factor"        the two sides are proportional, with one factor (in `detail`) for all cases
               "holds on the tangent plane"  gradients differ along the anchor and agree once projected on the tangent
                                             plane of the sphere, which is all that normalised embeddings feel
               "fails"                       in at least one case; `detail` has the worst
    detail     the margin by which it holds, or a counterexample with its numbers
Verdicts are computed: nothing here states one. Seeds are fixed and one thread is used, so that two runs agree.
Nothing is trained; the objectives of the library are used only where a statement is about their released form.
"""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
import torch

from clrepro.errors import unknown
from clrepro.theory._common import VERDICTS, Check

COLUMNS = ("paper", "where", "statement", "form", "checked", "verdict", "detail")

__all__ = ["COLUMNS", "VERDICTS", "Check", "check_all", "names", "study"]


def names() -> list[str]:
    """The studies that there are."""
    return sorted(file.stem for file in Path(__file__).parent.glob("[!_]*.py"))


def study(name: str, paper: str):
    """The module of a study that a paper names; its CHECKS are functions that yield checks."""
    if name not in names():
        raise unknown("study of theory", name, names(), f"papers/{paper}/experiments.yaml")
    return importlib.import_module(f"clrepro.theory.{name}")


def check_all(studies: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """All checks of the papers' studies, {paper: names}, as a frame with COLUMNS."""
    modules = [(paper, study(name, paper)) for paper, named in studies.items() for name in named]
    rows = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the order of sums, hence rounding, must not depend on the machine
    try:
        for paper, module in modules:
            for function in module.CHECKS:
                rows += [
                    (paper, check.where, check.statement, check.form, check.checked, *check.outcome)
                    for check in function()
                ]
    finally:
        torch.set_num_threads(threads)
    return pd.DataFrame(rows, columns=list(COLUMNS))
