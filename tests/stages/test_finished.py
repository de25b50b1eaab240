"""Where a finished evaluation of a checkpoint lies."""

from types import SimpleNamespace

from clrepro.paths import STATE
from clrepro.stages.evaluating import finished


def test_its_place_follows_from_run_evaluation_and_all_that_decides_it():
    run, about = SimpleNamespace(scale="demo", name="run-seed1"), SimpleNamespace(file="bace.json")
    places = [
        finished(run, SimpleNamespace(evaluation=name, about=about), {"epochs": epochs})
        for name, epochs in (("molecules_bace", 1), ("molecules_bace", 2), ("molecules_bbbp", 1))
    ]
    assert len(set(places)) == 3
    for place in places:
        assert (place.name, place.parents[1]) == ("bace.json", STATE / "demo")
        assert "run-seed1" in place.parent.name
