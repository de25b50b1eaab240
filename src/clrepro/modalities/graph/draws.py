"""Random numbers for augmentations of graphs, keyed by (seed, epoch, graph, position in it, stream).

What a graph becomes follows from these alone: never from its batch, nor from the number of worker processes.
"""

import numpy as np

from clrepro.training.philox import philox


def uniforms(seed: int, epoch: int, items: np.ndarray, positions: np.ndarray, stream: int) -> np.ndarray:
    """One number in (0, 1) for each pair of item and position: (n,), (n,) -> float64 (n,).

    items: graphs, numbered in their set. positions: of nodes, edges or tries within the graph. stream: what they are
    drawn for.
    """
    words = philox([positions, items, np.uint64(epoch), np.uint64(stream)], (seed & 0xFFFFFFFF, seed >> 32))
    return (words[0] + 0.5) * 2.0**-32


def normals(seed: int, epoch: int, items: np.ndarray, positions: np.ndarray, stream: int) -> np.ndarray:
    """The same from the standard normal distribution (Box and Muller)."""
    words = philox([positions, items, np.uint64(epoch), np.uint64(stream)], (seed & 0xFFFFFFFF, seed >> 32))
    radius, angle = ((word + 0.5) * 2.0**-32 for word in words[:2])
    return np.sqrt(-2 * np.log(radius)) * np.cos(2 * np.pi * angle)
