r"""OAR, orthonormal anchor regression around a base objective: labelled examples drawn to fixed anchors.

    L = base(u, u') + lam / M sum_{i labelled} [ (1 - cos(u_i, c_{y_i})) + (1 - cos(u'_i, c_{y_i})) ]

c: (k, D) orthonormal rows, one a class, drawn before training (`_anchors.orthonormal_anchors`) and fixed.
Source: orthonormal anchors regression 2024, equation (2). No code was released. The paper does not say how the
two terms are weighed, which views are drawn, nor how the anchors are drawn; ours: both views, lam = 1, anchors from
the QR decomposition of a Gaussian matrix. reduction "sum": M = 1, as printed, where equations (1) and (2) are sums over
rows; "mean": M = 2N. A base that has the parameter takes the same reduction. `base` is any other objective, and takes
its own parameters beside these; one with a lam of its own keeps its default.

Siblings: lam = 0, or no labels, is the base objective.
Negatives: those of its base.
When: some labels are known, and a large learning rate makes the base collapse.
Cites: oar2024.
"""

import importlib
from typing import Any, Literal

from torch import Tensor

from clrepro.objectives import default_variant, signatures
from clrepro.objectives._similarity import normalise, paired_cosines


def oar(
    view1: Tensor,
    view2: Tensor,
    *,
    base: str = "infonce",
    base_variant: str | None = None,
    lam: float = 1.0,
    reduction: Literal["mean", "sum"] = "mean",
    labels: Tensor | None = None,
    anchors: Tensor | None = None,
    **parameters: Any,
) -> Tensor:
    """base, base_variant: an objective; lam >= 0; labels: (N,) int64, negative where unknown. Returns a scalar."""
    variants = importlib.import_module(f"clrepro.objectives.{base}").VARIANTS
    variant = base_variant or default_variant(variants)
    if "reduction" in signatures(base)[variant]:
        parameters["reduction"] = reduction
    loss = variants[variant](view1, view2, **parameters)
    if labels is None:
        return loss
    if anchors is None:
        raise ValueError("oar needs anchors=(classes, D) beside labels; see clrepro.objectives._anchors")
    # targets: (N, D), the anchor of every example; unknown labels take any and count nothing
    targets = anchors.to(view1.dtype)[labels.clamp(min=0)]
    pulls = sum(1 - paired_cosines(normalise(view), targets) for view in (view1, view2))
    return loss + lam * (pulls * (labels >= 0)).sum() / (2 * len(labels) if reduction == "mean" else 1)


VARIANTS = {"written": oar}
