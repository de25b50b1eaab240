"""What the survey finds on losses that it has never seen."""

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro.objectives import make
from clrepro.xray import decompose
from clrepro.xray.survey import anchors, exchanged, kinds_used, lemma_bounds
from clrepro.xray.views import draws, views
from tests.xray.batches import batch


def test_lemma_bounds_are_where_the_distance_does_not_change():
    """On the tangent plane: h_i at 0, the step lambda (r p - n) ends as far from p as it began."""
    frame = pd.DataFrame({"positive_angle": [0.6], "hardest_angle": [1.1], "turn": [0.7]})
    step = 0.4
    positive = np.array([np.sin(0.6), 0])
    negative = np.sin(1.1) * np.array([np.cos(0.7), np.sin(0.7)])
    for bound in lemma_bounds(frame, step):
        end = step * (bound[0] * positive - negative)
        assert np.linalg.norm(end - positive) == pytest.approx(np.linalg.norm(positive))


def test_the_survey_finds_the_hardest_negative_that_the_objective_uses():
    first, second = views(0.5, 1.2, draws(16))
    second[0] = 0.98 * second[1] + 0.02 * torch.randn(second.shape[1], generator=torch.Generator().manual_seed(0))
    cross = anchors(make("mpt", "written"), first, second, (True, False))
    within = anchors(make("modified_vicreg", "written"), first, second, (False, True))
    # row 0 of view 2 nearly is anchor 1's positive; in view 1 it has no such neighbour
    assert cross["hardest_angle"][1] == pytest.approx(0.5, abs=0.15)
    assert within["hardest_angle"][1] > 0.9
    numbers = draws(16)
    assert kinds_used(make("mpt", "written"), numbers) == (True, False)
    assert kinds_used(make("modified_vicreg", "written"), numbers) == (False, True)
    assert kinds_used(make("nt_xent"), numbers) == (True, True)


def test_exchanging_the_views_exchanges_the_anchors():
    first, second = (torch.from_numpy(view) for view in batch(9))
    written = decompose(make("mpt", "written"), first, second)
    released = decompose(exchanged(make("mpt", "released")), second, first)
    columns = decompose(make("mpt", "written"), second, first)
    assert torch.equal(released.dissipation, columns.dissipation)
    assert not torch.equal(written.dissipation, columns.dissipation)
