"""Random numbers for augmentations, keyed by (seed, epoch, index, view): a picture never depends on its batch.

Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011): a block cipher on a
counter, so any number is computed without the ones before it, for all rows of a batch at once. Drawn with numpy on the
CPU, so a GPU sees the very same parameters.
"""

import numpy as np

from clrepro.errors import UserError

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


def uniforms(count: int, seed: int, epoch: int, indices: np.ndarray, view: int) -> np.ndarray:
    """(count, N) float64 in the open interval (0, 1), a column for each index."""
    indices = np.asarray(indices)
    for name, value, limit in (("seed", seed, 2**64), ("epoch", epoch, 2**32), ("view", view, 2**32)):
        if not 0 <= value < limit:
            raise UserError(f"augmentation: {name} is {value}; it must be from 0 to {limit - 1}")
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise UserError(f"augmentation: indices must be one row of integers, found {indices.dtype} {indices.shape}")
    if len(indices) and not 0 <= indices.min() <= indices.max() < 2**32:
        raise UserError(f"augmentation: indices run from {indices.min()} to {indices.max()}; at most 2^32 - 1, from 0")
    blocks = np.arange(-(-count // 4))[:, None]
    words = philox([blocks, indices[None], np.uint64(epoch), np.uint64(view)], (seed & 0xFFFFFFFF, seed >> 32))
    # (4, blocks, N) -> (blocks * 4, N)
    return (words.transpose(1, 0, 2).reshape(-1, len(indices))[:count] + 0.5) * 2.0**-32
