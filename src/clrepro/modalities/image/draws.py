"""Random numbers for augmentations, keyed by (seed, epoch, index, view): a picture never depends on its batch.

Drawn with numpy on the CPU, so a GPU sees the very same parameters.
"""

import numpy as np

from clrepro.errors import UserError
from clrepro.training.philox import philox


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
