"""README.md's numbers: those of the code are today's, those of results are read from a folder, none is typed."""

import re

import pytest

from clrepro import config
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.paths import ROOT
from clrepro.report import kept_values, readme

README = (ROOT / "README.md").read_text("utf-8")


def test_numbers_of_code_plan_and_kept_results_are_todays():
    values = readme.of_code() | readme.of_plan(Catalogue(config.load("paper"))) | readme.of_reference()
    values |= kept_values.values()
    assert readme.rewritten(README, values, {"code", "paper", "reference", "kept"}) == README  # else: make readme


def test_marks_are_whole_and_show_nothing_of_themselves():
    marks = list(readme.MARK.finditer(README))
    assert len(marks) > 20
    assert README.count("<!--") == 2 * len(marks)
    assert all(mark["text"].strip() for mark in marks)
    # a comment that begins a line would end the paragraph there; only a block stands on lines of its own
    for line in re.findall(r"^ *<!--.*$", README, re.MULTILINE):
        assert re.fullmatch(r"<!--(demo\.show|reference\.table_4|/)-->", line)


def test_only_the_marks_of_the_given_sources_are_rewritten():
    values = {"demo.trainings": lambda: "9"}
    text = "a <!--demo.trainings-->x<!--/-->, <!--bench.kept-->7<!--/-->"
    assert readme.rewritten(text, values, {"demo"}) == "a <!--demo.trainings-->9<!--/-->, <!--bench.kept-->7<!--/-->"
    with pytest.raises(UserError, match=r"unknown number 'demo\.trainigns' in README\.md"):
        readme.rewritten("<!--demo.trainigns-->1<!--/-->", values, {"demo"})
