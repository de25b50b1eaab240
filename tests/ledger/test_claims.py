"""Verdicts, estimates and scope of claims."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from clrepro.ledger import claim_forms, claims
from clrepro.ledger.quantity import Quantity
from tests.ledger.claim_entry import COMMON

RUNS = {
    "t/high": {1: 80.0, 2: 80.6, 3: 80.3, 4: 79.9},
    "t/low": {1: 70.0, 2: 70.4, 3: 70.4, 4: 70.1},
    "t/near": {1: 70.1, 2: 70.2, 3: 70.5},
    "t/raw": {None: 60.0},
    "t/none": {},
}


def resolve(reference: str) -> Quantity:
    values = RUNS[reference]
    why = "" if values else "not run yet: snakemake t"
    runs = tuple(f"{reference}/seed{seed}" for seed in values)
    return Quantity(values, {"t/high": 81.0, "t/low": 71.5, "t/near": 72.0}.get(reference), runs, why, "sts")


def evaluated(*forms: dict) -> list[dict]:
    content = [{**COMMON, "id": f"c{number}", **form} for number, form in enumerate(forms)]
    return claims.evaluate_paper(claim_forms.parse({"claims": content}, "nie2023"), resolve)


def test_verdicts_estimates_and_scope_of_claims():
    above, below, near, raw, partly, missing = evaluated(
        {"greater": {"of": "t/high", "than": "t/low"}},
        {"greater": {"of": "t/low", "than": "t/high"}},
        {"greater": {"of": "t/near", "than": "t/low"}},
        {"greater": {"of": "t/low", "than": "t/raw", "by": 5}},
        {"best": {"of": "t/high", "among": ["t/near", "t/low", "t/none"]}, "note": "A choice."},
        {"greater": {"of": "t/none", "than": "t/low"}},
    )
    verdicts = [one["verdict"] for one in (above, below, near, raw, partly, missing)]
    assert verdicts == ["holds", "fails", "undecided", "holds", "holds", "missing"]
    differences = [10.0, 10.2, 9.9, 9.8]
    assert (above["estimate"], above["seeds"], above["scope"]) == (pytest.approx(np.mean(differences)), 4, "1 of 1")
    samples = [differences, [-value for value in differences], [0.1, -0.2, 0.1], list(RUNS["t/low"].values())]
    first, *others = (
        stats.ttest_1samp(sample, bound, alternative="greater").pvalue
        for sample, bound in zip([*samples, [9.9, 10.4, 9.8]], [0, 0, 0, 65, 0], strict=True)
    )
    others[-1] = max(first, others[-1])
    smaller = sorted(value for value in [first, *others] if value <= first)  # of the five claims that have runs
    assert above["p_holds"] == pytest.approx(max((5 - rank) * value for rank, value in enumerate(smaller)), rel=1e-5)
    assert above["published"] == 9.5
    assert raw["published"] is None
    assert near["seeds"] == 3
    # of its two contrasts with runs the one with the larger p stands for the claim
    assert (partly["scope"], partly["seeds"]) == ("2 of 3", 3)
    assert partly["estimate"] == pytest.approx(np.mean([9.9, 10.4, 9.8]), rel=1e-5)
    assert partly["note"] == "A choice.; left out: t/none: not run yet: snakemake t"
    assert [one["verdict"] for one in partly["evidence"]] == ["holds", "holds", "missing"]
    assert partly["evidence"][0]["runs"] == [
        f"t/{name}/seed{seed}" for name, n in (("high", 4), ("near", 3)) for seed in range(1, n + 1)
    ]
    assert (missing["estimate"], missing["p_holds"], missing["seeds"]) == (None, None, 0)
    assert missing["note"] == "t/none: not run yet: snakemake t"


def test_an_undecided_claim_says_how_many_seeds_would_decide_it():
    def smallest(distance: float, level: float) -> str:
        powers = (
            (n, stats.nct.sf(stats.t.ppf(1 - level, n - 1), n - 1, distance * math.sqrt(n))) for n in range(2, 99)
        )
        return str(next(n for n, power in powers if power >= 0.8))

    near, _, outside = evaluated(
        {"greater": {"of": "t/near", "than": "t/low", "by": -0.1}},
        {"greater": {"of": "t/high", "than": "t/low"}},
        {"best": {"of": "t/low", "among": ["t/near", "t/near"]}},
    )
    deviation = np.std([0.1, -0.2, 0.1], ddof=1)
    assert near["verdict"] == outside["verdict"] == "undecided"
    assert near["seeds_needed"] == smallest(0.1 / deviation, 0.05 / 3)  # of three claims that are tested
    assert evaluated({"greater": {"of": "t/high", "than": "t/low"}})[0]["seeds_needed"] == ""  # it is decided
    assert outside["seeds_needed"] == "more than 200"  # a mean difference of 0


def test_holds_and_fails_are_said_only_where_every_number_of_the_claim_compares():
    above, below, near, missing = (
        {"greater": {"of": "t/high", "than": "t/low"}},
        {"greater": {"of": "t/low", "than": "t/high"}},
        {"greater": {"of": "t/near", "than": "t/low"}},
        {"greater": {"of": "t/none", "than": "t/low"}},
    )
    both = {"best": {"of": "t/high", "among": ["t/low", "t/near", "t/none"]}}
    content = [{**COMMON, "id": f"c{n}", **form} for n, form in enumerate([above, below, near, missing, both])]
    parsed = claim_forms.parse({"claims": content}, "nie2023")

    def said(small: set[str]) -> list[dict]:
        quantities = {name: dataclasses.replace(resolve(name), comparable=name not in small) for name in RUNS}
        return claims.evaluate_paper(parsed, quantities.__getitem__)

    verdicts = {
        frozenset(): ["holds", "fails", "undecided", "missing", "holds"],
        frozenset(RUNS): ["seen", "opposite", "undecided", "missing", "seen"],
        frozenset({"t/near"}): ["holds", "fails", "undecided", "missing", "seen"],  # of both kinds: the weaker words
        frozenset({"t/none"}): ["holds", "fails", "undecided", "missing", "holds"],  # no number of it is tested
    }
    for small, expected in verdicts.items():
        found = said(small)
        assert [one["verdict"] for one in found] == expected
        assert [part["verdict"] for part in found[4]["evidence"]] == [expected[4], expected[4], "missing"]
        # only the words differ
        same = [{key: one[key] for key in ("estimate", "ci_low", "p_holds", "p_fails", "scope")} for one in found]
        assert same == [{key: one[key] for key in same[0]} for one in said(set())]


def test_a_complete_claim_waits_for_all_of_its_comparisons(monkeypatch):
    both = {"best": {"of": "t/high", "among": ["t/low", "t/none"]}}
    other = {"greater": {"of": "t/high", "than": "t/near"}}
    (alone,) = evaluated(other)
    partly, beside = evaluated({**both, "complete": True, "note": "A choice."}, other)
    found = (partly["verdict"], partly["estimate"], partly["p_holds"], partly["scope"])
    assert found == ("missing", None, None, "1 of 2")
    waits = "1 of 2 comparisons have runs; it is tested when all have"
    assert partly["note"] == f"A choice.; {waits}; t/none: not run yet: snakemake t"
    assert [one["verdict"] for one in partly["evidence"]] == ["missing", "missing"]
    assert beside["p_holds"] == alone["p_holds"]  # it is none of the claims that are corrected for
    assert evaluated(both)[0]["verdict"] == "holds"
    monkeypatch.setitem(RUNS, "t/none", RUNS["t/near"])
    assert evaluated({**both, "complete": True}) == evaluated(both)


def test_a_trend_with_one_step_back_fails_and_a_smaller_one_holds(monkeypatch):
    noise = np.array([-0.1, 0.0, 0.1, 0.05])
    values = {"m/1": 1.0, "m/2": 2.0, "m/3": 3.0, "m/4": 2.0}
    shifts = [noise, noise[::-1], np.roll(noise, 1), np.roll(noise, 2)]
    known = {name: dict(enumerate(value + part)) for (name, value), part in zip(values.items(), shifts, strict=True)}
    monkeypatch.setattr(f"{__name__}.RUNS", known)
    rising = {"monotone": {"of": "m/{x}", "x": [1, 2, 3], "direction": "rising"}}
    back = {"monotone": {"of": "m/{x}", "x": [1, 2, 3, 4], "direction": "rising"}}
    up, down = evaluated(rising, back)
    assert (up["verdict"], up["estimate"]) == ("holds", pytest.approx(1, abs=0.05))
    assert [one["verdict"] for one in up["evidence"]] == ["holds", "undecided", "undecided"]  # steps only refute
    assert down["verdict"] == "fails"
    assert down["estimate"] == pytest.approx(-1, abs=0.1)  # the step that refutes it, not the trend
    assert down["p_holds"] <= 0.05  # the trend itself does rise


def test_numbers_that_no_seed_changes_need_no_seeds(monkeypatch):
    monkeypatch.setattr(f"{__name__}.RUNS", {"t/a": {None: 0.3}, "t/b": {None: 0.2}})
    above, equal, below = evaluated(
        {"greater": {"of": "t/a", "than": "t/b"}},
        {"greater": {"of": "t/a", "than": "t/b", "by": 0.1}},  # exactly at the bound, floating-point noise aside
        {"greater": {"of": "t/b", "than": "t/a"}},
    )
    assert [one["verdict"] for one in (above, equal, below)] == ["holds", "undecided", "fails"]
    monkeypatch.setattr(
        f"{__name__}.RUNS", {"t/a": {1: 0.3}, "t/b": {1: 0.1}, "t/c": {1: 0.3, 2: 0.4}, "t/d": {1: 0, 2: 0.1}}
    )
    one, same = evaluated(*({"greater": {"of": a, "than": b}} for a, b in (("t/a", "t/b"), ("t/c", "t/d"))))
    assert (one["verdict"], one["note"], one["ci_low"]) == ("undecided", "t/a - t/b: one seed tells of no spread", None)
    assert (same["verdict"], same["estimate"]) == ("undecided", 0.3)
    assert "the same for every seed" in same["note"]
    assert (above["ci_low"], above["ci_high"], above["seeds"], above["effect"]) == (0.1, 0.1, 1, None)


def test_the_same_results_give_the_same_bytes():
    forms = [{"greater": {"of": "t/high", "than": "t/low"}}, {"greater": {"of": "t/none", "than": "t/low"}}]
    first, second = (claims.frame(evaluated(*forms)).to_csv(index=False) for _ in range(2))
    assert first == second
    header, line, missing = first.splitlines()
    assert header.startswith("paper,claim,statement,estimate,ci_low,ci_high,seeds,verdict,")
    assert line.startswith("nie2023,c0,A statement.,9.975,")
    assert missing.startswith("nie2023,c1,A statement.,,,,0,missing,")


def test_refuting_one_of_many_contrasts_takes_more_than_refuting_one_alone(monkeypatch):
    """Two contrasts: the smaller p_fails counts twice."""
    runs = {"t/a": {1: 0.0, 2: 0.1, 3: -0.1}, "t/b": {1: 1.0, 2: 1.4, 3: 0.6}, "t/c": {1: -5.0, 2: -5.0, 3: -5.1}}
    monkeypatch.setattr(f"{__name__}.RUNS", runs)
    (alone,) = evaluated({"greater": {"of": "t/a", "than": "t/b"}})
    (both,) = evaluated({"all": [{"greater": {"of": "t/a", "than": "t/b"}}, {"greater": {"of": "t/a", "than": "t/c"}}]})
    assert both["p_fails"] == pytest.approx(2 * alone["p_fails"], rel=1e-4)


def test_what_all_runs_of_a_seed_share_cancels_only_in_differences():
    quantities = {
        name: Quantity({1: 50.0, 2: 51.0}, None, (), "", "sts percent", measured=name) for name in ("t/a", "t/b", "t/c")
    }
    quantities["t/d"] = Quantity({1: 0.5, 2: 0.6}, None, (), "", "difference percent", is_difference=True)
    quantities["t/e"] = Quantity({1: 50.0, 2: 51.0}, None, (), "", "sts percent", measured="t/a")  # the same number

    def contrast(**weights):
        part = claim_forms.Part("p", {f"t/{name}": weight for name, weight in weights.items()}, 0.0, math.inf)
        return claims.gather(part, {name: quantities[name] for name in part.weights}).contrast

    assert contrast(a=1, b=-1).paired
    assert contrast(a=1, b=-0.5, c=-0.5).paired
    assert not contrast(a=1).paired
    assert not contrast(a=1, b=-0.5).paired
    assert contrast(d=1).paired
    assert contrast(a=1, b=-1).weights == {"t/a": 1, "t/b": -1}
    assert contrast(e=1, b=-1).weights == {"t/a": 1, "t/b": -1}
    # settings that a scale makes equal: a number less itself is no comparison, nor a part of one
    assert contrast(a=1, e=-1) is None
    assert contrast(a=1, e=-1, b=-1, c=1).weights == {"t/b": -1, "t/c": 1}
