"""Clouds of checkpoints: one number of where the evaluations of several runs lie in the plane of two statistics.

A cloud is (n, k): a checkpoint a row, a statistic a column. Only ratios to the plane's extent are used, so the units of
the axes do not matter.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy import ndarray

THIRDS = ("bottom_right", "middle", "top_left")


def apart(first: ndarray, second: ndarray) -> float:
    """Mean distance of the first cloud's points to the nearest point of the second.

    Euclidean, each axis in units of its extent over both clouds. It has a direction: how near the second comes to
    where the first has been, wherever else the second goes.
    """
    extent = extent_of(np.concatenate([first, second]))
    # distances: (points of the first, points of the second)
    distances = np.linalg.norm((first[:, None] - second[None]) / extent, axis=2)
    return float(distances.min(axis=1).mean())


def along_diagonal(x: ndarray, y: ndarray) -> ndarray:
    """Which third of the way from the bottom right to the top left of the image each point lies in: 0, 1 or 2, (n,).

    A point's place is y - x, each in units of its extent over all points; the way from the smallest to the largest
    place is cut into three equal parts.
    """
    extent = extent_of(np.stack([x, y], axis=1))
    place = y / extent[1] - x / extent[0]
    low, high = place.min(), place.max()
    return np.minimum(3 * (place - low) // ((high - low) or 1.0), 2).astype(int)


def mean_of_third(third: int, *clouds: ndarray) -> float:
    """Mean score of the points of all clouds together that lie in one third of the image; NaN if none does.

    Columns: x, y, score.
    """
    x, y, score = np.concatenate(clouds).T
    chosen = score[along_diagonal(x, y) == third]
    return float(chosen.mean()) if len(chosen) else float("nan")


def extent_of(points: ndarray) -> ndarray:
    """Largest less smallest value of each column; 1 where all are equal, so that it divides."""
    extent = np.ptp(points, axis=0)
    return np.where(extent > 0, extent, 1.0)


# name: (the number of series, None for any; the number of statistics; the function of as many clouds)
MEASURES: dict[str, tuple[int | None, int, Callable[..., float]]] = {
    "apart": (2, 2, apart),
    **{name: (None, 3, partial(mean_of_third, third)) for third, name in enumerate(THIRDS)},
}
