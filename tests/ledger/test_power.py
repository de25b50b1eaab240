"""Power of the claims' test before the runs, against the noncentral t distribution; what is planned and what is not."""

import math

import pytest
from scipy import stats
from tqdm import tqdm

from clrepro.ledger import power
from clrepro.ledger.claim_forms import Part
from clrepro.ledger.power import Planned
from clrepro.ledger.quantity import Quantity
from tests.finished import finished_table

SEEDS, SAMPLES = 5, 600


def simulated(*parts: Planned, effects=(1.0, 3.0)) -> dict[str, float]:
    found = power.power({"claim": list(parts)}, SEEDS, effects, SAMPLES, tqdm(disable=True))["claim"]
    return {name: pytest.approx(share, abs=3 * math.sqrt(0.25 / SAMPLES)) for name, share in found.items()}


def t_power(distance: float, deviation: float, alpha: float = 0.05) -> float:
    """Of the one-sided t-test of five values."""
    return stats.nct.sf(stats.t.ppf(1 - alpha, SEEDS - 1), SEEDS - 1, distance * math.sqrt(SEEDS) / deviation)


def test_a_single_comparison_has_the_power_of_the_t_test():
    difference = Planned(Part("a - b", {"a": 1.0, "b": -1.0}, low=7.0), "points", paired=True)
    found = simulated(difference)
    for effect in (1.0, 3.0):
        assert t_power(effect, math.sqrt(2)) == found[f"seen at {effect:g}"]
        assert t_power(effect, math.sqrt(2)) == found[f"opposite at {effect:g}"]


def test_what_runs_of_a_seed_share_widens_a_comparison_in_which_it_does_not_cancel():
    bound = Planned(Part("a", {"a": 1.0}, low=7.0), "points", paired=False)
    distance = 3 / math.sqrt(2)  # the unit of a single number is 1 / sqrt(2)
    assert t_power(distance, math.sqrt(1 + power.SHARED**2)) == simulated(bound)["seen at 3"]


def test_of_several_comparisons_all_must_hold_and_one_refutes():
    parts = [Planned(Part(name, {name: 1.0, f"{name}'": -1.0}, low=0.0), "points", paired=True) for name in "abc"]
    found = simulated(*parts)
    one = t_power(3.0, math.sqrt(2))
    assert one**3 == found["seen at 3"]
    assert t_power(3.0, math.sqrt(2), 0.05 / 3) == found["opposite at 3"]


def test_bounds_on_both_sides_lie_at_the_effect_on_either():
    equal = Planned(Part("a - b", {"a": 1.0, "b": -1.0}, low=-2.0, high=2.0), "points", paired=True)
    found = simulated(equal)
    assert found["seen at 3"] == pytest.approx(2 * t_power(3.0, math.sqrt(2)) - 1, abs=0.05)
    # as far beyond the upper bound; both bounds are asked, so half of alpha for each
    assert t_power(3.0, math.sqrt(2), 0.025) == found["opposite at 3"]


def test_a_number_that_neither_exists_nor_is_planned_leaves_its_comparison_out():
    part = Part("a - b", {"a": 1.0, "b": -1.0}, low=0.0)
    there = Quantity({1: 2.0}, None, (), "", "points")
    waiting = Quantity({}, None, (), "not run yet: snakemake all --cores all", "points")
    never = Quantity({}, None, (), "this configuration has no `sentence.backbones.BERT_large`", "points")
    assert power.planned(part, {"a": there, "b": waiting}).paired
    assert power.planned(part, {"a": there, "b": never}) is None


def test_a_table_has_a_line_a_claim_and_no_power_where_nothing_is_planned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = power.table(finished_table(), ["nie2023"], samples=2, effects=(5.0,)).set_index("claim")
    planned = ~found["comparisons"].str.startswith("0 of")
    assert planned.any()
    assert not planned.all()
    assert found.loc[~planned, "seen at 5"].isna().all()
