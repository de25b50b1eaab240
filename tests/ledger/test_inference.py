"""The statistics of claims: what the tests promise."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import integrate, stats

from clrepro.ledger import inference
from clrepro.ledger.inference import Contrast, Prior


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

    spreads = np.linspace(0, 4, 33)
    spreads[0] = 0.01  # of 0 there would be infinitely many degrees of freedom
    weights = np.array([evidence(spread) * math.exp(-((spread / inference.SCALE) ** 2) / 2) for spread in spreads])
    freedom = np.array([2 * math.exp(inference.inverse_trigamma(spread**2)) for spread in spreads])
    prior = inference.fit(contrasts)
    expected = (weights * freedom / (freedom + 2)).sum() / weights.sum()
    assert (prior.probability * prior.freedom / (prior.freedom + 2)).sum() == pytest.approx(expected, abs=1e-4)


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


@pytest.mark.parametrize(("distance", "level"), [(3.0, 0.05), (1.0, 0.05 / 28), (-0.4, 0.05)])
def test_the_seeds_needed_have_the_power_that_is_asked_and_one_less_has_not(distance, level):
    found = inference.seeds_needed(distance, level)
    for seeds, enough in ((found, True), (found - 1, False)):
        share = stats.nct.sf(stats.t.ppf(1 - level, seeds - 1), seeds - 1, abs(distance) * math.sqrt(seeds))
        assert bool(share >= 0.8) is enough
    assert inference.seeds_needed(0.01, level) is None
