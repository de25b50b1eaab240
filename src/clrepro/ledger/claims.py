"""The papers' claims, tested over seeds: a line a claim, and the evidence behind it (docs/claims.md)."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.ledger import inference
from clrepro.ledger.claim_forms import Claim, Part, load
from clrepro.ledger.inference import ALPHA, Contrast, Result
from clrepro.ledger.quantities import resolver
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records
from clrepro.ledger.verdicts import in_words

COLUMNS = [
    "paper", "claim", "statement", "estimate", "ci_low", "ci_high", "seeds", "verdict",
    "quote", "place", "form", "scope", "effect", "published", "p_holds", "p_fails", "note",
    "seeds_needed",
]  # fmt: skip
DIGITS = 6  # significant ones, in files
Resolve = Callable[[str], Quantity]


@dataclass(frozen=True)
class Finding:
    """A contrast of a claim with what the runs say of it; without runs it has no contrast, but a why."""

    part: Part
    quantities: dict[str, Quantity]
    contrast: Contrast | None
    result: Result | None
    whys: dict[str, str]  # by reference

    @property
    def published(self) -> float | None:
        """The same weighted sum of the printed numbers, if all of them are printed."""
        if any(quantity.published is None for quantity in self.quantities.values()):
            return None
        return exact(self.part.weights, {name: part.published for name, part in self.quantities.items()})

    @property
    def comparable(self) -> bool:
        """Whether all its numbers are measured as the paper's were."""
        return all(quantity.comparable for quantity in self.quantities.values())


def evaluate(catalogue: Catalogue, records: Records | None = None) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """All claims of the configuration's papers: the summary (COLUMNS) and, claim by claim, the report's evidence.

    alpha is the configuration's `ledger.alpha`.
    """
    records = records or Records()
    entries = []
    for paper in catalogue.config.papers:
        resolve = resolver(catalogue, paper, records)
        entries += evaluate_paper(load(paper), resolve, catalogue.config.ledger.alpha)
    return frame(entries), entries


def check(catalogue: Catalogue, paper: str, claims: Iterable[Claim] | None = None) -> int:
    """Look up every reference of a paper's claims and return their number; an unknown one is a UserError."""
    resolve = resolver(catalogue, paper, Records())
    claims = load(paper) if claims is None else claims
    return len({name for claim in claims for part in claim.parts for name in look_up(claim, part, resolve)})


def look_up(claim: Claim, part: Part, resolve: Resolve) -> dict[str, Quantity]:
    """The quantities of a contrast, by reference."""
    try:
        return {name: resolve(name) for name in part.weights}
    except UserError as failure:
        raise UserError(f"papers/{claim.paper}/claims.yaml, {claim.name}: {failure}") from None


def evaluate_paper(claims: list[Claim], resolve: Resolve, alpha: float = ALPHA) -> list[dict[str, Any]]:
    """The claims of one paper, tested together, as the report wants them; numbers to DIGITS significant digits.

    A claim holds if all its contrasts do (the largest p_holds) and fails if any does (the smallest p_fails times their
    number). Holm's correction goes over the paper's claims that have runs, for p_holds and p_fails apart. Where not all
    its numbers compare with the paper's, `seen` and `opposite` are said in the place of `holds` and `fails`. A complete
    claim is missing, and no claim that has runs, until all its contrasts have.
    """
    findings = {claim.name: [gather(part, look_up(claim, part, resolve)) for part in claim.parts] for claim in claims}
    waiting = {claim.name for claim in claims if is_waiting(claim, findings[claim.name])}
    tested = [one for name, parts in findings.items() if name not in waiting for one in parts if one.contrast]
    results = inference.examine_all([finding.contrast for finding in tested], alpha)
    by_part = {id(finding): result for finding, result in zip(tested, results, strict=True)}
    findings = {name: [judged(one, by_part.get(id(one))) for one in parts] for name, parts in findings.items()}
    ran = [claim for claim in claims if any(finding.result for finding in findings[claim.name])]
    raw = [combined(findings[claim.name]) for claim in ran]
    adjusted = [inference.holm(values) for values in zip(*raw, strict=True)] or [[], []]
    numbers = {claim.name: values for claim, *values in zip(ran, raw, *adjusted, strict=True)}
    return [entry(claim, findings[claim.name], numbers.get(claim.name), alpha, len(ran)) for claim in claims]


def gather(part: Part, quantities: dict[str, Quantity]) -> Finding:
    """The contrast of a part, seed by seed over the seeds that all its quantities have; or why there is none."""
    whys = {name: quantity.why for name, quantity in quantities.items() if quantity.why}
    lacking = [name for name, quantity in quantities.items() if not quantity.values]
    seeded = [name for name, quantity in quantities.items() if set(quantity.values) - {None}]
    if lacking:
        return Finding(part, quantities, None, None, whys or {lacking[0]: "no runs"})
    common = set.intersection(*(set(quantities[name].values) for name in seeded)) if seeded else {None}
    if not common:
        apart = dict.fromkeys(seeded, "no seed in common with the others")
        return Finding(part, quantities, None, None, {**apart, **whys})
    values = tuple(
        exact(part.weights, {name: one.values.get(seed, one.values.get(None)) for name, one in quantities.items()})
        for seed in sorted(common, key=str)
    )
    varying: dict[str, float] = defaultdict(float)
    totals: dict[str, float] = defaultdict(float)
    for name in seeded:
        one, weight = quantities[name], part.weights[name]
        varying[one.measured or name] += weight
        totals[one.family] += 0 if one.is_difference else weight  # in a difference a seed's shift cancels already
    varying = {name: weight for name, weight in varying.items() if abs(weight) > 1e-9}
    if seeded and not varying:  # of settings that a scale makes equal
        return Finding(
            part, quantities, None, None, {**dict.fromkeys(seeded, "the same runs stand on both sides"), **whys}
        )
    paired = all(abs(total) < 1e-9 for total in totals.values())
    contrast = Contrast(values, varying, part.low, part.high, " and ".join(sorted(totals)), paired)
    return Finding(part, quantities, contrast, None, whys)


def is_waiting(claim: Claim, findings: list[Finding]) -> bool:
    """Whether a claim that is tested as a whole only still lacks runs of one of its contrasts."""
    return claim.complete and not all(finding.contrast for finding in findings)


def merged(findings: list[Finding]) -> str:
    """What is missing, broken or stale, each reason once, with the references that it concerns if they are few."""
    concerned: dict[str, dict[str, None]] = defaultdict(dict)
    for finding in findings:
        for name, why in finding.whys.items():
            concerned[why][name] = None
    return "; ".join(
        f"{', '.join(names)}: {why}" if len(names) < 3 else f"{why} ({len(names)} numbers)"
        for why, names in concerned.items()
    )


def judged(finding: Finding, result: Result | None) -> Finding:
    """A finding with its result, and why that decides nothing if it tells of no spread."""
    whys = finding.whys
    if result and result.low is None:
        same = "one seed tells" if finding.contrast.freedom == 0 else "values that are the same for every seed tell"
        whys = {**whys, finding.part.name: f"{same} of no spread"}
    return replace(finding, result=result, whys=whys)


def exact(weights: dict[str, float], values: dict[str, float]) -> float:
    """A weighted sum, cleared of the noise of floating-point numbers: equal sums must come out equal."""
    terms = [weight * values[name] for name, weight in weights.items()]
    largest = max(map(abs, terms))
    return round(math.fsum(terms), 11 - math.ceil(math.log10(largest))) + 0.0 if largest else 0.0


def combined(findings: list[Finding]) -> tuple[float, float]:
    """p_holds (intersection-union) and p_fails (union-intersection) of a claim, from its contrasts that have runs."""
    tested = [finding for finding in findings if finding.result]
    deciding = [finding.result.p_holds for finding in tested if finding.part.decides]
    return max(deciding, default=1.0), min(1.0, len(tested) * min(finding.result.p_fails for finding in tested))


def shown(findings: list[Finding], verdict: str) -> Finding | None:
    """The contrast whose numbers stand for the claim: the weakest; where the claim fails, the one that refutes it."""
    tested = [finding for finding in findings if finding.result]
    if verdict == "fails":
        return min(tested, key=lambda one: (one.result.p_fails, one.part.margin(one.result.estimate)))
    deciding = [finding for finding in tested if finding.part.decides]
    if deciding:
        return min(deciding, key=lambda one: (-one.result.p_holds, one.part.margin(one.result.estimate)))
    printed = [finding for finding in findings if finding.part.decides and finding.published is not None]
    return min(printed, key=lambda one: one.part.margin(one.published), default=None)


def needed(finding: Finding, comparisons: int, alpha: float) -> str:
    """How many seeds would decide an undecided claim, were the true difference of its weakest comparison what it seems.

    At alpha over the number of comparisons that its test stands among. Empty where nothing tells of a spread.
    """
    result = finding.result
    if not result.deviation:
        return ""
    distance = finding.part.margin(result.estimate) / result.deviation
    return str(inference.seeds_needed(distance, alpha / comparisons) or f"more than {inference.MOST_SEEDS}")


def entry(claim: Claim, findings: list[Finding], numbers: list | None, alpha: float, ran: int) -> dict[str, Any]:
    """A claim as the report's data has it. numbers: (p_holds, p_fails) before Holm's correction, then each after it.

    ran: how many claims of the paper are tested.
    """
    tested = [finding for finding in findings if finding.result]
    verdict, factors, p_holds, p_fails = "missing", (1.0, 1.0), None, None
    if numbers:
        raw, p_holds, p_fails = numbers
        verdict = inference.verdict(p_holds, p_fails, alpha)
        holm_holds, holm_fails = (
            after / before if before else 1.0 for before, after in zip(raw, (p_holds, p_fails), strict=True)
        )
        factors = holm_holds, len(tested) * holm_fails
    comparable = all(finding.comparable for finding in tested)  # of both kinds, the weaker words
    one = shown(findings, verdict)
    result = one.result if one else None
    whys = merged(findings)
    left_out = f"left out: {whys}" if tested and len(tested) < len(findings) else whys
    have_runs = sum(finding.contrast is not None for finding in findings)
    awaits = ""
    if is_waiting(claim, findings):
        awaits = f"{have_runs} of {len(findings)} comparisons have runs; it is tested when all have"
    # one comparison that lies inside its bounds is tested with all claims, one outside with its own claim's besides
    inside = result is not None and one.part.margin(result.estimate) > 0
    tests = ran * (1 if inside else len(tested))
    return {
        "paper": claim.paper,
        "claim": claim.name,
        "statement": claim.statement,
        "estimate": significant(result and result.estimate),
        "ci_low": significant(result and result.low),
        "ci_high": significant(result and result.high),
        "seeds": min((len(finding.contrast.values) for finding in tested), default=0),
        "verdict": in_words(verdict, comparable),
        "quote": claim.quote,
        "place": claim.place,
        "form": claim.form,
        "scope": f"{have_runs} of {len(findings)}",
        "effect": significant(result and result.effect),
        "published": significant(one and one.published),
        "p_holds": significant(p_holds),
        "p_fails": significant(p_fails),
        "note": "; ".join(filter(None, [claim.note, awaits, left_out])),
        "seeds_needed": needed(one, tests, alpha) if verdict == "undecided" and result else "",
        "evidence": [evidence(finding, factors, comparable, alpha) for finding in findings],
    }


def evidence(finding: Finding, factors: tuple[float, float], comparable: bool, alpha: float) -> dict[str, Any]:
    """A contrast as the report's data has it.

    Its verdict carries the claim's correction (factors, for p_holds and p_fails), so that a claim holds where all its
    deciding contrasts do and fails where one does; it is said in the claim's words (comparable). A contrast that only
    can refute never reads `holds` or `seen`.
    """
    part, result = finding.part, finding.result
    verdict = "missing"
    if result:
        holds = factors[0] * result.p_holds if part.decides else 1.0
        verdict = inference.verdict(holds, factors[1] * result.p_fails, alpha)
    return {
        "name": part.name,
        "estimate": significant(result and result.estimate),
        "ci_low": significant(result and result.low),
        "ci_high": significant(result and result.high),
        "low": significant(part.low),
        "high": significant(part.high),
        "seeds": len(finding.contrast.values) if finding.contrast else 0,
        "published": significant(finding.published),
        "verdict": in_words(verdict, comparable),
        "why": merged([finding]),
        "cells": [quantity.cell or name for name, quantity in finding.quantities.items()],
        "runs": list(dict.fromkeys(run for quantity in finding.quantities.values() for run in quantity.runs)),
    }


def significant(value: float | None) -> float | None:
    """A number with DIGITS significant digits; what is infinite is None."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}") + 0.0


def frame(entries: list[dict[str, Any]]) -> pd.DataFrame:
    """The summary, one line a claim."""
    return pd.DataFrame([{name: one[name] for name in COLUMNS} for one in entries], columns=COLUMNS)
