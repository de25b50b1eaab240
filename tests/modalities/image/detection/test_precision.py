"""Average precision against cases by hand and its definition."""

from fractions import Fraction

import numpy as np
import pytest

from clrepro.modalities.image.detection.precision import average_precision
from tests.modalities.image.detection.truths import ELSEWHERE, HALF_OF_A, A, B, found, overlap, truth


@pytest.mark.parametrize(
    ("detections", "target", "points", "at_50", "at_75", "overall"),
    [
        # a perfect answer; nothing found; an overlap of exactly one half counts at 0.5 only, one of the ten thresholds
        (found(A, B), truth(A, B), 101, 1, 1, 1),
        (found(), truth(A), 101, 0, 0, 0),
        (found(HALF_OF_A), truth(A), 101, 1, 0, Fraction(1, 10)),
        # a wrong one first: precision 1/2 up to recall 1/2, which is 51 of 101 points and 6 of 11
        (found(ELSEWHERE, A), truth(A, B), 101, Fraction(51, 202), Fraction(51, 202), Fraction(51, 202)),
        (found(ELSEWHERE, A), truth(A, B), 11, Fraction(6, 22), Fraction(6, 22), Fraction(6, 22)),
        # the second detection of one box is wrong: precision 1 up to recall 1/2, 2/3 beyond
        (found(A, A, B), truth(A, B), 101, *[Fraction(153 + 100, 303)] * 3),
        # difficult boxes are neither missed nor found, however often they are hit
        (found(B, B, A), truth(A, B, difficult=[False, True]), 101, 1, 1, 1),
        (found(A), truth(A, B, difficult=[False, True]), 101, 1, 1, 1),
        # classes do not mix, and their mean is taken; one that has difficult boxes alone is left out
        (found(A, B, labels=[0, 0]), truth(A, B, labels=[0, 1]), 101, *[Fraction(1, 2)] * 3),
        (found(A), truth(A, B, labels=[0, 1], difficult=[False, True]), 101, 1, 1, 1),
    ],
)
def test_average_precision_of_cases_by_hand(detections, target, points, at_50, at_75, overall):
    result = average_precision([detections], [target], points)
    expected = {"AP_all": overall, "AP_50": at_50, "AP_75": at_75}
    assert result == pytest.approx({key: 100 * float(value) for key, value in expected.items()})


def slow_average_precision(detections, targets, label, threshold, points):
    """The definition, one detection at a time."""
    boxes = {
        image: [[box, hard, False] for box, own, hard in zip(*target.values(), strict=True) if own == label]
        for image, target in enumerate(targets)
    }
    count = sum(not hard for image in boxes.values() for _, hard, _ in image)
    every = [
        (score, image, box)
        for image, result in enumerate(detections)
        for box, own, score in zip(*result.values(), strict=True)
        if own == label
    ]
    curve, right, wrong = [], 0, 0
    for _, image, box in sorted(every, key=lambda detection: -detection[0]):
        near = [true for true in boxes[image] if overlap(box, true[0]) >= threshold]
        free = [true for true in near if not true[1] and not true[2]]
        if free:
            max(free, key=lambda true: overlap(box, true[0]))[2] = True
            right += 1
        elif any(hard for _, hard, _ in near):
            continue
        else:
            wrong += 1
        curve.append((Fraction(right, count), right / (right + wrong)))
    best = [
        max((precision for recall, precision in curve if recall >= Fraction(point, points - 1)), default=0)
        for point in range(points)
    ]
    return sum(best) / points


@pytest.mark.parametrize("points", [11, 101])
def test_average_precision_is_its_definition(points):
    rng = np.random.default_rng(0)
    targets, results = [], []
    for _ in range(30):
        corners = rng.uniform(0, 60, (rng.integers(0, 6), 2))
        boxes = np.hstack([corners, corners + rng.uniform(10, 50, corners.shape)])
        labels, difficult = rng.integers(0, 3, len(boxes)), rng.random(len(boxes)) < 0.2
        targets.append({"boxes": boxes, "labels": labels, "difficult": difficult})
        near = np.repeat(boxes, 2, axis=0) + rng.normal(0, 2, (2 * len(boxes), 4))
        guesses = np.where(rng.random(len(near)) < 0.8, np.repeat(labels, 2), 0)
        results.append({"boxes": near, "labels": guesses, "scores": rng.random(len(near))})
    thresholds = [(50 + 5 * step) / 100 for step in range(10)]
    table = np.array(
        [
            [slow_average_precision(results, targets, label, threshold, points) for threshold in thresholds]
            for label in range(3)
        ]
    )
    expected = 100 * table.mean(0)
    assert 5 < expected.mean() < 95  # a case that can tell
    result = average_precision(results, targets, points)
    assert result == pytest.approx({"AP_all": expected.mean(), "AP_50": expected[0], "AP_75": expected[5]})
