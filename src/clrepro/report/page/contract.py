"""The report's data by its contract, with a default for whatever is absent: the report always renders."""

import math
from typing import Any

LISTS = ("setup", "rule", "papers", "claims", "theory", "problems", "fill")
PAGE = {"scale": "", "state": {}, **{name: [] for name in LISTS}}
OPENING = {"judges": True, "headline": "", "lines": [], "note": ""}
MADE = {"clrepro": "", "commit": None}
COST = {"seconds": 0.0, "energy_wh": None, "runs": 0, "rows": [], "notes": []}
PAPER = {
    **dict.fromkeys(("title", "venue", "year", "code"), ""),
    **{name: {} for name in ("verdicts", "claims", "theory")},
    **{name: [] for name in ("authors", "tables", "figures", "errata", "inconsistencies", "choices")},
}
TABLE = {"caption": "", "kind": "results", "notes": [], "protocol": [], "parts": [], "files": {}}
FIGURE = {"shows": "", "image": "", "alt": "", "files": {}, "missing": "", "fill": ""}
CELL = {
    **dict.fromkeys(("published", "published_std", "decimals", "ours", "std", "ci", "seeds", "difference")),
    **{"verdict": "missing", "note": "", "fill": "", "runs": [], "text": ""},
}
NUMBERS = dict.fromkeys(("estimate", "ci_low", "ci_high", "seeds", "published"))
CLAIM = (
    NUMBERS
    | dict.fromkeys(("effect", "p_holds", "p_fails"))
    | {"quote": "", "place": "", "form": "", "scope": "", "note": "", "seeds_needed": ""}
)
EVIDENCE = NUMBERS | {"name": "", "low": None, "high": None, "verdict": "missing", "why": "", "cells": [], "runs": []}
CHECK = dict.fromkeys(("where", "form", "statement", "verdict", "detail", "checked"), "")
RUN = {
    **dict.fromkeys(("objective", "variant", "backbone", "seed", "seconds", "steps", "best_step", "best_score"), None),
    **{"parameters": {}, "stale": False, "cells": []},
}


def complete(data: dict) -> dict:
    """The data with every absent part empty and every number that JSON cannot hold (nan, infinity) absent."""
    page = filled(PAGE, clean(data))
    page["made"] = filled(MADE, page.get("made"))
    page["opening"] = filled(OPENING, page.get("opening"))
    page["cost"] = filled(COST, page.get("cost"))
    page["runs"] = {name: filled(RUN, run) for name, run in (page.get("runs") or {}).items()}
    page["theory"] = [filled(CHECK, check) for check in page["theory"]]
    page["claims"] = [filled(CLAIM, claim) for claim in page["claims"]]
    for claim in page["claims"]:
        claim["evidence"] = [filled(EVIDENCE, part) for part in claim.get("evidence") or []]
    page["papers"] = [filled(PAPER, paper) for paper in page["papers"]]
    for paper in page["papers"]:
        paper["figures"] = [filled(FIGURE, figure) for figure in paper["figures"]]
        paper["tables"] = [filled(TABLE, table) for table in paper["tables"]]
        for row in (row for table in paper["tables"] for part in table["parts"] for row in part["rows"]):
            row["cells"] = [cell and filled(CELL, cell) for cell in row["cells"]]
    return page


def filled(defaults: dict, entry: dict | None) -> dict:
    """The entry, with the defaults for what it lacks or has as None."""
    return {**defaults, **{name: value for name, value in (entry or {}).items() if value is not None}}


def clean(node: Any) -> Any:
    if isinstance(node, dict):
        return {str(key): clean(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [clean(value) for value in node]
    if isinstance(node, float) and not math.isfinite(node):
        return None
    return node
