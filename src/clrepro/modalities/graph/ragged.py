"""Rows of several lists that lie one behind the other in flat arrays."""

import numpy as np


def starts(sizes: np.ndarray) -> np.ndarray:
    """Where each list begins: (G,) sizes -> (G + 1,), the end of the last one included."""
    return np.concatenate([[0], np.cumsum(sizes)])


def rows(begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The rows of lists, one list after the other: begins (B,) and sizes (B,) -> (sum of sizes,)."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - (ends - sizes), sizes)


def ranks(keys: np.ndarray, lists: np.ndarray) -> np.ndarray:
    """The rank of each row's key within its list, from 0; lists: (N,) in ascending order."""
    order = np.lexsort((keys, lists))
    _, sizes = np.unique(lists, return_counts=True)
    found = np.empty(len(keys), np.int64)
    found[order] = rows(np.zeros(len(sizes), np.int64), sizes)
    return found


def counted(sizes: np.ndarray, share: float) -> np.ndarray:
    """int(share n) for each n."""
    return (sizes * share).astype(np.int64)
