"""What the page shows of its data."""

import json
import re

import pytest

from clrepro.report.page import shaping, words
from clrepro.report.page.contract import complete
from tests.report.page.reading import check_links, parse, small


def test_one_run_is_in_the_singular_and_problems_are_named():
    made = small()
    made["cost"] |= {"runs": 1, "rows": []}
    root = parse(made)
    text = " ".join(root.text.split())
    assert "1 run, " in text
    assert "1 problem" in text
    assert "runs/a/record.json: is no JSON. Delete it and run again." in text


@pytest.mark.parametrize("kind", ["results", "figure", "text", "settings", "quoted", "formulas"])
def test_only_where_ours_can_stand_do_cells_open(kind):
    links = 16 if kind in ("results", "figure", "text") else 0  # two rows of four backbones, STS and transfer
    made = small()
    made["papers"][0]["tables"] = made["papers"][0]["tables"][:1]
    made["papers"][0]["tables"][0]["kind"] = kind
    root = parse(made)
    assert len([node for node in root.find("a") if node.attributes["href"].startswith("#cell=")]) == links
    (table,) = (node for node in root.find("table") if "table 1" in node.find("caption")[0].text.lower())
    assert "56.7" in table.text


def test_numbers_that_are_none_are_holes():
    made = small()
    cell = made["papers"][0]["tables"][0]["parts"][0]["rows"][0]["cells"][0]
    cell |= {"ours": float("nan"), "std": float("inf"), "ci": None, "difference": float("-inf"), "verdict": "missing"}
    root = parse(made)
    address = f"cell={words.address(cell['id'])}"
    (shown,) = (node for node in root.walk() if node.attributes.get("id") == address)
    assert "missing, ours –" in shown.text
    assert "nan" not in shown.text
    assert "inf" not in shown.text


def test_a_scale_that_cannot_judge_leads_with_what_was_done_and_judges_no_claim():
    made = small()
    lines = [{"name": "Trainings", "text": "308 of 308 planned.", "counts": {}}]
    lines.append({"name": "Claims", "text": "2 have runs here.", "counts": {"seen": 1, "opposite": 1}})
    made["opening"] = {"judges": False, "headline": "Demo scale: 308 trained.", "lines": lines, "note": "No verdict."}
    for claim, verdict in zip(made["claims"], ("seen", "opposite"), strict=True):
        claim["verdict"] = verdict
        for part in claim["evidence"]:
            part["verdict"] = verdict
    (paper,) = made["papers"]
    paper |= {"claims": {"seen": 1, "opposite": 1}, "verdicts": {"not comparable": 9}, "theory": {}}
    made["theory"] = made["rule"] = []
    root = parse(made)
    check_links(root)
    by_id = {node.attributes.get("id"): " ".join(node.text.split()) for node in root.find("section", "dl")}
    overview = by_id["overview"]
    places = [overview.index(text) for text in ("What the demo scale shows", "Demo scale: 308", "308 of 308", "2 have")]
    assert places == sorted(places)
    assert "No verdict." in overview
    assert "No verdict." in by_id["claims"]
    for text in (overview, by_id["claims"], by_id["method"]):
        assert not re.search(r"\b(holds?|fails?|differs?|reproduced)\b", text), text
    explained = {node.text for node in root.find("dt")}
    assert explained >= {"seen", "opposite", "not comparable"}
    assert not explained & {"holds", "fails", "differs", "reproduced"}
    order = [node.attributes["href"] for node in root.find("nav")[0].find("a")]
    assert order.index("#overview") < order.index("#tables") < order.index("#figures") < order.index("#claims")
    sections = [f"#{node.attributes['id']}" for node in root.find("section") if node.parent.tag == "main"]
    assert sections == order
    judged = [node.attributes["href"] for node in parse(small()).find("nav")[0].find("a")]
    assert judged.index("#claims") < judged.index("#tables")


def test_a_claim_stands_beside_the_papers_own_words():
    made = small()
    made["claims"][0]["quote"], made["claims"][1]["quote"] = "Both losses < fall & stay flat", ""
    statements = [node for node in parse(made).find("th") if node.attributes.get("class") == "statement"]
    first, second = statements[:2]
    (quoted,) = first.find("q")
    assert quoted.text == "Both losses < fall & stay flat"
    assert made["claims"][0]["place"] in first.text
    assert second.find("q") == []


def test_what_is_wrong_is_in_the_pages_data():
    made = small() | {"state": {"problems": 1, "to_fill": 3}}
    (block,) = (node for node in parse(made).find("script") if node.attributes.get("type") == "application/json")
    assert json.loads(block.text)["state"] == made["state"]
    without = parse(made | {"problems": []})
    assert not [node for node in without.walk() if node.attributes.get("class") == "problems"]


def test_numbers_of_a_table_stand_below_each_other():
    """The room beside a number is one for the whole table, whatever stands in a single cell."""
    made = small()
    (part,) = made["papers"][0]["tables"][0]["parts"]
    cells = [cell for row in part["rows"] for cell in row["cells"]]
    for cell in cells:
        cell |= dict.fromkeys(("std", "published_std", "difference"))

    def room() -> str:
        return shaping.room(complete(made)["papers"][0]["tables"][0]["parts"][0])

    assert room() == "room-0"
    cells[-1]["std"] = 0.4
    assert room() == "room-1"
    cells[0] |= {"published_std": 0.3, "difference": 0.1}
    assert room() == "room-2"
