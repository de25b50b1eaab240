"""What pictures of embeddings show, small enough to be kept beside a run: features themselves are temporary.

A kind of picture is a function Features -> {statistic: values}, of test images; a number that tells of it, of what is
kept, is a row [task, split, metric, value] beside it. A training that diverged has neither.
"""

from functools import partial
from typing import Any

import numpy as np

from clrepro.evaluation import collapse, plane
from clrepro.modalities.image.probes import Features

BLOCKS = 50  # rows and columns of an affinity matrix that is kept: more are averaged
SHOWN = 5000  # points of a plane, at most: all of ImageNet-100's validation set


def arrays(kind: str, features: Features) -> dict[str, list[float]]:
    """The numbers of one kind of picture, rounded to what can be seen."""
    if not np.isfinite(features.test).all():
        return {}
    return {name: [float(f"{value:.5g}") for value in values] for name, values in PICTURES[kind](features).items()}


def spectrum(features: Features) -> dict[str, np.ndarray]:
    """Of at most 1000 drawn images (oar2024, figure 3): singular values of the raw embeddings, falling; cosines of all
    pairs, ordered by class, as means over blocks of a square (at most BLOCKS x BLOCKS, row by row).
    """
    drawn = collapse.sample(len(features.test))
    cosines, _ = collapse.affinity(features.test[drawn], features.test_labels[drawn])
    return {
        "singular_value": collapse.singular_values(features.test[drawn]),
        "affinity": blocks(cosines, BLOCKS).ravel(),
    }


def blocks(square: np.ndarray, count: int) -> np.ndarray:
    """Means over nearly equal blocks of a square matrix: (m, m) with m at most count."""
    edges = np.linspace(0, len(square), min(count, len(square)) + 1).round().astype(int)
    sums = np.add.reduceat(np.add.reduceat(square, edges[:-1], axis=0), edges[:-1], axis=1)
    sizes = np.diff(edges)
    return sums / np.outer(sizes, sizes)


def places(features: Features) -> dict[str, np.ndarray]:
    """Of at most SHOWN drawn images (huang2023, figure 4): their places in the plane, and their classes."""
    drawn = collapse.sample(len(features.test), SHOWN)
    x, y = plane.places(features.test[drawn]).T
    return {"x": x, "y": y, "class": features.test_labels[drawn]}


def rows(kind: str, shown: dict[str, list[float]]) -> list[list]:
    """The numbers that tell of a picture's arrays: of the plane, how well classes part in its middle, in percent."""
    if kind != "places" or not shown:
        return []
    x, y, classes = (np.array(shown[name]) for name in ("x", "y", "class"))
    return [["places", "test", "central_separability", round(plane.central_separability(x, y, classes), 6)]]


PICTURES = {"spectrum": spectrum, "places": places}


def content(kind: str, features: Features, protocol: dict, kinds: list[str]) -> dict[str, Any]:
    """What a picture's file holds: the numbers that are drawn, and the rows that tell of them."""
    shown = arrays(kind, features)
    return {"arrays": shown, "rows": rows(kind, shown)}


evaluate_spectrum = partial(content, "spectrum")
evaluate_places = partial(content, "places")
