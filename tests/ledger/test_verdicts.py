"""Summaries over seeds and verdicts on published numbers."""

import math
from collections import Counter

import numpy as np
import pytest

from clrepro.ledger.verdicts import Ours, summarise, verdict


def test_the_summary_has_the_interval_of_two_one_sided_tests():
    ours = summarise([70.0, 71.0, 72.0])
    assert (ours.mean, ours.std, ours.seeds) == (71.0, 1.0, 3)
    assert ours.high - ours.mean == pytest.approx(2.919986 / 3**0.5, abs=1e-5)  # t(0.95; 2)
    assert summarise([70.0, 71.0, 72.0], 0.025).high - ours.mean == pytest.approx(4.302653 / 3**0.5, abs=1e-5)
    assert summarise([70.0]).std is None


@pytest.mark.parametrize(
    ("ours", "published_value", "comparable", "expected"),
    [
        (None, 76.0, True, "missing"),
        (Ours(76, 0.1, 3, 75.8, 76.2), 76.0, False, "not comparable"),
        (Ours(76, 0.1, 3, 75.8, 76.2), None, True, "not comparable"),
        (Ours(76, 0.1, 3, 75.8, 76.2), 76.0, True, "reproduced"),
        (Ours(76, 0.1, 3, 75.0, 77.0), 76.0, True, "reproduced"),  # the ends of the band are inside
        (Ours(78, 0.1, 3, 77.0, 79.0), 76.0, True, "undecided"),
        (Ours(74, 0.1, 3, 73.8, 74.2), 76.0, True, "differs"),
        (Ours(75, 0.9, 3, 73.0, 77.0), 76.0, True, "undecided"),
        (Ours(76, None, 1, None, None), 76.0, True, "undecided"),
        (summarise([76.9], deterministic=True), 76.0, True, "reproduced"),
        (summarise([77.1], deterministic=True), 76.0, True, "differs"),
    ],
)
def test_verdicts(ours, published_value, comparable, expected):
    assert verdict(ours, published_value, comparable, False, 1.0) == expected
    doubted = expected if expected in ("missing", "not comparable") else "published value doubtful"
    assert verdict(ours, published_value, comparable, True, 1.0) == doubted


def test_verdicts_err_no_more_often_than_promised():
    """At the edge of the band neither reproduced nor differs may come up in more than alpha of the cases."""
    generator = np.random.default_rng(0)
    counts = {truth: Counter() for truth in (75.0, 76.0, 72.0)}
    for truth, found in counts.items():
        for seeds in (2, 3, 5):
            for values in generator.normal(truth, 0.4, (1500, seeds)):
                found[verdict(summarise(list(values)), 76.0, True, False, 1.0)] += 1
    total = 4500
    bound = 0.05 * total + 3 * math.sqrt(0.05 * 0.95 * total)
    assert max(counts[75.0]["reproduced"], counts[75.0]["differs"]) < bound
    assert counts[76.0]["differs"] < bound / 10
    assert counts[76.0]["reproduced"] > 0.5 * total  # and it does decide
    assert counts[72.0]["differs"] > 0.8 * total


def test_equal_seeds_tell_of_no_spread():
    ours = summarise([62.2, 62.2])
    assert (ours.std, ours.low) == (0.0, None)
    assert verdict(ours, 62.2, True, False, 1.0) == "undecided"
