"""Claims: what the tests promise, what the forms mean, what a wrong claims.yaml says, what the ledger reports."""

import copy
import dataclasses
import math
import re

import numpy as np
import pytest
from scipy import integrate, stats

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.errors import UserError
from clrepro.ledger import claim_forms, claims, clouds, inference
from clrepro.ledger.inference import Contrast, Prior
from clrepro.ledger.quantities import resolver
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records
from clrepro.paths import write_json

# statistics


@pytest.mark.parametrize(("low", "high"), [(0.5, math.inf), (-math.inf, 3.0), (0.5, 3.0)])
def test_without_a_family_the_test_is_the_ordinary_t_test(low, high):
    values = (1.0, 2.5, 1.7)
    result = inference.examine(Contrast(values, {"a": 1.0}, low, high))
    bounds = [(low, "greater", "less"), (high, "less", "greater")]
    finite = [
        [stats.ttest_1samp(values, bound, alternative=side).pvalue for side in sides]
        for bound, *sides in bounds
        if math.isfinite(bound)
    ]
    assert result.p_holds == pytest.approx(max(inside for inside, _ in finite))
    assert result.p_fails == pytest.approx(min(1, len(finite) * min(outside for _, outside in finite)))
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx(tuple(interval))
    assert result.effect == pytest.approx(np.mean(values) / np.std(values, ddof=1))


def test_a_known_prior_gives_the_moderated_t_test():
    contrast = Contrast((1.0, 2.0), {"a": 1.0, "b": -1.0}, low=0.0)
    prior = Prior(np.array([3.0]), np.array([0.4]), np.ones(1))
    moderated = (3 * 0.4 * 2 + 1 * 0.5) / (3 + 1)
    assert inference.p_values(contrast, prior)[0] == pytest.approx(stats.t.sf(1.5 / math.sqrt(moderated / 2), 4))


def test_the_posterior_of_the_prior_is_that_of_the_integral():
    """E[d0 / (d0 + 2)] of eight variances, by numerical integration of another form of the likelihood."""
    variances = np.array([0.3, 0.5, 0.8, 1.0, 1.1, 1.9, 2.4, 6.0])
    steps = np.array([-1.0, 0.0, 1.0])
    contrasts = [Contrast(tuple(math.sqrt(v) * steps), {f"{i}": 1.0}) for i, v in enumerate(variances)]

    def evidence(spread: float) -> float:
        half = math.exp(inference.inverse_trigamma(spread**2))

        def density(log_scale: float) -> float:
            return math.exp(np.sum(stats.f.logpdf(variances / math.exp(log_scale), 2, 2 * half) - log_scale))

        return integrate.quad(density, -8, 6, limit=200)[0]

    spreads = np.linspace(0.02, 4, 100)
    weights = np.array([evidence(spread) * math.exp(-((spread / inference.SCALE) ** 2) / 2) for spread in spreads])
    freedom = np.array([2 * math.exp(inference.inverse_trigamma(spread**2)) for spread in spreads])
    prior = inference.fit(contrasts)
    expected = (weights * freedom / (freedom + 2)).sum() / weights.sum()
    assert (prior.probability * prior.freedom / (prior.freedom + 2)).sum() == pytest.approx(expected, abs=0.02)


def test_what_tells_of_no_spread_decides_nothing():
    for values in [(5.0,), (5.0, 5.0, 5.0)]:
        result = inference.examine(Contrast(values, {"a": 1.0}, low=0.0))
        assert (result.p_holds, result.p_fails, result.low, result.effect) == (1.0, 1.0, None, None)
    known = Prior(np.array([inference.MANY]), np.array([1.0]), np.ones(1))
    result = inference.examine(Contrast((5.0, 5.0, 5.0), {"a": 1.0}, low=0.0), known)
    assert result.p_holds == pytest.approx(stats.norm.sf(5 * math.sqrt(3)), rel=1e-2)  # d0 infinite: the z-test
    exact = inference.examine(Contrast((5.0,), {}, low=0.0, high=4.0))
    assert (exact.p_holds, exact.p_fails, exact.low, exact.high) == (1.0, 0.0, 5.0, 5.0)


def test_variances_are_shared_by_paired_contrasts_of_one_family_only():
    random = np.random.default_rng(1)
    many = [Contrast(tuple(random.normal(size=3)), {f"{i}": 1.0, f"-{i}": -1.0}, 0.0, family="sts") for i in range(12)]
    lone = Contrast((1.0, 1.1, 3.0), {"a": 1.0, "b": -1.0}, 0.0, family="sts")

    def p_of(contrast: Contrast, others: list[Contrast]) -> float:
        return inference.examine_all([*others, contrast])[-1].p_holds

    ordinary = inference.examine(lone).p_holds
    assert p_of(lone, many) != ordinary
    assert p_of(lone, many[:6]) == ordinary  # too few
    assert p_of(dataclasses.replace(lone, family="transfer"), many) == ordinary
    assert p_of(dataclasses.replace(lone, paired=False), many) == ordinary
    # the same contrast over and over is one: it makes nobody surer
    assert inference.effective_number([lone] * 20) == pytest.approx(1)
    assert inference.effective_number(many) == pytest.approx(12)


def test_holm_by_hand():
    assert inference.holm([0.01, 0.04, 0.03, 0.9]) == pytest.approx([0.04, 0.09, 0.09, 0.9])
    assert inference.verdict(0.01, 0.01) == "fails"
    assert inference.verdict(0.05, 0.06) == "holds"
    assert inference.verdict(0.06, 0.06) == "undecided"


def simulated(random: np.random.Generator, effect: float, widths: np.ndarray, seeds: int) -> list[Contrast]:
    """Differences of rows to the first one in each column, which their contrasts share."""
    rows, columns = widths.shape
    values = random.normal(size=(rows, columns, seeds)) * widths[..., None] + random.normal(size=seeds)
    values[1:] += effect
    return [
        Contrast(tuple(values[row, column] - values[0, column]), {f"{row}{column}": 1, f"0{column}": -1}, 0.0)
        for row in range(1, rows)
        for column in range(columns)
    ]


WIDTHS = {
    "equal": lambda random: np.ones((5, 3)),
    "unequal": lambda random: np.sqrt(4 / random.chisquare(4, (5, 3))),
    "a tenth is wide": lambda random: np.where(random.random((8, 4)) < 0.1, 5.0, 1.0),
}


@pytest.mark.parametrize(
    ("kind", "seeds", "power"),
    [("equal", 2, 0.4), ("unequal", 3, 0.6), ("equal", 5, 0.95), ("a tenth is wide", 2, 0.02)],
)
def test_wrong_verdicts_are_rarer_than_promised_and_right_ones_are_given(kind, seeds, power):
    """At the bound both errors are at their worst: of 200 papers, no more err than 5 percent can explain (p 0.001)."""
    random = np.random.default_rng(seeds)
    wrong = {"holds": 0, "fails": 0}
    for _ in range(200):
        contrasts = simulated(random, 0.0, WIDTHS[kind](random), seeds)
        prior = inference.fit(contrasts)
        raw = zip(*(inference.p_values(one, prior) for one in contrasts), strict=True)
        for side, values in zip(wrong, raw, strict=True):
            wrong[side] += min(inference.holm(values)) <= inference.ALPHA
    for side, count in wrong.items():
        assert stats.binom.sf(count - 1, 200, inference.ALPHA) > 0.001, side
    right = []
    for _ in range(40):
        contrasts = simulated(random, 4.0, WIDTHS[kind](random), seeds)
        prior = inference.fit(contrasts)
        right += inference.holm([inference.p_values(one, prior)[0] for one in contrasts])
    assert np.mean(np.array(right) <= inference.ALPHA) > power


# forms

COMMON = {"id": "one", "statement": "A statement.", "quote": "We state it.", "place": "table 1"}


def parts(**form) -> list[tuple[dict, float, float, bool]]:
    claim = claim_forms.parse({"claims": [{**COMMON, **form}]}, "nie2023")[0]
    return [(part.weights, part.low, part.high, part.decides) for part in claim.parts]


def test_what_each_form_means():
    infinite = math.inf
    assert parts(greater={"of": "t/a", "than": "t/b", "by": 2}) == [({"t/a": 1, "t/b": -1}, 2, infinite, True)]
    assert parts(greater={"of": {"t/a": 1}, "than": {"t/b": 0.5, "t/c": 0.5}}) == [
        ({"t/a": 1, "t/b": -0.5, "t/c": -0.5}, 0, infinite, True)
    ]
    assert parts(greater={"of": "t/a", "than": 70, "by": 1}) == [({"t/a": 1}, 71, infinite, True)]
    assert parts(within={"of": "t/a", "low": 3, "high": 7}) == [({"t/a": 1}, 3, 7, True)]
    assert parts(equal={"of": ["t/a", "t/b", "t/c"], "up_to": 1}) == [
        ({f"t/{first}": 1, f"t/{second}": -1}, -1, 1, True) for first, second in ("ab", "ac", "bc")
    ]
    assert parts(best={"of": "t/a", "among": ["t/b", "t/c"]}) == [
        ({"t/a": 1, f"t/{other}": -1}, 0, infinite, True) for other in "bc"
    ]
    falling = parts(monotone={"of": "f/s[{x}]/b/v", "x": [0.1, 0.2, 0.3], "direction": "falling"})
    assert falling == [
        ({"f/s[0.1]/b/v": 0.5, "f/s[0.3]/b/v": -0.5}, 0, infinite, True),  # minus the slope, the middle has weight 0
        ({"f/s[0.1]/b/v": 1, "f/s[0.2]/b/v": -1}, 0, infinite, False),
        ({"f/s[0.2]/b/v": 1, "f/s[0.3]/b/v": -1}, 0, infinite, False),
    ]
    scope = {"o": ["x", "y"], "b": ["B", "R"]}
    several = parts(
        **{"for": scope}, all=[{"greater": {"of": "t/{o}/{b}", "than": 1}}, {"within": {"of": "t/{b}/{o}", "high": 2}}]
    )
    assert [next(iter(weights)) for weights, *_ in several] == [
        "t/x/B", "t/B/x", "t/x/R", "t/R/x", "t/y/B", "t/B/y", "t/y/R", "t/R/y",
    ]  # fmt: skip


GOOD = {**COMMON, "greater": {"of": "t/a", "than": "t/b"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"greater": None, "exceeds": {}}, "unknown key 'exceeds'"),
        ({"within": {"of": "t/a", "low": 1}}, "greater and within"),
        ({"statement": ""}, "statement is missing"),
        ({"quote": ""}, "quote is missing"),
        ({"statement": 3}, "statement is 3"),
        ({"id": "Dcl beats"}, "id is 'Dcl beats'"),
        ({"greater": {"of": "t/a"}}, "than is missing"),
        ({"greater": {"of": "t/a", "than": "t/b", "least": 1}}, "unknown key 'least'"),
        ({"greater": {"of": "t/a", "than": "t/b", "by": "2"}}, "by is '2'"),
        ({"greater": {"of": "t/a", "than": "t/a"}}, "cancel out"),
        ({"greater": {"of": "t/{b}", "than": "t/b"}}, "nothing gives {b}"),
        ({"greater": {"of": "table", "than": "t/b"}}, "'table' is no reference"),
        ({"greater": ["t/a", "t/b"]}, "must be keys with values"),
        ({"for": {"b": ["B"]}}, "for, b is used nowhere"),
        ({"for": {"b": "B"}}, "for, b is 'B'"),
        ({"complete": "yes"}, "complete is 'yes'; it must be true or false"),
    ],
)
def test_what_is_wrong_in_a_claim_is_named(change, message):
    entry = {key: value for key, value in {**copy.deepcopy(GOOD), **change}.items() if value is not None}
    with pytest.raises(UserError) as failure:
        claim_forms.parse({"claims": [entry]}, "nie2023")
    assert message in str(failure.value)
    assert "papers/nie2023/claims.yaml, " in str(failure.value)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"within": {"of": "t/a"}}, "no bound"),
        ({"within": {"of": "t/a", "low": 2, "high": 2}}, "low below high"),
        ({"equal": {"of": ["t/a"], "up_to": 1}}, "list at least 2"),
        ({"equal": {"of": ["t/a", "t/b"], "up_to": 0}}, "up_to is 0"),
        ({"monotone": {"of": "t/{x}", "x": [1, 2], "direction": "up"}}, "unknown direction 'up'"),
        ({"monotone": {"of": "t/x", "x": [1, 2], "direction": "rising"}}, "of has no {x}"),
        ({"all": [{"exceeds": {}}]}, "unknown form 'exceeds'"),
        ({"all": []}, "all holds None"),
    ],
)
def test_what_is_wrong_in_a_form_is_named(form, message):
    with pytest.raises(UserError, match="papers/nie2023/claims.yaml, one") as failure:
        claim_forms.parse({"claims": [{**COMMON, **form}]}, "nie2023")
    assert message in str(failure.value)


def test_an_id_names_one_claim():
    with pytest.raises(UserError, match="one: the id is given twice"):
        claim_forms.parse({"claims": [GOOD, GOOD]}, "nie2023")


# evaluation

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


def test_thirds_of_a_curve_are_fixed_beforehand():
    from clrepro.ledger.points import REDUCTIONS

    curve = [9.0, 5.0, 1.0, 2.0, 3.0, 4.0]
    found = {name: reduce(curve) for name, reduce in REDUCTIONS.items()}
    assert found == {"last": 4.0, "first": 9.0, "mean": 4.0, "early": 7.0, "middle": 1.5, "late": 3.5}
    # of a flat noisy curve no third lies below another on average, whereas its minimum lies below everything
    noise = np.random.default_rng(0).normal(size=(4000, 30))
    rises = [REDUCTIONS["late"](list(row)) - REDUCTIONS["middle"](list(row)) for row in noise]
    assert abs(np.mean(rises)) < 4 * np.std(rises) / math.sqrt(len(rises))


def test_how_near_one_cloud_comes_to_another():
    first, second = np.array([[0.0, 0.0], [2.0, 4.0]]), np.array([[0.0, 8.0], [1.0, 1.0], [2.0, 8.0]])
    # extents 2 and 4: (0, 0) lies sqrt(1/4 + 1/16) from (1, 1), (2, 4) lies sqrt(1/4 + 9/16) from it and 1 from (2, 8)
    assert clouds.apart(first, second) == pytest.approx((math.sqrt(5) / 4 + math.sqrt(13) / 4) / 2)
    assert clouds.apart(second, first) != pytest.approx(clouds.apart(first, second))
    random = np.random.default_rng(4)
    one, two = random.normal(size=(9, 2)), random.normal(size=(7, 2)) * (3.0, 0.2)
    scale = [max(column) - min(column) for column in one.T]
    nearest = [min(math.hypot((a - c) / scale[0], (b - d) / scale[1]) for c, d in two) for a, b in one]
    assert clouds.apart(one, two) == pytest.approx(sum(nearest) / 9)
    assert clouds.apart(one * (5, 0.1), two * (5, 0.1)) == pytest.approx(clouds.apart(one, two))  # no unit counts
    assert clouds.apart(one, np.concatenate([two, one])) == 0  # the second has been where the first was
    astray = np.concatenate([two, [[90.0, 90.0]]])
    assert clouds.apart(one, astray) == clouds.apart(one, two)  # nor does it come nearer by going elsewhere


def test_the_middle_of_the_image_lies_between_its_ends():
    # x falls and y rises from the bottom right to the top left; places 0, 0.3, 0.5, 1 of the way
    line = np.array([[1.0, 0.0, 10.0], [0.7, 0.6, 20.0], [0.5, 1.0, 40.0], [0.0, 2.0, 30.0]])
    found = {name: measure(line[:2], line[2:]) for name, (*_, measure) in clouds.MEASURES.items() if name != "apart"}
    assert found == {"bottom_right": 15.0, "middle": 40.0, "top_left": 30.0}
    assert math.isnan(clouds.mean_of_third(1, line[[0, 3]]))
    assert clouds.along_diagonal(line[:, 0], line[:, 1]).tolist() == [0, 0, 1, 2]
    random = np.random.default_rng(5)
    x, y = random.normal(size=(2, 30))
    place = [(b - min(y)) / (max(y) - min(y)) + (max(x) - a) / (max(x) - min(x)) for a, b in zip(x, y, strict=True)]
    cuts = [min(place) + part * (max(place) - min(place)) / 3 for part in (1, 2)]
    assert clouds.along_diagonal(x, y).tolist() == [sum(one >= cut for cut in cuts) for one in place]


# quantities


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_every_reference_of_the_papers_claims_is_known(paper):
    assert claims.check(Catalogue(configuration.load("paper")), paper) > 0


CONTRADICTED = {  # claim: the printed values that lie outside its bounds
    "nie2023": {
        "training_beats_pretrained_transfer": [-0.16],
        "decoupled_match_infonce_on_transfer": [-1.20],
        "dcl_plus_matches_infonce_sts": [-2.89],
        "triplets_beat_decoupled_transfer": [-0.06, -0.38],
    },
    "li2024": {
        "plain_non_contrastive_match_infonce_transfer": [-1.46],
        "modified_match_contrastive_sts": [-1.01],
        "modified_match_contrastive_transfer": [-1.01, -2.49, -2.87, -2.14, -2.52, -2.28, -2.66, -2.16, -2.54],
    },
    "huang2023": {},
    "oar2024": {
        "gain_with_10_percent_of_labels": [0.2437],
        "gain_with_50_percent_of_labels": [0.2868],
        "oar_doubles_accuracy": [-0.0507, -0.1534, -0.176],
        "one_clear_loss_on_cifar100": [-0.0239],
        "oar_doubles_barlow_twins_with_few_labels": [-0.0184],
    },
}


@pytest.mark.parametrize("paper", CONTRADICTED)
def test_a_claim_quotes_a_sentence_and_says_where_the_printed_numbers_contradict_it(paper, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    resolve, found = resolver(Catalogue(configuration.load("paper")), paper, Records()), {}
    for claim in claim_forms.load(paper):
        assert 15 < len(claim.quote) < 300, claim.name
        assert ". " not in claim.quote.replace("... ", ""), claim.name  # a sentence at most
        assert re.match("abstract|section|appendix|caption", claim.place), claim.name
        for part in claim.parts:
            printed = claims.gather(part, claims.look_up(claim, part, resolve)).published
            if part.decides and printed is not None and part.margin(printed) <= 0:
                found.setdefault(claim.name, []).append(round(printed, 4))
                assert "the paper's" in claim.note.lower(), claim.name
    assert found == CONTRADICTED[paper]


@pytest.fixture
def catalogue(tmp_path, monkeypatch) -> Catalogue:
    monkeypatch.chdir(tmp_path)
    raw = configuration.load("demo").model_dump()
    return Catalogue(configuration.parse({**raw, "figures": ["li2024/figure_6"], "seeds": [1, 2]}))


def finish(run, scores: dict[str, float], curve: list[float]) -> None:
    """Leave the files of a finished run: STS test scores as fractions, and STS-B dev over its steps."""
    history = [{"step": 10 * number, "stsb_dev": value} for number, value in enumerate(curve, 1)]
    record = {"identity": run.identity, "seed": run.seed, "code": run.code, "history": history}
    write_json(run.record, {**record, "best_step": 10, "best_score": max(curve)})
    write_json(run.folder / "statistics.json", {"rows": [], "histograms": []})
    rows = [[task, "test", "spearman_all" if task.startswith("STS1") else "spearman", v] for task, v in scores.items()]
    write_json(run.folder / "sts.json", {"rows": rows})


TASKS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness")


def test_cells_and_points_of_figures_become_quantities(catalogue):
    cell = catalogue.cells["li2024", "table_3", "BERT_base mMHE", "STS13", "value"]
    for place, run in enumerate(cell.runs):
        finish(run, dict.fromkeys(TASKS, 0.5 + 0.1 * place), [0.1])
    figure = catalogue.figure("li2024/figure_6")
    point = next(one for one in figure.points if one.series == "margin" and one.runs[0].params["margin"] == 0.4)
    finish(point.runs[0], {}, [0.2, 0.9, 0.4])
    resolve = resolver(catalogue, "li2024", Records())
    single = resolve("table_3/BERT_base mMHE/STS13")
    assert single.values == {1: 50.0, 2: 60.0}
    assert (single.published, single.cell) == (84.32, "li2024/table_3/BERT_base mMHE/STS13/value")
    assert single == resolve("table_3/BERT_base mMHE/STS13/value")
    assert single.family != resolve("table_3/BERT_base mMHE/Avg").family != resolve("table_4/BERT_base mMHE/Avg").family
    assert len(single.runs) == 2
    assert not single.comparable
    assert not resolve("figure_6/margin[0.4]/BERT_base/stsb_dev").comparable
    as_printed = resolver(Catalogue(configuration.load("paper")), "li2024", Records())
    assert as_printed("table_3/BERT_base mMHE/STS13").comparable
    assert as_printed("figure_6/margin[0.4]/BERT_base/stsb_dev").comparable
    assert single.runs[0].endswith("seed1")
    of = "figure_6/margin[0.40]/BERT_base/stsb_dev"
    found = [resolve(f"{of}:{how}").values[1] for how in ("last", "first", "mean", "early", "late")]
    assert found == pytest.approx([0.4, 0.2, 0.5, 0.2, 0.4])
    assert resolve(of) == resolve(f"{of}:last")
    assert resolve(of).why == "seed 2 not run yet: snakemake li2024_figure_6 --cores all"
    assert resolve("figure_6/margin[0.4]/BERT_base/best_stsb_dev").values == {1: 0.9}
    assert resolve("figure_6/margin[0.5]/BERT_base/best_stsb_dev").values == {}
    left_out = resolve("figure_8c/baseline[1.0]/BERT_base/heldout_positive_cosine_mean")
    assert left_out.values == {}
    finish(point.runs[1], {}, [0.2, 0.8, 0.3])
    resolve = resolver(catalogue, "li2024", Records())
    assert resolve(of).values == {1: 0.4, 2: 0.3}
    assert resolve(f"{of}:first").values == {None: 0.2}  # of the untrained encoder: no seed changes it
    assert "put li2024/figure_8c under `figures`" in left_out.why
    point.runs[0].record.write_text("{", "utf-8")
    assert "broken" in resolver(catalogue, "li2024", Records())(of).why


# of image encoders and of simulations


@pytest.fixture
def sweeps(tmp_path, monkeypatch) -> Catalogue:
    monkeypatch.chdir(tmp_path)
    raw = configuration.load("demo").model_dump()
    return Catalogue(configuration.parse({**raw, "figures": ["oar2024/figure_2"], "seeds": [1, 2]}))


def probed(run, accuracy: float, variance: float | None) -> None:
    write_json(run.record, {"identity": run.identity, "seed": run.seed, "code": run.code})
    write_json(run.folder / "statistics.json", {"rows": []})
    write_json(run.folder / "finetune.json", {"rows": [["finetune_10", "test", "top1", accuracy]]})
    rows = [] if variance is None else [["collapse", "test", "variance_raw", variance]]
    write_json(run.folder / "collapse.json", {"rows": rows})


def test_the_share_of_series_that_are_best_where_embeddings_vary_most(sweeps):
    # (accuracy, variance) at the demo's three rates; None: diverged
    numbers = {
        "InfoNCE": [(50, 1.0), (60, 2.0), (10, 0.1)],  # together
        "DCL": [(50, 3.0), (60, 2.0), (10, 0.1)],  # apart
        "InfoNCE [mean]": [(50, 1.0), (50, 0.5), (0, None)],  # together: as good as the best
    }
    figure = sweeps.figure("oar2024/figure_2")
    for name, values in numbers.items():
        points = [point for point in figure.points if point.series == name]
        for point, (accuracy, variance) in zip(points, values, strict=True):
            for run in point.runs:
                shift = run.seed if name == "DCL" and accuracy == 50 else 0  # seed 2 is as good as 52
                probed(run, accuracy + 5 * shift, variance)
    resolve = resolver(sweeps, "oar2024", Records())
    of = "figure_2/{}/CIFAR10_ResNet-18/peaks(finetune_10/top1, collapse/variance_raw)"
    three = resolve(of.format("InfoNCE and DCL and InfoNCE [mean]"))
    assert three.values == {1: pytest.approx(2 / 3), 2: 1.0}
    assert len(three.runs) == 3 * 3 * 2
    unfinished = resolve(of.format("InfoNCE and BT"))
    assert unfinished.values == {}
    assert unfinished.why == "seed 1, 2 not finished: snakemake oar2024_figure_2 --cores all"
    assert resolve("figure_2/InfoNCE [mean][1.0e-2]/CIFAR10_ResNet-18/finetune_10/top1").values == {1: 50, 2: 50}
    left_out = resolve("figure_2/InfoNCE [mean][1.0e-1]/CIFAR10_ResNet-18/finetune_10/top1").why
    assert left_out == "this configuration's `image.training` leaves that point of the sweep out"
    together = "figure_2/{}/CIFAR10_ResNet-18/correlation(finetune_10/top1, collapse/variance_raw)"
    # ranks 2 3 1 and 2 3 1; 2 3 1 and 3 2 1, then 2.5 2.5 1 and 3 2 1; no order of the accuracies
    assert resolve(together.format("InfoNCE")).values == {1: pytest.approx(1), 2: pytest.approx(1)}
    assert resolve(together.format("DCL")).values == {1: 0.5, 2: pytest.approx(math.sqrt(0.75))}
    assert resolve(together.format("InfoNCE [mean]")).values == {1: 0, 2: 0}
    assert resolve(together.format("InfoNCE and DCL")).values == {1: 0.75, 2: pytest.approx((1 + math.sqrt(0.75)) / 2)}
    with pytest.raises(UserError, match="unknown score 'collapse/variance'"):
        resolve(together.format("DCL").replace("_raw", ""))
    absent = resolver(sweeps, "huang2023", Records())
    why = absent("figure_4/MACL/ImageNet100_ResNet-50/places/central_separability").why
    assert why == "this configuration has no `image.backbones.ImageNet100_ResNet-50`"
    for wrong in ("InfoNCE and DLC", "InfoNCE [maen]"):
        with pytest.raises(UserError, match=r"unknown series .* Did you mean"):
            resolve(of.format(wrong))


def test_numbers_of_a_simulation_are_found_by_seed_series_loss_and_weight(sweeps):
    (study,) = (one for one in sweeps.simulations if one.paper == "oar2024")
    lines = ["kind,series,loss,anchor_weight,seed,cluster,x,y,z,metric,value"]
    lines += [f"number,strong,{loss},{weight},{seed},,,,,axes_angle,{value}" for loss, weight, seed, value in (
        ("BT", 0, 0, 0.5), ("BT", 0, 1, ""), ("OAR-BT", 1, 0, 0.75), ("OAR-BT", 1, 1, 1.0), ("OAR-BT", 100, 0, 1.5),
    )]  # fmt: skip
    lines += ["number,moderate,BT,0,0,,,,,axes_angle,9", "point,strong,BT,0,0,1,1,0,0,,"]
    missing = resolver(sweeps, "oar2024", Records())("table_2/strong/BT/axes_angle")
    assert (missing.values, missing.why) == ({}, "not computed yet: snakemake oar2024_table_2 --cores all")
    study.csv.parent.mkdir(parents=True)
    study.csv.write_text("\n".join(lines))
    resolve = resolver(sweeps, "oar2024", Records())
    plain = resolve("table_2/strong/BT/axes_angle")
    assert (plain.values, plain.why) == ({0: 0.5}, "seed 1 diverged")
    assert resolve("table_2/strong/OAR-BT[1]/axes_angle").values == {0: 0.75, 1: 1.0}
    assert resolve("table_2/strong/OAR-BT[100]/axes_angle").values == {0: 1.5}
    for reference, message in (
        ("table_2/weak/BT/axes_angle", "unknown series 'weak'"),
        ("table_2/strong/BT/axes_angel", "Did you mean axes_angle"),
        ("table_2/moderate/OAR-BT[100]/axes_angle", "no anchors of weight 100 there; give one of 1"),
        ("table_2/strong/BT[1]/axes_angle", "a loss without anchors has no weight"),
        ("table_2/strong/axes_angle", "is no number of a simulation"),
    ):
        with pytest.raises(UserError) as failure:
            resolve(reference)
        assert message in str(failure.value)


def test_clouds_join_the_steps_of_statistics_and_leave_the_untrained_encoder_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = configuration.load("demo").model_dump()
    catalogue = Catalogue(configuration.parse({**raw, "figures": ["nie2023/figure_1a"], "seeds": [1, 2]}))
    plane = {"L_cl": [(0, 9, 9), (10, 0, 0), (20, 1, 0)], "L_dcl": [(0, 9, 9), (10, 0, 4), (20, 1, 1), (30, 2, 4)]}
    for point in catalogue.figure("nie2023/figure_1a").points:
        for run in point.runs[: 2 if point.series == "L_cl" else 1]:
            if point.series not in plane:
                continue
            finish(run, {}, [0.1, 0.2])  # scores at steps 10 and 20
            rows = [[step, "dev_uniformity", x] for step, x, _ in plane[point.series]]
            rows += [[step, "dev_alignment", y] for step, _, y in plane[point.series]]
            write_json(run.folder / "statistics.json", {"rows": rows, "histograms": []})
    resolve = resolver(catalogue, "nie2023", Records())
    apart = resolve("figure_1a/L_cl and L_dcl/BERT_base/apart(dev_uniformity, dev_alignment)")
    assert apart.values == {1: pytest.approx((math.sqrt(2) + 1) / 2)}  # L_cl's extents: 1, and 1 for want of any
    assert apart.why == "seed 2 not run yet: snakemake nie2023_figure_1a --cores all"
    assert len(apart.runs) == 3
    # both have scores at (0, 0) and (1, 0), (0, 4) and (1, 1): places 0 and -1, 1 and -0.75 in extents 1 and 4
    scored = "figure_1a/L_cl and L_dcl/BERT_base/{}(dev_uniformity, dev_alignment, stsb_dev)"
    ends = [resolve(scored.format(name)).values for name in ("bottom_right", "top_left")]
    assert ends == [{1: pytest.approx(0.2)}, {1: pytest.approx(0.1)}]
    assert resolve(scored.format("middle")).values == {1: pytest.approx(0.1)}
    none = resolve("figure_1a/L_cl and L_a&u/BERT_base/apart(dev_uniformity, dev_alignment)")
    assert (none.values, none.why[:12]) == ({}, "not run yet:")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("figure_1a/L_cl and L_dcl/BERT_base/near(dev_uniformity, dev_alignment)", "unknown measure 'near'"),
        ("figure_1a/L_cl/BERT_base/apart(dev_uniformity, dev_alignment)", "apart takes 2 series"),
        ("figure_1a/L_cl and L_dcl/BERT_base/middle(dev_uniformity, dev_alignment)", "and 3 statistics"),
        ("figure_1a/L_cl and L_x/BERT_base/apart(dev_uniformity, dev_alignment)", "unknown series 'L_x'"),
        ("figure_1a/L_cl and L_dcl/BERT_base/apart(dev_uniformity, dev_align)", "unknown statistic 'dev_align'"),
    ],
)
def test_an_unknown_cloud_is_named(catalogue, reference, message):
    with pytest.raises(UserError, match="figure_1a") as failure:
        resolver(catalogue, "nie2023", Records())(reference)
    assert message in str(failure.value)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("table_33/BERT_base mMHE/STS13", "unknown table or figure 'table_33'"),
        ("table_3/BERT_base mMHF/STS13", "table_3/BERT_base mMHE/STS13/value"),
        ("figure_6/margins[0.3]/BERT_base/stsb_dev", "unknown series 'margins'"),
        ("figure_6/margin[0.35]/BERT_base/stsb_dev", "no point [0.35]"),
        ("figure_6/margin/BERT_base/stsb_dev", "no point []"),
        ("figure_6/margin[0.3]/BERT_large/stsb_dev", "unknown backbone 'BERT_large'"),
        ("figure_6/margin[0.3]/BERT_base/stsb", "unknown statistic 'stsb'"),
        ("figure_6/margin[0.3]/BERT_base/stsb_dev:median", "unknown reduction 'median'"),
        ("figure_6/margin[0.3]", "is no point of a figure"),
    ],
)
def test_an_unknown_reference_is_named(catalogue, reference, message):
    with pytest.raises(UserError) as failure:
        resolver(catalogue, "li2024", Records())(reference)
    assert message in str(failure.value)
    assert reference in str(failure.value)
