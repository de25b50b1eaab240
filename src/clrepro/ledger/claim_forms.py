"""Reading papers/<paper>/claims.yaml: strictly, and each form made the contrasts that it means (docs/claims.md)."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from typing import Any

from clrepro.catalogue import papers
from clrepro.errors import UserError, unknown

FORMS = {  # form: (needed keys, further keys)
    "greater": ({"of", "than"}, {"by"}),
    "within": ({"of"}, {"low", "high"}),
    "equal": ({"of", "up_to"}, set()),
    "monotone": ({"of", "x", "direction"}, set()),
    "best": ({"of", "among"}, set()),
}
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
Weights = dict[str, float]


@dataclass(frozen=True)
class Part:
    """low < sum of weight * quantity < high. decides: False if it can refute its claim but not support it."""

    name: str
    weights: Weights
    low: float = -math.inf
    high: float = math.inf
    decides: bool = True

    def margin(self, value: float) -> float:
        """How far inside its bounds a value lies."""
        return min(value - self.low, self.high - value)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the contrasts that must all lie between their bounds.

    complete: whether it is tested only when all of its contrasts have runs.
    """

    paper: str
    name: str
    statement: str
    quote: str
    place: str
    form: str
    note: str
    complete: bool
    parts: tuple[Part, ...]


def load(paper: str) -> list[Claim]:
    """The claims of papers/<paper>/claims.yaml."""
    return parse(papers.load(paper, "claims"), paper)


def parse(content: dict[str, Any], paper: str) -> list[Claim]:
    """Claims from the content of a claims.yaml; whatever is not as it must be is a UserError."""
    file = f"papers/{paper}/claims.yaml"
    _keys(content, set(), {"claims"}, file)
    entries = _typed(content.get("claims", []), list, "claims", file)
    claims = [_claim(entry, paper, f"{file}, claim {number}") for number, entry in enumerate(entries, 1)]
    for number, claim in enumerate(claims):
        if claim.name in {other.name for other in claims[:number]}:
            raise UserError(f"{file}, {claim.name}: the id is given twice; an id names one claim of a paper")
    return claims


def _claim(entry: Any, paper: str, place: str) -> Claim:
    name = _typed(entry, dict, "a claim", place).get("id")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UserError(f"{place}: id is {name!r}; give it small letters, digits and underscores, as dcl_beats_cl")
    place = f"papers/{paper}/claims.yaml, {name}"
    common = {"id", "statement", "quote", "place"}
    _keys(entry, common, {"for", "note", "complete", "all", *FORMS}, place)
    forms = [key for key in entry if key == "all" or key in FORMS]
    if len(forms) != 1:
        known = ", ".join((*FORMS, "all"))
        raise UserError(f"{place}: it has {' and '.join(forms) or 'no form'}; give one of {known}")
    form, scope = forms[0], _typed(entry.get("for", {}), dict, "for", place)
    for variable, values in scope.items():
        if not _typed(values, list, f"for, {variable}", place):
            raise UserError(f"{place}: for, {variable} is empty; list its values")
        if f"{{{variable}}}" not in repr(entry[form]):
            raise UserError(f"{place}: for, {variable} is used nowhere; write {{{variable}}} where its value belongs")
    texts = {
        key: _typed(entry.get(key, ""), str, key, place).strip() for key in ("statement", "quote", "place", "note")
    }
    complete = _typed(entry.get("complete", False), bool, "complete", place)
    parts = [
        part
        for values in product(*scope.values())
        for part in _parts(form, _filled(entry[form], dict(zip(scope, values, strict=True))), place)
    ]
    return Claim(paper, name, form=form, complete=complete, parts=tuple(parts), **texts)


def _filled(value: Any, variables: dict[str, Any]) -> Any:
    """A value of YAML with the variables' values in the place of {variable}, at any depth."""
    if isinstance(value, dict):
        return {_filled(key, variables): _filled(part, variables) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, variables) for part in value]
    if isinstance(value, str):
        for name, text in variables.items():
            value = value.replace(f"{{{name}}}", str(text))
    return value


def _parts(form: str, spec: Any, place: str) -> Iterator[Part]:
    """The contrasts of a form."""
    if form == "all":
        for inner in _typed(spec, list, "all", place) or [None]:
            if not isinstance(inner, dict) or len(inner) != 1:
                raise UserError(f"{place}: all holds {inner!r}; list forms, each with its one name")
            yield from _parts(*next(iter(inner.items())), place)
        return
    if form not in FORMS:
        raise unknown("form", str(form), (*FORMS, "all"), place)
    needed, further = FORMS[form]
    _keys(_typed(spec, dict, form, place), needed, further, f"{place}, {form}")
    place = f"{place}, {form}"
    if form == "greater":
        low = _number(spec.get("by", 0), "by", place)
        if isinstance(spec["than"], int | float) and not isinstance(spec["than"], bool):
            yield _part(_weights(spec["of"], place), place, low=low + spec["than"])
        else:
            yield _part(_minus(_weights(spec["of"], place), _weights(spec["than"], place)), place, low=low)
    elif form == "within":
        bounds = {key: _number(spec[key], key, place) for key in ("low", "high") if key in spec}
        if not bounds or bounds.get("low", -math.inf) >= bounds.get("high", math.inf):
            raise UserError(f"{place}: {bounds or 'no bound'}; give low, high or both, low below high")
        yield _part(_weights(spec["of"], place), place, **bounds)
    elif form == "equal":
        most = _number(spec["up_to"], "up_to", place)
        sides = _several(spec["of"], "of", place, 2)
        if most <= 0:
            raise UserError(f"{place}: up_to is {most:g}; give the difference that still counts as none, above 0")
        for first, second in combinations([_weights(side, place) for side in sides], 2):
            yield _part(_minus(first, second), place, low=-most, high=most)
    elif form == "best":
        first = _weights(spec["of"], place)
        for other in _several(spec["among"], "among", place, 1):
            yield _part(_minus(first, _weights(other, place)), place, low=0.0)
    else:
        yield from _monotone(spec, place)


def _monotone(spec: dict, place: str) -> Iterator[Part]:
    """The trend over the ranks as its slope a step, and every step from one value to the next."""
    sign = {"rising": 1, "falling": -1}.get(str(spec["direction"]))
    if sign is None:
        raise unknown("direction", str(spec["direction"]), ("rising", "falling"), place)
    values = _several(spec["x"], "x", place, 2)
    if "{x}" not in repr(spec["of"]):
        raise UserError(f"{place}: of has no {{x}}; write it where the values of x belong")
    points = [_weights(_filled(spec["of"], {"x": value}), place) for value in values]
    middle = (len(points) - 1) / 2
    total = sum((rank - middle) ** 2 for rank in range(len(points)))
    slope: Weights = {}
    for rank, weights in enumerate(points):
        for name, weight in weights.items():
            slope[name] = slope.get(name, 0.0) + sign * weight * (rank - middle) / total
    of = spec["of"] if isinstance(spec["of"], str) else next(iter(spec["of"]))
    trend = f"slope a step of {of}, x from {values[0]} to {values[-1]}, {spec['direction']}"
    yield replace(_part(slope, place, low=0.0), name=trend)
    if len(points) > 2:
        for before, after in pairwise(points):
            step = _minus(after, before) if sign > 0 else _minus(before, after)
            yield replace(_part(step, place, low=0.0), decides=False)


def _part(weights: Weights, place: str, low: float = -math.inf, high: float = math.inf) -> Part:
    kept = {name: weight for name, weight in weights.items() if abs(weight) > 1e-12}
    if not kept:
        raise UserError(f"{place}: {' and '.join(weights)} cancel out; compare different quantities")
    names = []
    for name, weight in kept.items():
        sign = "-" if weight < 0 else "+"
        size = "" if abs(weight) == 1 else f"{abs(weight):g} × "
        names.append(f"{sign} {size}{name}")
    return Part(" ".join(names).removeprefix("+ "), kept, low, high)


def _minus(first: Weights, second: Weights) -> Weights:
    return {name: first.get(name, 0.0) - second.get(name, 0.0) for name in {**first, **second}}


def _weights(value: Any, place: str) -> Weights:
    """A reference, or a mapping of references to weights."""
    pairs = {value: 1} if isinstance(value, str) else value
    if not isinstance(pairs, dict) or not pairs:
        raise UserError(f"{place}: {value!r} is no quantity; give a reference, or references with their weights")
    for name in pairs:
        left = PLACEHOLDER.findall(str(name))
        if left:
            raise UserError(f"{place}: nothing gives {left[0]} in '{name}' a value; list its values under `for`")
        if not isinstance(name, str) or "/" not in name:
            raise UserError(f"{place}: {name!r} is no reference; write table/row/column, perhaps with /metric")
    return {name: _number(weight, f"the weight of '{name}'", place) for name, weight in pairs.items()}


def _keys(entry: dict, needed: set[str], further: set[str], place: str) -> None:
    if not isinstance(entry, dict):
        raise UserError(f"{place}: {entry!r} must be keys with values")
    for key in entry:
        if key not in needed | further:
            raise unknown("key", str(key), needed | further, place)
    for key in sorted(needed):
        if entry.get(key) in (None, ""):
            raise UserError(f"{place}: {key} is missing; give it a value")


def _typed(value: Any, kind: type, what: str, place: str) -> Any:
    if not isinstance(value, kind):
        names = {dict: "keys with values", list: "a list", str: "text", bool: "true or false"}
        raise UserError(f"{place}: {what} is {value!r}; it must be {names[kind]}")
    return value


def _number(value: Any, what: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UserError(f"{place}: {what} is {value!r}; it must be a number")
    return float(value)


def _several(value: Any, what: str, place: str, fewest: int) -> list:
    if len(_typed(value, list, what, place)) < fewest:
        raise UserError(f"{place}: {what} is {value!r}; list at least {fewest}")
    return value
