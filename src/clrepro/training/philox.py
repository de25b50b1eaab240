"""Philox-4x32-10: random numbers from a counter.

(Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011.) A block cipher on a counter, so any
number is computed without the ones before it, for all rows of a batch at once: what is drawn of an example never
depends on its batch, on the number of workers or on the device.
"""

import numpy as np

MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ROUNDS = 10


def philox(counter: list[np.ndarray], key: tuple[int, int]) -> np.ndarray:
    """Four 32-bit words per counter: four arrays of 32-bit values that broadcast -> uint64 (4, ...), all below 2^32."""
    a, b, c, d = np.broadcast_arrays(*(np.asarray(word, np.uint64) for word in counter))
    first, second = (np.uint64(word) for word in key)
    for _ in range(ROUNDS):
        left, right = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b, c, d = (right >> HALF) ^ b ^ first, right & LOW, (left >> HALF) ^ d ^ second, left & LOW
        first, second = (first + WEYL[0]) & LOW, (second + WEYL[1]) & LOW
    return np.stack([a, b, c, d])
