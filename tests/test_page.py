"""The HTML report: whatever the data, the page is one inert, readable, self-contained file."""

import base64
import copy
import hashlib
import json
import random
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from clrepro.report import page
from clrepro.report.page import shaping, verdicts, words
from clrepro.report.page.contract import complete

sys.path.insert(0, str(Path(__file__).parent / "browser"))
from sample import sample

VOID = {"meta", "link", "br", "img", "input", "hr", "use", "path", "rect", "line", "circle"}
EVIL = '</script></style><img src=x onerror="alert(1)">\'&{{ 7*7 }}'


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children, self.parts = [], []

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, *tags):
        return [node for node in self.walk() if node.tag in tags]

    def above(self):
        node = self.parent
        while node:
            yield node
            node = node.parent

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


class Tree(HTMLParser):
    """A strict reader: every element that is opened is closed, in order."""

    def __init__(self, html):
        super().__init__()
        self.root = self.here = Node("", (), None)
        self.feed(html)
        self.close()
        assert self.here is self.root, f"<{self.here.tag}> is never closed"

    def handle_starttag(self, tag, attributes):
        node = Node(tag, attributes, self.here)
        assert len(node.attributes) == len(attributes), f"<{tag}> has an attribute twice"
        self.here.children.append(node)
        self.here.parts.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.here = self.here.parent

    def handle_endtag(self, tag):
        assert tag == self.here.tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.parts.append(data)


def parse(data):
    return Tree(page.render(data)).root


@pytest.fixture(scope="module")
def data():
    return sample()


SMALL = sample(random.Random(1))


@pytest.fixture(scope="module")
def tree(data):
    return parse(data)


def small():
    """One paper, one run, and one or two of everything else."""
    made = SMALL | {"papers": [paper for paper in SMALL["papers"] if paper["key"] == "nie2023"]}
    made["runs"] = dict(list(SMALL["runs"].items())[:1])
    made = copy.deepcopy(made)
    (kept,) = made["papers"]
    kept["tables"][0]["parts"][0]["rows"] = kept["tables"][0]["parts"][0]["rows"][:2]
    made["claims"] = [claim for claim in made["claims"] if claim["paper"] == "nie2023"][:2]
    made["theory"] = made["theory"][:2]
    made["problems"] = [{"file": "runs/a/record.json", "what": "is no JSON.", "remedy": "Delete it and run again."}]
    return made


def ids_of(root):
    return [node.attributes["id"] for node in root.walk() if "id" in node.attributes]


def check_links(root):
    """Ids are unique, links within the page arrive, all others are files beside it."""
    ids = ids_of(root)
    assert len(ids) == len(set(ids))
    for node in root.walk():
        for name in ("href", "src"):
            link = node.attributes.get(name)
            if link is not None:
                assert not re.match(r"(?i)\s*(https?:|//|javascript:|file:)", link), link
                assert not link.startswith("#") or link[1:] in ids, link
        for name in ("aria-labelledby", "aria-controls", "for"):
            assert node.attributes.get(name) is None or node.attributes[name] in ids


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
    cells = {
        cell["id"]: cell
        for paper in data["papers"]
        for table in paper["tables"]
        for part in table["parts"]
        for row in part["rows"]
        for cell in row["cells"]
    }
    assert content["cells"].keys() == cells.keys()
    place = "nie2023/table_1/L_met/RoBERTa_large/sts"
    assert content["cells"][place]["published"] == cells[place]["published"] == 78.71
    assert content["runs"].keys() == data["runs"].keys()
    assert "data:image" not in block.text


def poisoned(node, poison):
    """The data with `poison` at the end of every text; ids stay in step because all get the same."""
    if isinstance(node, dict):
        names = {"kind", "csv", "md", "tex", "svg", "png", "image"}
        return {key: value if key in names else poisoned(value, poison) for key, value in node.items()}
    if isinstance(node, list):
        return [poisoned(value, poison) for value in node]
    return node + poison if isinstance(node, str) else node


def outline(root):
    return [(node.tag, sorted(node.attributes)) for node in root.walk()]


def test_hostile_text_stays_text():
    calm, hostile = (parse(poisoned(small(), poison)) for poison in (" calm", EVIL))
    assert outline(hostile) == outline(calm)
    assert [node.text for node in hostile.find("script")[1:]] == [node.text for node in calm.find("script")[1:]]
    assert hostile.find("h3")[0].text.endswith(EVIL)
    assert not set("<>&") & set(hostile.find("script")[0].text)  # nothing in the JSON can open or close an element


def test_hostile_names_stay_names():
    made = small()
    folder, run = next(iter(made["runs"].items()))
    made["runs"] = {folder + EVIL: run | {"parameters": {EVIL: 1}}}
    for paper in made["papers"]:
        paper["verdicts"] = {EVIL: 3}
    root = parse(made)
    assert not [node for node in root.find("img") if "onerror" in node.attributes]
    check_links(root)


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


def test_the_answer_counts_in_words():
    paper = {
        "claims": {"holds": 12, "undecided": 3, "fails": 1},
        "verdicts": {"not comparable": 1200, "missing": 7, "not a result": 99},
        "theory": {"fails": 2, "holds": 5, "holds up to a factor": 1, "holds on the tangent plane": 2},
    }
    check = {"paper": "a", "where": "(1)", "statement": "s", "form": "printed", "verdict": "fails"}
    fixed = check | {"form": "corrected", "verdict": "holds"}
    made = complete({"papers": [paper], "theory": [check, fixed, check | {"where": "(2)"}]})
    assert [sentence for sentence, _ in verdicts.answer(made)] == [
        "12 of the papers' 16 claims hold; 1 fails and 3 are undecided.",
        "1,200 of the papers' 1,207 printed results are measured here but not comparable; 7 have no run.",
        "5 of 10 checks of their mathematics hold; 3 hold with a reservation and 2 fail. "
        "1 of the failures is a misprint whose corrected form holds.",
    ]


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


def test_the_bound_is_that_of_the_contrast_that_the_estimate_comes_from():
    strict, loose = {"estimate": 0.4, "low": 1, "high": None}, {"estimate": 2.0, "low": 0, "high": 5}
    assert shaping.bound({"estimate": 2.0, "evidence": [strict, loose]}) == (0, 5)
    assert shaping.bound({"estimate": 9.0, "evidence": [strict, loose]}) == (1, None)
    assert shaping.bound({"estimate": None, "evidence": []}) == (None, None)


def test_addresses_are_those_of_the_script():
    """encodeURIComponent leaves letters, digits and -_.!~*'() alone, and the script keeps slashes."""
    for character in map(chr, range(32, 127)):
        kept = character.isalnum() or character in "-_.!~*'()/"
        assert words.address(character) == (character if kept else f"%{ord(character):02X}")
    assert words.address("τ") == "%CF%84"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0, "0.0 s"), (9.94, "9.9 s"), (99.4, "99 s"), (100, "1.7 min"), (3600, "60 min"), (86400, "24 h")],
)
def test_durations_are_read_at_a_glance(seconds, text):
    assert words.duration(seconds) == text


def test_numbers_carry_their_sign_and_the_papers_decimals():
    assert words.number(-1.25, 1) == "−1.3"  # as toFixed does in the script
    assert words.number(0.02789, 4) == "0.0279"
    assert words.signed(0.154, 2) == "+0.15"
    assert words.signed(-0.154, None) == "−0.15"
    assert [words.named(name) for name in ("table_3_v1", "figure_1a", "table_B4")] == [
        "Table 3 (v1)",
        "Figure 1a",
        "Table B4",
    ]
