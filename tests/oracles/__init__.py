"""Slow reference implementations of contrastive objectives, to be used as test oracles.

Everything here is float64 NumPy storage with plain Python loops over the anchors i and the candidates j.
Nothing is shared with the library under test and nothing is vectorised: each function can be compared line
by line with the equation that its docstring names, misprints of the papers corrected (temperature inside the
exponent, negatives from the other view, min instead of max over distances).

Every objective has the signature ``f(view1, view2, frozen1=None, frozen2=None, **params) -> float`` with raw
(N, D) arrays; state (``queue``, ``labels``, ``anchors``) goes by keyword too. Rows are l2-normalised first: h_i
is row i of ``view1`` and h'_i is row i of ``view2``, both of unit length. s_ij = h_i . h'_j, a_ij = h_i . h_j,
b_ij = h'_i . h'_j; the positive of anchor i is s_ii. x~ is x with the anchors that gradient dissipation switches
off replaced by constants.

Stop-gradients: what an equation detaches, sg[.], is computed from ``frozen1`` and ``frozen2``, which are the
views themselves unless given, and everything else from ``view1`` and ``view2``. The gradient of an objective at
(u, u') is therefore the numeric gradient of ``lambda a, b: f(a, b, u, u', **params)`` at (u, u').

Variants:

- ``released``: the formula as computed by the code released with the paper.
- ``written``: the formula as printed in the paper, misprints corrected.
- ``original``: the formula of the authors of the objective, where another paper's form is ``released``.
- ``released_li2024``: the formula as computed by the code released with Li et al. (2024).
"""

from tests.oracles import adaptive, contrastive, modified, non_contrastive, paradigm, triplet
from tests.oracles.common import golden_views, numeric_gradient
from tests.oracles.golden import GOLDEN
from tests.oracles.oar import make_oar

ORACLES = {
    ("infonce", "released"): contrastive.infonce,
    ("nt_xent", "written"): contrastive.nt_xent,
    ("arccon", "released"): contrastive.arccon,
    ("dcl", "released"): contrastive.dcl,
    ("dcl", "original"): contrastive.dcl_original,
    ("dcl_plus", "released"): contrastive.dcl_plus,
    ("infonce_mixup", "written"): contrastive.infonce_mixup,
    ("align_uniform", "released"): contrastive.align_uniform_released,
    ("align_uniform", "written"): contrastive.align_uniform_written,
    ("macl", "released"): adaptive.macl,
    ("flatnce", "released"): adaptive.flatnce,
    ("dual_temperature", "released"): adaptive.dual_temperature,
    ("mpt", "released"): triplet.mpt_released,
    ("mpt", "written"): triplet.mpt_written,
    ("mpt", "released_li2024"): triplet.mpt_released_li2024,
    ("met", "released"): triplet.met_released,
    ("met", "written"): triplet.met_written,
    ("met", "released_li2024"): triplet.met_released_li2024,
    ("mat", "released"): triplet.mat_released,
    ("mat", "written"): triplet.mat_written,
    ("mat", "released_li2024"): triplet.mat_released_li2024,
    ("paradigm", "released"): paradigm.paradigm_released,
    ("paradigm", "written"): paradigm.paradigm_written,
    ("mhe", "released"): non_contrastive.mhe_released,
    ("mhe", "written"): non_contrastive.mhe_written,
    ("mhs", "released"): non_contrastive.mhs_released,
    ("mhs", "written"): non_contrastive.mhs_written,
    ("barlow_twins", "released"): non_contrastive.barlow_twins_released,
    ("barlow_twins", "written"): non_contrastive.barlow_twins_written,
    ("barlow_twins", "original"): non_contrastive.barlow_twins_original,
    ("vicreg", "released"): non_contrastive.vicreg_released,
    ("vicreg", "written"): non_contrastive.vicreg_written,
    ("vicreg", "original"): non_contrastive.vicreg_original,
    ("modified_mhe", "released"): modified.modified_mhe_released,
    ("modified_mhe", "written"): modified.modified_mhe_written,
    ("modified_mhs", "released"): modified.modified_mhs_released,
    ("modified_mhs", "written"): modified.modified_mhs_written,
    ("modified_barlow_twins", "released"): modified.modified_barlow_twins_released,
    ("modified_barlow_twins", "written"): modified.modified_barlow_twins_written,
    ("modified_vicreg", "released"): modified.modified_vicreg_released,
    ("modified_vicreg", "written"): modified.modified_vicreg_written,
}
ORACLES["oar", "written"] = make_oar(dict(ORACLES))

__all__ = ["GOLDEN", "ORACLES", "golden_views", "numeric_gradient"]
