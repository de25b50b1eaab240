"""docs/findings.md: every number on it is the reference results', computed here by other code, and none is typed."""

import csv
import re

import pytest

from clrepro.paths import ROOT
from clrepro.report import kept_values, readme

PAGE = (ROOT / "docs/findings.md").read_text("utf-8")
REFERENCE = ROOT / "results/reference"
MARKS = {mark["name"].removeprefix("kept."): mark["text"] for mark in readme.MARK.finditer(PAGE)}


def lines(file: str) -> list[dict[str, str]]:
    with open(REFERENCE / file, newline="", encoding="utf-8") as content:
        return list(csv.DictReader(content))


def one(file: str, **wanted: str) -> dict[str, str]:
    (found,) = [line for line in lines(file) if all(line[name] == value for name, value in wanted.items())]
    return found


def matching(kind: str) -> list[tuple[str, str]]:
    return [(name, text) for name, text in MARKS.items() if re.match(kind, name)]


def test_the_page_shows_the_kept_numbers():
    assert readme.rewritten(PAGE, kept_values.values(), {"kept"}) == PAGE  # else: make readme
    assert len(MARKS) > 20


@pytest.mark.parametrize(("name", "text"), matching(r"\w+ claim "))
def test_a_claim_is_said_as_its_line_has_it(name, text):
    scale, paper, claim, field = re.fullmatch(r"(\w+) claim (\w+)/(\w+) (\w+)", name).groups()
    line = one(f"{scale}/claims.csv", paper=paper, claim=claim)
    if field == "says":
        verdict, estimate, low, high = re.fullmatch(r"(\w+), (\S+) \((\S+) to (\S+)\)", text).groups()
        shown = zip((estimate, low, high), ("estimate", "ci_low", "ci_high"), strict=True)
        assert all(float(number) == pytest.approx(float(line[column]), rel=5e-3) for number, column in shown)
        assert verdict == line["verdict"]
    else:
        assert text == line[field]


@pytest.mark.parametrize(("name", "text"), matching(r"\w+ cell "))
def test_a_cell_is_shown_as_its_line_has_it(name, text):
    scale, address, field = re.fullmatch(r"(\w+) cell (.+) (ours|spread|published|verdict)", name).groups()
    paper, table, row, column, metric = address.split("/")
    line = one(f"{scale}/ledger.csv", paper=paper, table=table, row=row, column=column, metric=metric)
    numbers = [float(part) for part in text.split(" ± ")]
    columns = ("ours", "ours_std") if field == "spread" else (field,)
    assert numbers == pytest.approx([float(line[column]) for column in columns], abs=0.0051)


@pytest.mark.parametrize(("name", "text"), matching("theory "))
def test_checks_are_counted(name, text):
    rows = lines("paper/theory.csv")
    if count := re.fullmatch(r"theory (\w+) ([\w ]+)", name):
        paper, word = count.groups()
        rows = [row for row in rows if paper in ("all", row["paper"])]
        assert int(text) == (len(rows) if word == "checks" else sum(row["verdict"] == word for row in rows))
        return
    paper, place, *statement = name.removeprefix("theory ").split("/", 2)
    rows = [row for row in rows if (row["paper"], row["where"]) == (paper, place)]
    if statement:
        assert any(row["statement"] == statement[0] and row["detail"].startswith(text) for row in rows)
    else:
        assert text == f"{sum(row['verdict'] == 'fails' for row in rows)} of {len(rows)} checks fail"


def test_no_number_is_typed_and_every_finding_has_its_evidence():
    prose = readme.MARK.sub("", PAGE)
    # places in papers, names of papers, columns, encoders and sizes of a bound are words, not results
    named = (
        r"(?i:equations?|table|theorem|section|lemma|proposition|figure|tables) \(?[\d.]+\)?( \(\d\))?( to \(\d+\))?"
    )
    prose = re.sub(
        rf"{named}|\b[a-z]+20\d\d\b|`[^`]*`|\]\([^)]*\)|\bNCI1\b|K/\(K\+1\)|exponent 2\b|CIFAR-10", "", prose
    )
    assert re.findall(r".*\d.*", prose) == []
    bullets = re.split(r"\n(?=- )", PAGE.split("## What cannot be said")[0])[1:]
    assert len(bullets) > 10
    assert all(readme.MARK.search(bullet) for bullet in bullets)
