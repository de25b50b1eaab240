"""Triplet losses on the dot product, the distance and the angle. Equation numbers are those of Nie et al. (2023)."""

import math

from tests.oracles.common import angle_between, distance, dot, two_views

# Equation (13): triplet loss on the dot product.


def mpt_released(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (13) as released: mean over columns j of max(0, m - s_jj + max(0, max_{i != j} s_ij)).

    The anchor is h'_j and its negatives are h_i; the largest negative similarity is floored at 0.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for j in range(n):
        hardest = 0.0
        for i in range(n):
            if i != j:
                hardest = max(hardest, dot(h[i], hp[j]))
        total += max(0.0, margin - dot(h[j], hp[j]) + hardest)
    return total / n


def mpt_written(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (13), prime restored: mean over rows i of max(0, -s_ii + max_{j != i} s_ij + m). No floor."""
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        hardest = -math.inf
        for j in range(n):
            if j != i:
                hardest = max(hardest, dot(h[i], hp[j]))
        total += max(0.0, -dot(h[i], hp[i]) + hardest + margin)
    return total / n


def mpt_released_li2024(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (13) as released by Li et al.: rows, no floor; equal to the written form."""
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        negatives = [dot(h[i], hp[j]) for j in range(n) if j != i]
        total += max(0.0, margin - dot(h[i], hp[i]) + max(negatives))
    return total / n


# Equation (14): triplet loss on the Euclidean distance.


def met_released(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (14) as released: mean over columns j of max(0, m + d_jj - min_{i != j} d_ij).

    The anchor is h'_j and its negatives are h_i; d_ij = ||h_i - h'_j|| = sqrt(2 - 2 s_ij), no distance floor.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for j in range(n):
        nearest = math.inf
        for i in range(n):
            if i != j:
                nearest = min(nearest, distance(h[i], hp[j]))
        total += max(0.0, margin + distance(h[j], hp[j]) - nearest)
    return total / n


def met_written(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (14): mean over rows i of max(0, ||h_i - h'_i|| - min_{j != i} ||h_i - h'_j|| + m)."""
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        nearest = math.inf
        for j in range(n):
            if j != i:
                nearest = min(nearest, distance(h[i], hp[j]))
        total += max(0.0, distance(h[i], hp[i]) - nearest + margin)
    return total / n


def met_released_li2024(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (14) as released by Li et al.: rows, with d = sqrt(max(2 - 2s, 1e-4)) for every pair.

    The floor keeps every distance, the positive's too, at 0.01 or above.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        positive = math.sqrt(max(2.0 - 2.0 * dot(h[i], hp[i]), 1e-4))
        nearest = math.inf
        for j in range(n):
            if j != i:
                nearest = min(nearest, math.sqrt(max(2.0 - 2.0 * dot(h[i], hp[j]), 1e-4)))
        total += max(0.0, margin + positive - nearest)
    return total / n


# Equation (15): triplet loss on the angle. The margin is in radians.


def mat_released(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (15) as released: mean over columns j of max(0, m + a_jj - min(pi/2, min_{i != j} a_ij)).

    The anchor is h'_j and its negatives are h_i; the smallest negative angle is capped at pi/2. The
    positive's angle is computed as arccos(1 - ||h_j - h'_j||^2 / 2).
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for j in range(n):
        smallest = math.pi / 2.0
        for i in range(n):
            if i != j:
                smallest = min(smallest, angle_between(h[i], hp[j]))
        cosine = 1.0 - 0.5 * distance(h[j], hp[j]) ** 2
        total += max(0.0, margin + math.acos(max(-1.0, cosine)) - smallest)
    return total / n


def mat_written(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (15), minimum over j: mean over rows i of max(0, a_ii - min_{j != i} a_ij + m). No cap."""
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        smallest = math.inf
        for j in range(n):
            if j != i:
                smallest = min(smallest, angle_between(h[i], hp[j]))
        total += max(0.0, angle_between(h[i], hp[i]) - smallest + margin)
    return total / n


def mat_released_li2024(view1, view2, frozen1=None, frozen2=None, *, margin):
    """Equation (15) as released by Li et al.: rows, arccos of s_ij; equal to the written form.

    The released arccos has no clamp; here the cosine is kept inside [-1, 1], which only matters for rounding.
    """
    h, hp = two_views(view1, view2)
    n = len(h)
    total = 0.0
    for i in range(n):
        negatives = [angle_between(h[i], hp[j]) for j in range(n) if j != i]
        total += max(0.0, margin + angle_between(h[i], hp[i]) - min(negatives))
    return total / n
