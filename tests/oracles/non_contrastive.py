"""Energy, separation and covariance objectives, plain: MHE, MHS, Barlow Twins, VICReg.

Equation numbers are those of Li et al. (2024). ``original`` forms act on the raw views.
"""

import math

from tests.oracles.common import (
    check_views,
    distance,
    dot,
    live_and_frozen,
    log_sum_exp,
    mean_squared_distance,
    pairs_below,
    raw_rows,
    similarities,
    squared_distance,
    two_views,
)

# Minimum hyperspherical energy and maximum hyperspherical separation.


def mhe_released(view1, view2, frozen1=None, frozen2=None, *, lam):
    """(7), (8) as released: lam [ LSE_{k>l} a_kl + LSE_{k>l} b_kl ] + mean_i ||h_i - h'_i||^2."""
    h, hp = two_views(view1, view2)
    energy = log_sum_exp(pairs_below(similarities(h, h))) + log_sum_exp(pairs_below(similarities(hp, hp)))
    return lam * energy + mean_squared_distance(h, hp)


def mhe_written(view1, view2, frozen1=None, frozen2=None, *, lam):
    """Loss behind (7), (8): mean_i ||h_i - h'_i||^2 + lam log( mean over pairs k < l of e^{-||h_k - h_l||^2} )."""
    h, hp = two_views(view1, view2)
    exponents = []
    for k in range(len(h)):
        for other in range(k + 1, len(h)):
            exponents.append(-squared_distance(h[k], h[other]))
    return mean_squared_distance(h, hp) + lam * (log_sum_exp(exponents) - math.log(len(exponents)))


def nearest_cross(x, y_sg, i):
    """Smallest over j != i of sqrt( ||x_i - sg[y_j]||^2 + 1e-4 )."""
    nearest = math.inf
    for j in range(len(x)):
        if j != i:
            nearest = min(nearest, math.sqrt(squared_distance(x[i], y_sg[j]) + 1e-4))
    return nearest


def mhs_released(view1, view2, frozen1=None, frozen2=None, *, lam):
    """(7), (9) as released: lam [ -mean_i min_{j != i} D0_ij - mean_i min_{j != i} D1_ij ] + mean_i ||h_i - h'_i||^2.

    D0_ij = sqrt(||h_i - sg[h'_j]||^2 + 1e-4) and D1_ij = sqrt(||h'_i - sg[h_j]||^2 + 1e-4): across the views.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    n = len(h)
    separation = 0.0
    for i in range(n):
        separation += nearest_cross(h, fp, i) / n + nearest_cross(hp, f, i) / n
    return -lam * separation + mean_squared_distance(h, hp)


def mhs_written(view1, view2, frozen1=None, frozen2=None, *, lam):
    """Loss behind (7), (9): mean_i ||h_i - h'_i||^2 - lam mean_i min_{j != i} ||h_i - h_j||. Nothing detached."""
    h, hp = two_views(view1, view2)
    n = len(h)
    separation = 0.0
    for i in range(n):
        separation += min(distance(h[i], h[j]) for j in range(n) if j != i)
    return mean_squared_distance(h, hp) - lam * separation / n


# Barlow Twins.


def cross_correlation(x, y):
    """C = (1/N) sum_i x_i y_i^T, a D x D matrix."""
    n, d = len(x), len(x[0])
    c = [[0.0] * d for _ in range(d)]
    for k in range(d):
        for m in range(d):
            for i in range(n):
                c[k][m] += x[i][k] * y[i][m] / n
    return c


def barlow_positive(x, x_sg, y_sg, lam):
    """- sum_i sum_k p_k x_ik sg[y_ik] with p_k = sg[(2/N)(1 - (1 - lam) C_kk)]: the diagonal part of (10)."""
    n, d = len(x), len(x[0])
    c = cross_correlation(x_sg, y_sg)
    total = 0.0
    for i in range(n):
        for k in range(d):
            p = 2.0 / n * (1.0 - (1.0 - lam) * c[k][k])
            total -= p * x[i][k] * y_sg[i][k]
    return total


def barlow_twins_released(view1, view2, frozen1=None, frozen2=None, *, lam):
    """(10) as released, a surrogate with that gradient: B(h, h') + B(h', h).

    B(x, y) = sum_i [ -sum_k p_k x_ik sg[y_ik] + lam sum_j (2/N^2) sg[y_i . y_j] (x_i . sg[x_j]) ], all j.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    n = len(h)
    loss = 0.0
    for x, x_sg, y_sg in ((h, f, fp), (hp, fp, f)):
        loss += barlow_positive(x, x_sg, y_sg, lam)
        for i in range(n):
            for j in range(n):
                loss += lam * 2.0 / n**2 * dot(y_sg[i], y_sg[j]) * dot(x[i], x_sg[j])
    return loss


def _correlation_loss(c, lam):
    """sum_k (1 - C_kk)^2 + lam sum over k != l of C_kl^2."""
    total = 0.0
    for k in range(len(c)):
        for m in range(len(c)):
            total += (1.0 - c[k][k]) ** 2 if k == m else lam * c[k][m] ** 2
    return total


def barlow_twins_written(view1, view2, frozen1=None, frozen2=None, *, lam):
    """Loss behind (10): sum_k (1 - C_kk)^2 + lam sum_{k != l} C_kl^2, C = (1/N) sum_i h_i h'_i^T."""
    h, hp = two_views(view1, view2)
    return _correlation_loss(cross_correlation(h, hp), lam)


def _columns(rows):
    """Return the columns as lists of N floats."""
    return [[row[k] for row in rows] for k in range(len(rows[0]))]


def barlow_twins_original(view1, view2, frozen1=None, frozen2=None, *, lam):
    """Zbontar et al. (2021), equation (1), on raw views: columns standardised as BatchNorm without affine does.

    Biased variance, 1e-5 added to it; C = z^T z' / N; sum_k (C_kk - 1)^2 + lam sum_{k != l} C_kl^2.
    """
    check_views(view1, view2, 2)
    standardised = []
    for view in (view1, view2):
        rows = raw_rows(view)
        n = len(rows)
        z = [[0.0] * len(rows[0]) for _ in rows]
        for k, column in enumerate(_columns(rows)):
            centre = sum(column) / n
            variance = sum((x - centre) ** 2 for x in column) / n
            for i in range(n):
                z[i][k] = (column[i] - centre) / math.sqrt(variance + 1e-5)
        standardised.append(z)
    return _correlation_loss(cross_correlation(*standardised), lam)


# VICReg.


def vicreg_released(view1, view2, frozen1=None, frozen2=None, *, lam):
    """(11) as released, a surrogate with that gradient: V(h, h') + V(h', h).

    V(x, y) = sum_i [ -(2/N) x_i . sg[y_i] + lam sum_j (2/N^2) sg[x_i . x_j] (x_i . sg[x_j]) ], all j.
    """
    h, hp, f, fp = live_and_frozen(view1, view2, frozen1, frozen2)
    n = len(h)
    loss = 0.0
    for x, x_sg, y_sg in ((h, f, fp), (hp, fp, f)):
        for i in range(n):
            loss -= 2.0 / n * dot(x[i], y_sg[i])
            for j in range(n):
                loss += lam * 2.0 / n**2 * dot(x_sg[i], x_sg[j]) * dot(x[i], x_sg[j])
    return loss


def vicreg_written(view1, view2, frozen1=None, frozen2=None, *, lam):
    """Loss whose gradient is (11): mean_i ||h_i - h'_i||^2 + lam/2 ( ||h^T h / N||_F^2 + ||h'^T h' / N||_F^2 )."""
    h, hp = two_views(view1, view2)
    covariance = 0.0
    for x in (h, hp):
        for row in cross_correlation(x, x):
            covariance += sum(entry**2 for entry in row)
    return mean_squared_distance(h, hp) + 0.5 * lam * covariance


def vicreg_original(view1, view2, frozen1=None, frozen2=None, *, invariance, variance, covariance):
    """Bardes et al. (2022), equations (1)-(6), on raw views.

    invariance * MSE + variance * 1/2 [ mean_k max(0, 1 - std_k) of both views ] + covariance / D * sum_{k != l}
    cov_kl^2 of both views. MSE is the mean over N D entries; std = sqrt(unbiased variance + 1e-4); the
    covariance is divided by N - 1.
    """
    check_views(view1, view2, 2)
    x, y = raw_rows(view1), raw_rows(view2)
    n, d = len(x), len(x[0])
    mse = sum(squared_distance(x[i], y[i]) for i in range(n)) / (n * d)
    hinge = 0.0
    off_diagonal = 0.0
    for rows in (x, y):
        centred = [[entry - sum(column) / n for entry in column] for column in _columns(rows)]
        for k in range(d):
            std = math.sqrt(dot(centred[k], centred[k]) / (n - 1) + 1e-4)
            hinge += max(0.0, 1.0 - std) / d
            for m in range(d):
                if m != k:
                    off_diagonal += (dot(centred[k], centred[m]) / (n - 1)) ** 2 / d
    return invariance * mse + variance * 0.5 * hinge + covariance * off_diagonal
