"""What the oracles share: vectors as lists of floats, sums of exponentials, and numeric gradients.

Nothing is vectorised. A view is a list of rows, a row a list of floats. A similarity matrix is a list of rows
too, so ``s[i][j]`` reads like s_ij.
"""

import math

import numpy as np


def raw_rows(view):
    """Return the rows of ``view`` as lists of floats, as they are."""
    return [[float(x) for x in row] for row in np.asarray(view, dtype=np.float64)]


def unit_rows(view):
    """Return the rows of ``view`` as lists of floats, each divided by its Euclidean norm."""
    rows = []
    for raw in raw_rows(view):
        norm = math.sqrt(sum(x * x for x in raw))
        rows.append([x / norm for x in raw])
    return rows


def check_views(view1, view2, at_least):
    """Insist on equal shapes and on enough rows to have a negative."""
    if np.shape(view1) != np.shape(view2) or np.ndim(view1) != 2:
        raise ValueError("both views must be (N, D) arrays of the same shape")
    if np.shape(view1)[0] < at_least:
        raise ValueError(f"this objective needs at least {at_least} rows")


def two_views(view1, view2, at_least=2):
    """Check both views and normalise their rows: (h, h')."""
    check_views(view1, view2, at_least)
    return unit_rows(view1), unit_rows(view2)


def live_and_frozen(view1, view2, frozen1, frozen2, at_least=2):
    """Return (h, h', sg h, sg h'); the frozen views are the live ones unless given."""
    h, hp = two_views(view1, view2, at_least)
    f, fp = two_views(view1 if frozen1 is None else frozen1, view2 if frozen2 is None else frozen2, at_least)
    return h, hp, f, fp


def dot(a, b):
    """Dot product a . b."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def squared_distance(a, b):
    """Squared Euclidean distance ||a - b||^2, taken from the difference (never from the dot product)."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def distance(a, b):
    """Euclidean distance ||a - b||, taken from the difference (never from the dot product)."""
    return math.sqrt(squared_distance(a, b))


def angle_between(a, b):
    """Angle in radians between two unit vectors; the cosine is kept inside [-1, 1] against rounding."""
    return math.acos(min(1.0, max(-1.0, dot(a, b))))


def similarities(rows, columns):
    """Return the matrix of all dot products, ``rows`` against ``columns``."""
    return [[dot(row, column) for column in columns] for row in rows]


def others(row, i):
    """Return the entries of ``row`` without the i-th."""
    return [x for j, x in enumerate(row) if j != i]


def transposed(matrix):
    """Return the matrix with rows and columns exchanged."""
    return [list(column) for column in zip(*matrix, strict=True)]


def log_sum_exp(values):
    """Return log sum exp of the values, shifted by their maximum."""
    shift = max(values)
    total = 0.0
    for value in values:
        total += math.exp(value - shift)
    return shift + math.log(total)


def mean(values):
    """Arithmetic mean."""
    return sum(values) / len(values)


def mean_squared_distance(h, hp):
    """Mean over i of ||h_i - h'_i||^2."""
    total = 0.0
    for i in range(len(h)):
        total += squared_distance(h[i], hp[i])
    return total / len(h)


def pairs_below(matrix):
    """Return the entries (k, l), k > l, of a square matrix: each pair of different rows once."""
    values = []
    for k in range(len(matrix)):
        for l in range(k):  # noqa: E741 (the index of the equations)
            values.append(matrix[k][l])
    return values


def cross_anchors(h, hp):
    """N anchors h_i as (positive s_ii, negatives s_ij for j != i): the other view's other rows."""
    s = similarities(h, hp)
    return [(s[i][i], others(s[i], i)) for i in range(len(h))]


def both_anchors(h, hp):
    """2N anchors, the rows of both views, as (positive, negatives): 2N-2 rows, those of both views with j != i."""
    s = similarities(h, hp)
    a = similarities(h, h)
    b = similarities(hp, hp)
    st = transposed(s)
    anchors = [(s[i][i], others(a[i], i) + others(s[i], i)) for i in range(len(h))]
    anchors += [(s[i][i], others(b[i], i) + others(st[i], i)) for i in range(len(h))]
    return anchors


def queue_anchors(h, keys, queue):
    """N anchors h_i as (positive h_i . key_i, negatives h_i . q_k): the normalised rows of the queue."""
    q = unit_rows(queue)
    return [(dot(h[i], keys[i]), [dot(h[i], row) for row in q]) for i in range(len(h))]


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


def numeric_gradient(f, view1, view2, eps=1e-6):
    """Central differences of ``f(view1, view2) -> float``, entry by entry; returns (g1, g2).

    Bind the parameters of an objective beforehand, and the frozen views too where its equation has
    stop-gradients: ``lambda a, b: f(a, b, view1, view2, **params)``. The inputs are left unchanged. Only
    meaningful away from the kinks of max and min.
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
