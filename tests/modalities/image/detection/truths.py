"""Boxes as an image set and as a detector give them."""

import numpy as np


def truth(*boxes, labels=None, difficult=None):
    count = len(boxes)
    return {
        "boxes": np.array(boxes, float).reshape(-1, 4),
        "labels": np.array(labels if labels is not None else [0] * count, int),
        "difficult": np.array(difficult if difficult is not None else [False] * count, bool),
    }


def found(*boxes, labels=None):
    """Detections in falling order of their scores."""
    count = len(boxes)
    return {
        "boxes": np.array(boxes, float).reshape(-1, 4),
        "labels": np.array(labels if labels is not None else [0] * count, int),
        "scores": 1 - np.arange(count) / 10,
    }


A, B, ELSEWHERE = (0, 0, 10, 10), (20, 0, 30, 10), (50, 50, 60, 60)
HALF_OF_A = (0, 0, 10, 5)


def overlap(one, other):
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0) * max(height, 0)
    area1, area2 = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / (area1 + area2 - shared)
