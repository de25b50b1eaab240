"""Orthonormal anchor regression on top of any other objective."""

import math

from tests.oracles.common import dot, two_views

# Variants other than ``released`` that a base has by default, and the default lam of the bases that have one
# (``lam`` given to the sum is the weight of the regression).
DEFAULT_VARIANTS = {"nt_xent": "written", "infonce_mixup": "written"}
BASE_LAM = {
    "align_uniform": 0.1,
    "infonce_mixup": 0.4,
    "mhe": 10.0,
    "mhs": 1.0,
    "barlow_twins": 30.0,
    "vicreg": 30.0,
    "modified_mhe": 1.0,
    "modified_mhs": 1.0,
    "modified_barlow_twins": 1.0,
    "modified_vicreg": 1.0,
}


def make_oar(bases):
    """Return the oracle; ``bases`` maps (name, variant) to the oracle of the base."""

    def oar(
        view1,
        view2,
        frozen1=None,
        frozen2=None,
        *,
        base,
        lam,
        reduction,
        labels=None,
        anchors=None,
        base_variant=None,
        **base_params,
    ):
        """Equation (2): base + lam/(2N) sum over labelled i of (1 - cos(u_i, c_{y_i})) + (1 - cos(u'_i, c_{y_i})).

        A label of -1 means unlabelled; the base has its default variant unless one is named. ``sum``: the regression
        is not divided by 2N, nor are the anchors' terms of a base that is a mean over anchors.
        """
        h, hp = two_views(view1, view2)
        n = len(h)
        if base in BASE_LAM:
            base_params.setdefault("lam", BASE_LAM[base])
        key = (base, base_variant or DEFAULT_VARIANTS.get(base, "released"))
        if base in ("nt_xent", "dcl"):
            base_params["reduction"] = reduction
        loss = bases[key](view1, view2, frozen1, frozen2, **base_params)
        if labels is None:
            return loss
        total = 0.0
        for i in range(n):
            label = int(labels[i])
            if label < 0:
                continue
            anchor = [float(x) for x in anchors[label]]
            length = math.sqrt(dot(anchor, anchor))
            total += 1.0 - dot(h[i], anchor) / length
            total += 1.0 - dot(hp[i], anchor) / length
        return loss + lam * total / {"sum": 1, "mean": 2 * n}[reduction]

    return oar
