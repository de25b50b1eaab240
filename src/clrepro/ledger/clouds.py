"""Clouds of checkpoints: one number of where the evaluations of several runs lie in the plane of two statistics.

A cloud is (n, k): a checkpoint a row, a statistic a column. Only ratios to the extent of a cloud are used, so the units
of the axes do not matter.
"""

import math
import re
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy import ndarray

from clrepro.catalogue import Catalogue, Figure
from clrepro.errors import UserError, unknown
from clrepro.ledger import points
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records

REFERENCE = re.compile(  # several series: what is measured of all their checkpoints together
    r"(?P<figure>[^/]+)/(?P<series>[^/]+)/(?P<backbone>[^/]+)/(?P<measure>\w+)\((?P<statistics>[^()]+)\)"
)
THIRDS = ("bottom_right", "middle", "top_left")


def apart(first: ndarray, second: ndarray) -> float:
    """Mean distance of the first cloud's points to the nearest point of the second.

    Euclidean, each axis in units of the first cloud's extent. It has a direction: how near the second comes to where
    the first has been, wherever else the second goes. The second cloud is no part of the unit, for then it would seem
    nearer the further it goes astray.
    """
    # distances: (points of the first, points of the second)
    distances = np.linalg.norm((first[:, None] - second[None]) / extent_of(first), axis=2)
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


def quantity(catalogue: Catalogue, figure: Figure, reference: str, records: Records) -> Quantity:
    """One number of the checkpoints of several series, seed by seed; the untrained encoder, step 0, is left out."""
    parts = REFERENCE.fullmatch(reference)
    names, statistics = parts["series"].split(" and "), parts["statistics"].split(", ")
    if parts["measure"] not in MEASURES:
        raise unknown("measure", parts["measure"], MEASURES, f"the reference '{reference}'")
    series, columns, measure = MEASURES[parts["measure"]]
    if len(names) != (series or len(names)) or len(statistics) != columns:
        wanted = f"{series or 'any number of'} series joined by ' and ', and {columns} statistics joined by ', '"
        raise UserError(f"the reference '{reference}': {parts['measure']} takes {wanted}")
    found = {}
    for name in names:
        for statistic in statistics:
            address = points.REFERENCE.fullmatch(f"{parts['figure']}/{name}/{parts['backbone']}/{statistic}")
            if not address:
                raise UserError(f"the reference '{reference}': '{name}' or '{statistic}' cannot stand there")
            found[name, statistic] = points.curves(catalogue, figure, address, records)
    values = {}
    for seed in set.intersection(*(set(one.by_seed) for one in found.values())):
        clouds = [cloud([found[name, statistic].by_seed[seed] for statistic in statistics]) for name in names]
        if all(map(len, clouds)):
            values[seed] = measure(*clouds)
    whys = [one.why for one in found.values()]
    if any(math.isnan(value) for value in values.values()):
        whys.append(f"no checkpoint lies in the {parts['measure']} of the image")
    values = {seed: value for seed, value in values.items() if not math.isnan(value)}
    if not values and not any(whys):
        whys.append("its runs recorded no checkpoint with all of the statistics")
    runs = tuple(dict.fromkeys(run for one in found.values() for run in one.runs))
    why = "; ".join(dict.fromkeys(filter(None, whys)))
    family = f"{figure.name} {parts['measure']} {statistics[-1]}"
    measured = f"{parts['measure']}({parts['statistics']}) of {' '.join(runs)}"
    comparable = all(one.comparable for one in found.values())
    return Quantity(values, None, runs, why, family, measured=measured, comparable=comparable)


def cloud(statistics: list[list[tuple[int, float]]]) -> np.ndarray:
    """The checkpoints after step 0 at which all statistics were measured, (steps, statistics)."""
    by_step = [dict(curve) for curve in statistics]
    steps = sorted(set.intersection(*map(set, by_step)) - {0})
    return np.array([[values[step] for values in by_step] for step in steps])
