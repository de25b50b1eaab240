"""Labels at the ends of lines."""

import numpy as np
import pytest

from clrepro.report.trained import lines


def test_labels_move_apart_and_no_further_than_needed():
    rng = np.random.default_rng(2)
    for places in (rng.uniform(size=7), np.zeros(5), np.linspace(0, 1, 4)):
        moved = lines.spread(places, 0.1, 0.0, 1.0)
        assert np.diff(np.sort(moved)).min() >= 0.1 - 1e-12
        assert (np.argsort(moved, kind="stable") == np.argsort(places, kind="stable")).all()
        assert moved.min() >= 0
        assert moved.max() <= 1 + 1e-12
    assert lines.spread([0.2, 0.9, 0.5], 0.1, 0, 1).tolist() == pytest.approx([0.2, 0.9, 0.5])
    assert lines.spread([0.5, 0.5], 0.1, 0, 1).tolist() == pytest.approx([0.45, 0.55])
