"""The papers' theory, put to the test: what their equations, bounds and propositions say and whether it is so.

`check_all` returns one row per statement and form:
    paper      nie2023, li2024, huang2023 or oar2024
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

import pandas as pd
import torch

from clrepro.theory import (
    huang2023,
    huang2023_scaling,
    li2024,
    li2024_ineffective,
    li2024_lemma,
    li2024_modified,
    nie2023,
    nie2023_bounds,
    nie2023_limits,
    oar2024,
    oar2024_appendix,
    oar2024_others,
)
from clrepro.theory._common import VERDICTS, Check

COLUMNS = ("paper", "where", "statement", "form", "checked", "verdict", "detail")
MODULES = (
    nie2023,
    nie2023_limits,
    nie2023_bounds,
    li2024,
    li2024_ineffective,
    li2024_modified,
    li2024_lemma,
    huang2023,
    huang2023_scaling,
    oar2024,
    oar2024_appendix,
    oar2024_others,
)

__all__ = ["COLUMNS", "MODULES", "VERDICTS", "Check", "check_all"]


def check_all() -> pd.DataFrame:
    """All checks as a frame with COLUMNS."""
    rows = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the order of sums, hence rounding, must not depend on the machine
    try:
        for module in MODULES:
            for function in module.CHECKS:
                rows += [
                    (module.PAPER, check.where, check.statement, check.form, check.checked, *check.outcome)
                    for check in function()
                ]
    finally:
        torch.set_num_threads(threads)
    return pd.DataFrame(rows, columns=list(COLUMNS))
