"""Tables: every published cell has its place, and a hole says why."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers, tables
from clrepro.catalogue.tables import row_order
from clrepro.errors import UserError
from tests.catalogue.asking import asking


def test_every_published_cell_has_its_place_and_holes_say_why(paper_scale):
    assert len(paper_scale.tables) == 29
    for table in paper_scale.tables:
        published = papers.published_tables(table.paper)[table.name]
        here = {(cell.row, cell.column) for cell in table.cells}
        assert {(row["id"], column) for row in published["rows"] for column in row["values"]} <= here
        assert table.is_printed or all(bool(cell.runs) + bool(cell.hole) == 1 for cell in table.cells)
    holes = {(t.paper, t.name, cell.row, cell.column): cell.hole for t in paper_scale.tables for cell in t.cells}
    not_run = {
        (paper, name) for paper in papers.paper_keys() for name in papers.load(paper, "experiments").get("not_run", {})
    }
    imagenet = {place for place, why in holes.items() if why.startswith("image set imagenet-1k has no url")}
    tables = {f"table_{name}" for name in ("1", "2", "6", "7", "8", "B1", "B2")}
    assert {place[:2] for place in imagenet} == {("huang2023", name) for name in tables}
    (hole,) = {place for place, why in holes.items() if why and place[:2] not in not_run} - imagenet
    assert hole == ("li2024", "table_5", "MHS", "+W")
    assert "the paper has no such number" in holes[hole]


def test_a_backbone_left_out_is_a_hole_that_names_the_key():
    bench = Catalogue(configuration.load("bench"))
    holes = {cell.column: cell.hole for cell in bench.tables[0].cells if cell.hole}
    assert set(holes) == {"BERT_large", "RoBERTa_base", "RoBERTa_large"}
    assert "sentence.backbones.RoBERTa_base" in holes["RoBERTa_base"]


def test_a_row_of_ours_stands_where_experiments_puts_it():
    published = {"rows": [{"id": "Pretrained"}, {"id": "L_cl"}]}
    assert row_order(published, {"rows": {"first": 0, "Pretrained": 0, "L_cl": 0}})[0] == "first"
    assert row_order(published, {"rows": {"Pretrained": 0, "mine": 0, "L_cl": 0}}) == ["Pretrained", "mine", "L_cl"]


def test_only_the_papers_own_settings_are_comparable(paper_scale):
    def changed(**sentence):
        raw = configuration.merge(configuration.read(configuration.ROOT / "config/paper.yaml"), {"sentence": sentence})
        return Catalogue(configuration.parse(raw)).compares(())

    assert paper_scale.compares(())
    assert changed(backbones={"BERT_large": None})
    assert not changed(backbones={"BERT_large": {"kind": "pretrained", "source": "bert-base-uncased"}})
    assert not changed(corpus_lines=1000)
    assert not changed(training={"epochs": 0.1})
    assert not changed(protocol="fast")
    assert not Catalogue(configuration.load("bench")).compares(())


def test_a_table_of_a_paper_that_is_left_out_says_so():
    with pytest.raises(UserError, match=r"of a paper that `papers` leaves out; `tables: \[\]` is all of li2024"):
        asking("bench", papers=["li2024"])


def test_baselines_of_printed_differences_have_an_experiment_of_their_own():
    found = {place[:2]: place[3] for place in tables.baselines("li2024", "table_4")}
    rows = {f"baseline of {encoder} {row}" for encoder in ("BERT_base", "RoBERTa_base")
            for row in ("mMHE", "mMHS", "mB", "mV")}  # fmt: skip
    assert {row for row, _ in found} == rows
    assert len(found) == len(rows) * 8  # seven tasks and their mean
    assert found["baseline of RoBERTa_base mV", "MR"] == {
        "run": "V", "backbone": "RoBERTa_base", "score": "transfer/MR"
    }  # fmt: skip


def test_a_number_in_a_figure_has_an_experiment_only_where_row_and_column_have_one(monkeypatch):
    spec = {"cells": {"score": "a"}, "rows": {"R": {"run": "one"}, "S": None}, "columns": {"A": {"backbone": "b"}}}
    monkeypatch.setattr(papers, "load", lambda paper, part: {"tables": {"figure_1": spec}})
    table = {"rows": [{"id": row, "values": {"A": 1, "B": 2}} for row in ("R", "S", "T")]}
    found = {place[:2]: place[3] for place in tables.of_figure("paper", "figure_1", table)}
    assert found.pop(("R", "A")) == {"score": "a", "run": "one", "backbone": "b"}
    assert set(found.values()) == {None}
    assert len(found) == 5
