"""Sources that are asked for before anything starts."""

import pytest

from clrepro.errors import UserError
from tests.catalogue.asking import asking


def test_a_source_that_comes_from_nowhere_stops_only_the_runs_that_read_it():
    catalogue = asking("demo", sentence={"corpus": "wikipedia-sentences"})  # it has no url, and there is no mirror
    image = catalogue.runs_of(["huang2023_table_9"])
    assert {run.modality for run in image} == {"image"}
    assert {run.modality for run in catalogue.runs} == {"graph", "image", "sentence"}
    catalogue.check_inputs(image)
    assert not any(source.name.startswith("wikipedia") for source in catalogue.sources(image))
    for runs in (None, catalogue.runs_of(["nie2023_table_1"]), catalogue.runs_of(["huang2023_table_9", "report"])):
        with pytest.raises(UserError, match="'wikipedia-sentences' has no url, so it must come from a mirror"):
            catalogue.check_inputs(runs)


def test_targets_stand_for_their_runs_and_anything_else_for_all():
    catalogue = asking("demo")
    table = catalogue.runs_of(["nie2023_table_1"])
    assert set(table) == set(catalogue.table("nie2023", "table_1").runs)
    paper = catalogue.runs_of(["nie2023"])
    assert set(table) < set(paper) < set(catalogue.runs)
    assert catalogue.runs_of([]) == catalogue.runs_of(["report"]) == catalogue.runs_of(["results/x"]) == catalogue.runs
    assert catalogue.runs_of(["huang2023_figure_2"]) == ()  # a simulation
