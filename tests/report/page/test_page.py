"""Whatever the data, the page is one inert, readable, self-contained file."""

import base64
import copy
import hashlib
import json
import re
from itertools import pairwise

import pytest

from clrepro.report import page
from clrepro.report.page import verdicts
from tests.finished import cells_of
from tests.report.page.reading import check_links, parse, small


def test_every_link_arrives_and_none_leaves(tree):
    check_links(tree)
    assert len([node for node in tree.find("a") if node.attributes["href"].startswith("#cell=")]) > 500


def test_tables_can_be_read_by_everybody(tree):
    for table in tree.find("table"):
        assert len(table.find("caption")) >= 1, table.attributes
        assert table.find("caption")[0].text.strip()
        region = next(node for node in table.above() if "scroll" in node.attributes.get("class", ""))
        assert region.attributes["role"] == "region"
        assert region.attributes["tabindex"] == "0"
        assert region.attributes["aria-label"].strip()
    assert all(node.attributes.get("scope") in ("col", "row", "colgroup") for node in tree.find("th"))
    assert all(node.attributes["alt"].strip() for node in tree.find("img"))
    assert {node.attributes.get("tabindex") for node in tree.walk()} == {None, "0", "-1"}


def test_headings_do_not_skip_a_level(tree):
    levels = [int(node.tag[1]) for node in tree.find("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_verdict_is_a_word_and_not_only_a_sign(tree):
    signs = [node for node in tree.find("use") if "symbol" not in {above.tag for above in node.above()}]
    assert len(signs) > 1000
    for use in signs:
        kind = use.attributes["href"].removeprefix("#g-")
        text = use.parent.parent.text
        words = [word for word in verdicts.KINDS if word in text] + re.findall("holds [a-z ]+|not a result", text)
        assert kind in map(verdicts.kind, words), (kind, text)


def test_the_policy_allows_the_pages_own_blocks_and_nothing_else(tree):
    policy = next(node.attributes["content"] for node in tree.find("meta") if "http-equiv" in node.attributes)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    blocks = {
        "script-src": [node for node in tree.find("script") if node.attributes.get("type") != "application/json"],
        "style-src": tree.find("style"),
    }
    for rule, (block,) in blocks.items():
        digest = base64.b64encode(hashlib.sha256(block.text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not [name for node in tree.walk() for name in node.attributes if name.startswith("on") or name == "style"]


def test_the_json_block_holds_every_cell_and_run(data, tree):
    (block,) = (node for node in tree.find("script") if node.attributes.get("type") == "application/json")
    content = json.loads(block.text)
    cells = cells_of(data)
    assert content["cells"].keys() == cells.keys()
    place = "nie2023/table_1/L_met/RoBERTa_large/sts"
    assert content["cells"][place]["published"] == cells[place]["published"] == 78.71
    assert content["runs"].keys() == data["runs"].keys()
    assert "data:image" not in block.text


def test_the_same_data_give_the_same_bytes(data):
    again = json.loads(json.dumps(data))
    before = copy.deepcopy(again)
    assert page.render(again) == page.render(data)
    assert again == before  # and rendering does not touch the data


@pytest.mark.parametrize("part", [{}, {"scale": "paper", "opening": {"note": "The papers' settings."}}])
def test_no_data_is_a_page_that_says_so(part):
    root = parse(part)
    check_links(root)
    assert "Nothing has been run yet." in root.text
    assert [node.attributes["href"] for node in root.find("nav")[0].find("a")] == ["#overview"]


@pytest.mark.parametrize("absent", ["papers", "claims", "theory", "runs", "fill", "cost", "rule", "setup", "problems"])
def test_any_part_may_be_absent(absent):
    made = small()
    del made[absent]
    check_links(parse(made))
