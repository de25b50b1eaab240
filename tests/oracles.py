"""Slow reference implementations of contrastive objectives, to be used as test oracles.

Everything here is float64 NumPy storage with plain Python loops over the anchors i and the candidates j.
Nothing is shared with the library under test and nothing is vectorised: each function can be compared line
by line with the equation that its docstring names. Equation numbers are those of Nie et al. (ICLR 2023),
read with their known misprints corrected (temperature inside the exponent, negatives from the other view).

Every objective has the signature ``f(view1, view2, **params) -> float`` with raw (N, D) arrays. Rows are
l2-normalised first: h_i is row i of ``view1`` and h'_i is row i of ``view2``, both of unit length. The
cross-view similarity is s_ij = h_i . h'_j; the positive of anchor i is s_ii.

Variants:

- ``released``: the formula as computed by the code released with Nie et al.
- ``written``: the formula as printed in the paper, misprints corrected.
- ``released_li2024``: the formula as computed by the code released with Li et al. (2024).
"""

import math

import numpy as np


def _unit_rows(view):
    """Return the rows of ``view`` as lists of floats, each divided by its Euclidean norm."""
    rows = []
    for raw in np.asarray(view, dtype=np.float64):
        norm = math.sqrt(sum(float(x) * float(x) for x in raw))
        rows.append([float(x) / norm for x in raw])
    return rows


def _two_views(view1, view2, at_least=2):
    """Normalise both views and insist on equal shapes and on enough rows to have a negative."""
    if np.shape(view1) != np.shape(view2) or np.ndim(view1) != 2:
        raise ValueError("both views must be (N, D) arrays of the same shape")
    if np.shape(view1)[0] < at_least:
        raise ValueError(f"this objective needs at least {at_least} rows")
    return _unit_rows(view1), _unit_rows(view2)


def _dot(a, b):
    """Dot product a . b."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def _distance(a, b):
    """Euclidean distance ||a - b||, taken from the difference (never from the dot product)."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return math.sqrt(total)


def _angle(a, b):
    """Angle in radians between two unit vectors; the cosine is kept inside [-1, 1] against rounding."""
    return math.acos(min(1.0, max(-1.0, _dot(a, b))))


# Equations (1), (5), (10): InfoNCE and its decoupled forms.


def infonce(view1, view2, temperature):
    """Equation (1): mean over i of -s_ii/tau + log sum over all j (j = i included) of exp(s_ij/tau)."""
    h, hp = _two_views(view1, view2, at_least=1)
    n = len(h)
    total = 0.0
    for i in range(n):
        logits = []
        for j in range(n):
            logits.append(_dot(h[i], hp[j]) / temperature)
        shift = max(logits)
        denominator = 0.0
        for j in range(n):
            denominator += math.exp(logits[j] - shift)
        total += -logits[i] + shift + math.log(denominator)
    return total / n


def _dcl_terms(view1, view2, temperature):
    """Equation (5) per anchor: -s_ii/tau + log sum over j != i of exp(s_ij/tau)."""
    h, hp = _two_views(view1, view2)
    n = len(h)
    terms = []
    for i in range(n):
        negatives = []
        for j in range(n):
            if j != i:
                negatives.append(_dot(h[i], hp[j]) / temperature)
        shift = max(negatives)
        denominator = 0.0
        for logit in negatives:
            denominator += math.exp(logit - shift)
        terms.append(-_dot(h[i], hp[i]) / temperature + shift + math.log(denominator))
    return terms


def dcl(view1, view2, temperature):
    """Equation (5): InfoNCE without the positive in the denominator, mean over i. May be negative."""
    terms = _dcl_terms(view1, view2, temperature)
    return sum(terms) / len(terms)


def dcl_plus(view1, view2, temperature):
    """Equation (10): mean over all i of max(0, dcl_i); anchors at zero stay in the mean."""
    terms = _dcl_terms(view1, view2, temperature)
    total = 0.0
    for term in terms:
        total += max(0.0, term)
    return total / len(terms)


# Equations (2)-(4): alignment and uniformity.


def _alignment(h, hp, alpha):
    """Equation (3): mean over i of ||h_i - h'_i||^alpha."""
    total = 0.0
    for i in range(len(h)):
        total += _distance(h[i], hp[i]) ** alpha
    return total / len(h)


def _uniformity_within(h, t):
    """Log of the mean over the pairs i < j of one view of exp(-t ||h_i - h_j||^2)."""
    exponents = []
    for i in range(len(h)):
        for j in range(i + 1, len(h)):
            exponents.append(-t * _distance(h[i], h[j]) ** 2)
    shift = max(exponents)
    total = 0.0
    for exponent in exponents:
        total += math.exp(exponent - shift)
    return shift + math.log(total / len(exponents))


def align_uniform_released(view1, view2, alpha, t, lam):
    """Equations (2)-(4) as released: (1 - lam) * align + lam * uniform.

    The uniformity is taken within each view, averaged after the logarithm, and shifted by the constant 2t:
    uniform = 2t + (U(h) + U(h')) / 2. The loss therefore carries 2t * lam, which has no gradient.
    """
    h, hp = _two_views(view1, view2)
    uniform = 2.0 * t + 0.5 * (_uniformity_within(h, t) + _uniformity_within(hp, t))
    return (1.0 - lam) * _alignment(h, hp, alpha) + lam * uniform


def align_uniform_written(view1, view2, alpha, t, lam):
    """Equations (2)-(4) as written: (1 - lam) * align + lam * uniform.

    Equation (4), its pair corrected to (h_i, h'_j) as in equation (42), is the plain
    log E exp(-t ||h_i - h'_j||^2). On a batch equation (44) makes it the log of the mean over the N(N-1)
    ordered pairs i != j. Neither (4), (42) nor (44) has an additive constant, so there is no 2t here.
    """
    h, hp = _two_views(view1, view2)
    n = len(h)
    exponents = []
    for i in range(n):
        for j in range(n):
            if j != i:
                exponents.append(-t * _distance(h[i], hp[j]) ** 2)
    shift = max(exponents)
    total = 0.0
    for exponent in exponents:
        total += math.exp(exponent - shift)
    uniform = shift + math.log(total / len(exponents))
    return (1.0 - lam) * _alignment(h, hp, alpha) + lam * uniform


# Equation (13): triplet loss on the dot product.


def mpt_released(view1, view2, margin):
    """Equation (13) as released: mean over columns j of max(0, m - s_jj + max(0, max_{i != j} s_ij)).

    The anchor is h'_j and its negatives are h_i; the largest negative similarity is floored at 0.
    """
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for j in range(n):
        hardest = 0.0
        for i in range(n):
            if i != j:
                hardest = max(hardest, _dot(h[i], hp[j]))
        total += max(0.0, margin - _dot(h[j], hp[j]) + hardest)
    return total / n


def mpt_written(view1, view2, margin):
    """Equation (13), prime restored: mean over rows i of max(0, -s_ii + max_{j != i} s_ij + m). No floor."""
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        hardest = -math.inf
        for j in range(n):
            if j != i:
                hardest = max(hardest, _dot(h[i], hp[j]))
        total += max(0.0, -_dot(h[i], hp[i]) + hardest + margin)
    return total / n


def mpt_released_li2024(view1, view2, margin):
    """Equation (13) as released by Li et al.: rows, no floor; equal to the written form."""
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        negatives = [_dot(h[i], hp[j]) for j in range(n) if j != i]
        total += max(0.0, margin - _dot(h[i], hp[i]) + max(negatives))
    return total / n


# Equation (14): triplet loss on the Euclidean distance.


def met_released(view1, view2, margin):
    """Equation (14) as released: mean over columns j of max(0, m + d_jj - min_{i != j} d_ij).

    The anchor is h'_j and its negatives are h_i; d_ij = ||h_i - h'_j|| = sqrt(2 - 2 s_ij), no distance floor.
    """
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for j in range(n):
        nearest = math.inf
        for i in range(n):
            if i != j:
                nearest = min(nearest, _distance(h[i], hp[j]))
        total += max(0.0, margin + _distance(h[j], hp[j]) - nearest)
    return total / n


def met_written(view1, view2, margin):
    """Equation (14): mean over rows i of max(0, ||h_i - h'_i|| - min_{j != i} ||h_i - h'_j|| + m)."""
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        nearest = math.inf
        for j in range(n):
            if j != i:
                nearest = min(nearest, _distance(h[i], hp[j]))
        total += max(0.0, _distance(h[i], hp[i]) - nearest + margin)
    return total / n


def met_released_li2024(view1, view2, margin):
    """Equation (14) as released by Li et al.: rows, with d = sqrt(max(2 - 2s, 1e-4)) for every pair.

    The floor keeps every distance, the positive's too, at 0.01 or above.
    """
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        positive = math.sqrt(max(2.0 - 2.0 * _dot(h[i], hp[i]), 1e-4))
        nearest = math.inf
        for j in range(n):
            if j != i:
                nearest = min(nearest, math.sqrt(max(2.0 - 2.0 * _dot(h[i], hp[j]), 1e-4)))
        total += max(0.0, margin + positive - nearest)
    return total / n


# Equation (15): triplet loss on the angle. The margin is in radians.


def mat_released(view1, view2, margin):
    """Equation (15) as released: mean over columns j of max(0, m + a_jj - min(pi/2, min_{i != j} a_ij)).

    The anchor is h'_j and its negatives are h_i; the smallest negative angle is capped at pi/2. The
    positive's angle is computed as arccos(1 - ||h_j - h'_j||^2 / 2).
    """
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for j in range(n):
        smallest = math.pi / 2.0
        for i in range(n):
            if i != j:
                smallest = min(smallest, _angle(h[i], hp[j]))
        cosine = 1.0 - 0.5 * _distance(h[j], hp[j]) ** 2
        total += max(0.0, margin + math.acos(max(-1.0, cosine)) - smallest)
    return total / n


def mat_written(view1, view2, margin):
    """Equation (15), minimum over j: mean over rows i of max(0, a_ii - min_{j != i} a_ij + m). No cap."""
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        smallest = math.inf
        for j in range(n):
            if j != i:
                smallest = min(smallest, _angle(h[i], hp[j]))
        total += max(0.0, _angle(h[i], hp[i]) - smallest + margin)
    return total / n


def mat_released_li2024(view1, view2, margin):
    """Equation (15) as released by Li et al.: rows, arccos of s_ij; equal to the written form.

    The released arccos has no clamp; here the cosine is kept inside [-1, 1], which only matters for rounding.
    """
    h, hp = _two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        negatives = [_angle(h[i], hp[j]) for j in range(n) if j != i]
        total += max(0.0, margin + _angle(h[i], hp[i]) - min(negatives))
    return total / n


ORACLES = {
    ("infonce", "released"): infonce,
    ("dcl", "released"): dcl,
    ("dcl_plus", "released"): dcl_plus,
    ("align_uniform", "released"): align_uniform_released,
    ("align_uniform", "written"): align_uniform_written,
    ("mpt", "released"): mpt_released,
    ("mpt", "written"): mpt_written,
    ("mpt", "released_li2024"): mpt_released_li2024,
    ("met", "released"): met_released,
    ("met", "written"): met_written,
    ("met", "released_li2024"): met_released_li2024,
    ("mat", "released"): mat_released,
    ("mat", "written"): mat_written,
    ("mat", "released_li2024"): mat_released_li2024,
}


def golden_views():
    """Return the fixed raw views (u, u') behind ``GOLDEN``: N = 6, D = 5, not normalised.

    u_ik = sin(1 + 0.7i + 1.3k) + 0.5 cos(0.3ik) + 0.8 and u'_ik = u_ik + 0.2 sin(2 + 1.1i - 0.9k).
    """
    u = np.zeros((6, 5), dtype=np.float64)
    up = np.zeros((6, 5), dtype=np.float64)
    for i in range(6):
        for k in range(5):
            u[i, k] = math.sin(1.0 + 0.7 * i + 1.3 * k) + 0.5 * math.cos(0.3 * i * k) + 0.8
            up[i, k] = u[i, k] + 0.2 * math.sin(2.0 + 1.1 * i - 0.9 * k)
    return u, up


# (name, variant, params, value, norm1, norm2): the released programs' own float64 results on golden_views(),
# as printed to six decimals. norm1 and norm2 are the Frobenius norms of the gradient with respect to the raw
# u and u'.
GOLDEN = [
    ("infonce", "released", {"temperature": 0.05}, 0.529745, 0.318534, 0.234630),
    ("dcl", "released", {"temperature": 0.05}, -0.490020, 0.962672, 0.682844),
    ("dcl_plus", "released", {"temperature": 0.17}, 0.650433, 0.331088, 0.289408),
    ("dcl_plus", "released", {"temperature": 0.05}, 0.032194, 0.379302, 0.349655),
    ("align_uniform", "released", {"alpha": 2.0, "t": 6.0, "lam": 0.1}, 1.059277, 0.058711, 0.055537),
    ("mpt", "released", {"margin": 0.23}, 0.188985, 0.038217, 0.061665),
    ("met", "released", {"margin": 0.45}, 0.264149, 0.201376, 0.259920),
    ("mat", "released", {"margin": 0.15 * math.pi}, 0.284129, 0.202067, 0.261816),
    ("mpt", "released_li2024", {"margin": 0.23}, 0.185945, 0.066571, 0.043835),
    ("met", "released_li2024", {"margin": 0.45}, 0.260698, 0.285188, 0.170705),
    ("mat", "released_li2024", {"margin": 0.15 * math.pi}, 0.280441, 0.287283, 0.171441),
]


def numeric_gradient(f, view1, view2, eps=1e-6):
    """Central differences of ``f(view1, view2) -> float``, entry by entry; returns (g1, g2).

    Bind the parameters of an objective beforehand. The inputs are left unchanged. Only meaningful away from
    the kinks of max and min.
    """
    views = [np.array(view1, dtype=np.float64), np.array(view2, dtype=np.float64)]
    gradients = [np.zeros_like(views[0]), np.zeros_like(views[1])]
    for view, gradient in zip(views, gradients, strict=True):
        for i in range(view.shape[0]):
            for k in range(view.shape[1]):
                kept = view[i, k]
                view[i, k] = kept + eps
                above = f(views[0], views[1])
                view[i, k] = kept - eps
                below = f(views[0], views[1])
                view[i, k] = kept
                gradient[i, k] = (above - below) / (2.0 * eps)
    return gradients[0], gradients[1]
