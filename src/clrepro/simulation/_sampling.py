"""Angles of random batches: one positive and K negatives, normal around two means, as li2024 samples them.

Nearly all of the time goes into the normal draws, so they are single precision, rows of a map run in parallel threads
(NumPy releases the interpreter's lock while it works on an array), and what follows the draws works in place.
"""

import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence

from clrepro import threads


def generators(seed: int, stream: str, count: int) -> list[Generator]:
    """Independent generators, one a row, so that neither threads nor other streams change what a row draws."""
    root = SeedSequence([seed, zlib.crc32(stream.encode())])
    return [Generator(SFC64(child)) for child in root.spawn(count)]


def by_rows(work: Callable[[int, Generator], np.ndarray], rows: int, seed: int, stream: str) -> np.ndarray:
    """Stack work(row, generator) over the rows, computed in parallel."""
    with ThreadPoolExecutor(threads.count()) as pool:
        return np.stack(list(pool.map(work, range(rows), generators(seed, stream, rows))))


def draw_angles(generator: Generator, mean: float, deviation: float, out: np.ndarray) -> np.ndarray:
    """Fill out, float32 and contiguous, with angles N(mean, deviation^2) in radians, not clipped to [0, pi].

    Box and Muller's transform, r cos(v) and r sin(v) with r = sqrt(-2 log(1 - u)): on whole arrays it takes half the
    time of NumPy's own normal draws. Uniform numbers of 24 bits end the tails at 5.8 deviations, beyond which 1 of 10^8
    draws would lie.
    """
    flat = out.reshape(-1)
    half = (flat.size + 1) // 2
    first, second = flat[:half], flat[half:]
    radius, turn = generator.random((2, half), dtype=np.float32)
    np.subtract(1, radius, out=radius)  # in (0, 1]
    np.log(radius, out=radius)
    radius *= np.float32(-2 * deviation**2)
    np.sqrt(radius, out=radius)
    turn *= np.float32(2 * np.pi)
    np.cos(turn, out=first)
    np.sin(turn[: second.size], out=second)
    first *= radius
    second *= radius[: second.size]
    flat += np.float32(mean)
    return out


def hardest(negatives: np.ndarray) -> np.ndarray:
    """The angle in [0, pi] of each batch's hardest negative, (B,) float64; negatives, (K, B), are overwritten.

    An angle outside [0, pi] stands for the one inside with its cosine. With |theta| <= 2 pi that is
    pi - | |theta| - pi |, so the smallest needs two absolute values and one maximum, and no cosine.
    """
    np.abs(negatives, out=negatives)
    negatives -= np.float32(np.pi)
    np.abs(negatives, out=negatives)
    return np.pi - negatives.max(axis=0).astype(np.float64)


def distance(angle: np.ndarray) -> np.ndarray:
    """Euclidean distance of two unit vectors, sqrt(2 - 2 cos angle), without its cancellation at small angles."""
    return 2 * np.abs(np.sin(angle / 2))
