"""From the report's data to what its templates lay out: the script's JSON, the sections, headers, counts and bounds."""

import json
from collections import Counter
from itertools import groupby

from clrepro.report.page.verdicts import KINDS, MEANINGS
from clrepro.report.page.words import duration, named


def payload(page: dict) -> str:
    """What the script needs, as JSON in which no character can end the block: cells, runs, the claims' evidence."""
    cells = {}
    for paper in page["papers"]:
        for table in paper["tables"]:
            for cell in (cell for part in table["parts"] for row in part["rows"] for cell in row["cells"] if cell):
                cells[cell["id"]] = {key: value for key, value in cell.items() if key != "id"}
    claims = [
        {
            "id": f"{claim['paper']}/{claim['claim']}",
            "statement": claim["statement"],
            "verdict": claim["verdict"],
            "evidence": [{"cells": part.get("cells"), "runs": part.get("runs")} for part in claim["evidence"]],
        }
        for claim in page["claims"]
    ]
    tables = {
        f"{paper['key']}/{table['id']}": [named(table["id"]), table["caption"]]
        for paper in page["papers"]
        for table in paper["tables"]
    }
    content = {
        "cells": cells,
        "runs": {id: run | {"time": run["seconds"] and duration(run["seconds"])} for id, run in page["runs"].items()},
        "claims": claims,
        "state": page["state"],
        "tables": tables,
        "kinds": KINDS,
        "meanings": MEANINGS,
    }
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def sections(page: dict) -> list[tuple[str, str]]:
    """(id, name) of the sections that the page has, in its order."""
    papers = page["papers"]
    present = {
        "overview": "What reproduced" if page["opening"]["judges"] else "Overview",
        "claims": "Claims" if page["claims"] else "",
        "tables": "Tables" if any(paper["tables"] for paper in papers) else "",
        "figures": "Figures" if any(paper["figures"] for paper in papers) else "",
        "theory": "Theory" if page["theory"] else "",
        "errata": "Errata" if any(paper["errata"] or paper["inconsistencies"] for paper in papers) else "",
        "choices": "Choices" if any(paper["choices"] for paper in papers) else "",
        "holes": "Holes" if page["fill"] else "",
        "runs": "Runs" if page["runs"] else "",
        "cost": "Cost" if page["cost"]["rows"] or page["cost"]["runs"] else "",
        "method": "Method" if page["rule"] or page["setup"] else "",
    }
    return [(key, present[key]) for key in ["overview", *order(page), "method"] if present[key]]


def heading(page: dict) -> str:
    """The page's title: at a scale that cannot judge the papers nothing is said to reproduce."""
    return "What reproduced?" if page["opening"]["judges"] else f"What the {page['scale']} scale shows"


def order(page: dict) -> list[str]:
    """The sections between overview and method: claims first where they are judged, else behind what was done."""
    made = ["tables", "figures", "theory"]
    leading = ["claims", *made] if page["opening"]["judges"] else [*made, "claims"]
    return [*leading, "errata", "choices", "holes", "runs", "cost"]


def glossary(page: dict) -> dict[str, str]:
    """The meanings of the verdicts that occur on the page."""
    found = {
        verdict for paper in page["papers"] for counts in ("verdicts", "claims", "theory") for verdict in paper[counts]
    }
    return {verdict: meaning for verdict, meaning in MEANINGS.items() if verdict in found}


def header(columns: list[dict]) -> tuple[list[tuple[str, int]], list[dict]]:
    """Groups of adjacent columns as (name, width), none where one line is enough; and the columns below them."""
    if len({column["metric"] for column in columns}) < 2:
        return [], columns
    return [(name, len(list(group))) for name, group in groupby(columns, key=lambda column: column["column"])], columns


def table_counts(table: dict) -> dict[str, int]:
    cells = [cell for part in table["parts"] for row in part["rows"] for cell in row["cells"] if cell]
    return dict(Counter(cell["verdict"] for cell in cells))


def room(part: dict) -> str:
    """How much room a part's cells need beside their numbers, so that these stand below each other: a class."""
    cells = [cell for row in part["rows"] for cell in row["cells"] if cell]
    if any(cell["published_std"] is not None and cell["difference"] is not None for cell in cells):
        return "room-2"
    beside = ("std", "published_std", "difference")
    return "room-1" if any(cell[name] is not None for cell in cells for name in beside) else "room-0"


def is_result(table: dict) -> bool:
    """Whether ours stands beside the printed: in tables of results, and in numbers of figures and of the text."""
    return table["kind"] not in ("settings", "quoted", "formulas")


def is_open(table: dict) -> bool:
    """Whether a table is unfolded at first: one that has a number of ours is."""
    return is_result(table) and not set(table_counts(table)) <= {"missing", "not a result"}


def bound(claim: dict) -> tuple[float | None, float | None]:
    """(low, high) that the claim's estimate has to lie between: those of the contrast that it is the estimate of."""
    parts = claim["evidence"]
    same = [part for part in parts if part.get("estimate") == claim.get("estimate")]
    part = (same or parts or [{}])[0]
    return part.get("low"), part.get("high")


def first_of(items: list[dict], key: str) -> list[bool]:
    """For every item whether it is the first with its value of key."""
    seen: set = set()
    return [item[key] not in seen and not seen.add(item[key]) for item in items]
