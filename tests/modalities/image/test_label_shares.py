"""Shares of labels."""

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.modalities.image import label_shares


def test_shares_of_labels_are_stratified_nested_and_seeded():
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 7], [500, 100, 40, 3]))
    kept = {share: label_shares.label_subset(labels, share, seed=4) for share in (0.1, 0.5, 1)}
    counts = {share: np.bincount(labels[rows], minlength=8)[[0, 1, 2, 7]].tolist() for share, rows in kept.items()}
    assert counts == {0.1: [50, 10, 4, 1], 0.5: [250, 50, 20, 2], 1: [500, 100, 40, 3]}  # one of a class at least
    assert set(kept[0.1]) < set(kept[0.5]) < set(kept[1])
    assert kept[1].tolist() == list(range(643))
    selection = label_shares.selection_rows(labels, seed=4)
    assert np.bincount(labels[selection]).tolist()[:3] == [50, 10, 4]
    assert not set(selection) & set(kept[0.5])
    assert kept[0.1].tolist() == label_shares.label_subset(labels, 0.1, seed=4).tolist() == sorted(kept[0.1])
    assert kept[0.1].tolist() != label_shares.label_subset(labels, 0.1, seed=5).tolist()
    with pytest.raises(UserError, match="a share of 10 of the labels"):
        label_shares.label_subset(labels, 10)
