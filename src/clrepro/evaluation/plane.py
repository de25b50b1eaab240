"""Embeddings in two dimensions by UMAP (McInnes et al. 2018), as in huang2023, figure 4; how well classes part there.

The paper says that one picture "exhibits better separability in the central area" and gives no number. Ours: of the
half of the points nearest to the middle, the share of their neighbours in the plane that are of their class.
"""

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from clrepro.errors import UserError

NEIGHBOURS, MIN_DISTANCE = 15, 0.1  # UMAP's own defaults; the paper names none
FEWEST = 3  # neighbours from which UMAP makes a picture


def places(embeddings: np.ndarray, seed: int = 0, neighbours: int = NEIGHBOURS) -> np.ndarray:
    """(n, 2) float32 of (n, D): unit rows, Euclidean distances, so that cosines order the neighbours.

    neighbours: of a point, itself included; fewer where there are not so many points. The same for the same seed on one
    machine: a single thread, since sums in another order would move every point.
    """
    from sklearn.neighbors import NearestNeighbors
    from umap import UMAP  # compiles for some seconds

    rows = np.asarray(embeddings, np.float64)
    neighbours = min(neighbours, len(rows) - 1)
    if neighbours < FEWEST:
        raise UserError(f"{len(rows)} embeddings are too few for UMAP; give it {FEWEST + 1} or more")
    if not np.isfinite(rows).all():
        raise UserError("embeddings are not finite: the training diverged; lower its learning rate")
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    start = "spectral" if np.ptp(rows, axis=0).max() > 1e-6 else "random"  # a collapsed encoder has no spectrum
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of graphs in several parts, which it lays out one by one
        # exact neighbours; UMAP's own search is approximate from 4,096 points on, and half of what it compiles
        distances, nearest = NearestNeighbors(n_neighbors=neighbours, algorithm="brute").fit(rows).kneighbors(rows)
        fitted = UMAP(
            n_neighbors=neighbours,
            min_dist=MIN_DISTANCE,
            init=start,
            random_state=seed,
            n_jobs=1,
            precomputed_knn=(nearest, distances),
            force_approximation_algorithm=True,  # or it would search the neighbours of few points again
        )
        return fitted.fit_transform(rows).astype(np.float32)


def central_separability(x: np.ndarray, y: np.ndarray, classes: np.ndarray, neighbours: int = NEIGHBOURS) -> float:
    """In percent: 100 where every neighbour of the central points is of their class; places and classes are (n,).

    The middle is the median of either axis. Neighbours are taken of all points, a point is none of its own.
    """
    from sklearn.neighbors import NearestNeighbors

    points = np.column_stack([x, y]).astype(np.float64)  # (n, 2)
    distances = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    central = np.argsort(distances, kind="stable")[: -(-len(points) // 2)]
    search = NearestNeighbors(n_neighbors=min(neighbours, len(points) - 1) + 1, algorithm="brute").fit(points)
    near = search.kneighbors(points[central], return_distance=False)  # (m, neighbours + 1)
    others = near != central[:, None]
    others[others.all(1), -1] = False  # of several points at one place its own may not be among the nearest
    classes = np.asarray(classes)
    return float(100 * (classes[near] == classes[central][:, None])[others].mean())
