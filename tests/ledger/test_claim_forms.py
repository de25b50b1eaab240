"""What the forms of claims mean, and what a wrong claims.yaml says."""

import copy
import math

import pytest

from clrepro.errors import UserError
from clrepro.ledger import claim_forms
from tests.ledger.claim_entry import COMMON


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
