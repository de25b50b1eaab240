"""Trainings that several processes cannot share."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            dict(papers=["oar2024"]),
            "jobs.processes: 3, but encoders of `image` are trained by a single process, and .* set `jobs.proc",
        ),
        (dict(papers=["nie2023"], figures=[]), "3 processes cannot share batch_size 32 of results/demo/runs/sentence"),
    ],
)
def test_a_training_that_processes_cannot_share_is_refused_before_anything_starts(changes, message):
    demo = configuration.load("demo")
    jobs = demo.jobs.model_copy(update={"processes": 3})
    with pytest.raises(UserError, match=message):
        Catalogue(demo.model_copy(update={"jobs": jobs, "tables": [], **changes})).check_inputs()
