"""Which training images keep their labels, where a paper uses a share of them."""

import numpy as np

from clrepro.errors import UserError


def label_subset(labels: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """Rows, rising, of a share (0 to 1] of every class: the classes' proportions stay, to rounding.

    Subsets of one seed are nested: the rows of 10 % are among those of 50 %. The anchors of the training see the labels
    of the same 10 % (caption of figure 2): call it with the same seed there.
    """
    if not 0 < share <= 1:
        raise UserError(f"a share of {share:g} of the labels: give a number above 0 and up to 1")
    numbers = np.random.default_rng(seed)
    kept = []
    for label in np.unique(labels):
        rows = numbers.permutation(np.flatnonzero(labels == label))
        kept.append(rows[: max(1, int(share * len(rows) + 0.5))])
    return np.sort(np.concatenate(kept))


def selection_rows(labels: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows, rising, of the last tenth of every class: those on which a learning rate may be chosen.

    Shares up to 0.9 and the anchors' labels, of the same seed, do not have them.
    """
    return np.setdiff1d(np.arange(len(labels)), label_subset(labels, 0.9, seed))
