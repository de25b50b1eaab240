"""README.md's numbers: those of the code are today's, those of results are read from a folder, none is typed."""

import re

import pandas as pd
import pytest

from clrepro import config
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.paths import ROOT
from clrepro.report import readme

README = (ROOT / "README.md").read_text("utf-8")


def test_numbers_of_code_and_plan_are_todays():
    values = readme.of_code() | readme.of_plan(Catalogue(config.load("paper")))
    assert readme.rewritten(README, values, {"code", "paper"}) == README  # else: make readme


def test_marks_are_whole_and_show_nothing_of_themselves():
    marks = list(readme.MARK.finditer(README))
    assert len(marks) > 20
    assert README.count("<!--") == 2 * len(marks)
    assert all(mark["text"].strip() for mark in marks)
    # a comment that begins a line would end the paragraph there; only a block stands on lines of its own
    for line in re.findall(r"^ *<!--.*$", README, re.MULTILINE):
        assert re.fullmatch(r"<!--(demo\.show|/)-->", line)


def test_a_mark_takes_a_scales_number_a_cell_or_the_range_of_a_column():
    rows = [
        ("p", "t", "first", "c", "value", 49.44, 1), ("p", "t", "second", "c", "value", 9.876, 1),
        ("p", "t", "second", "d", "value", 3.0, 3),
    ]  # fmt: skip
    cells = pd.DataFrame(rows, columns=["paper", "table", "row", "column", "metric", "ours", "decimals"])
    values = {
        f"demo.{name}": lambda part=part: readme.number_of(part) for name, part in readme.addressed(cells).items()
    }
    text = "a <!--demo.p/t/first/c/value-->x<!--/-->, <!--demo.p/t/*/c/value--><!--/-->, <!--bench.kept-->7<!--/-->"
    assert readme.rewritten(text, values, {"demo"}) == (
        "a <!--demo.p/t/first/c/value-->49.4<!--/-->, <!--demo.p/t/*/c/value-->9.9 to 49.4<!--/-->, "
        "<!--bench.kept-->7<!--/-->"
    )
    with pytest.raises(UserError, match=r"unknown number 'demo\.p/t/frist/c/value' in README\.md"):
        readme.rewritten("<!--demo.p/t/frist/c/value-->1<!--/-->", values, {"demo"})
