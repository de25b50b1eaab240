"""The catalogue: papers and configuration to runs and cells."""

import math

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost, papers
from clrepro.catalogue.catalogue import row_order
from clrepro.catalogue.runs import digest, split_settings
from clrepro.errors import UserError

OURS = {"tau": "temperature", "m": "margin", "m_over_pi": "margin", "lambda": "lam"}


@pytest.fixture(scope="module")
def paper_scale():
    return Catalogue(configuration.load("paper"))


def test_paper_scale_trains_what_table_2_of_nie2023_prints():
    printed = papers.load("nie2023", "published")["hyperparameters"]["per_objective"]
    for row, backbones in printed.items():
        owner, definition = papers.run_definition(row, "nie2023")
        for backbone, values in backbones.items():
            ours = papers.settings(definition, owner, backbone)
            factor = {"m_over_pi": math.pi}
            expected = {OURS.get(key, key): value * factor.get(key, 1) for key, value in values.items()}
            assert {key: ours[key] for key in expected} == pytest.approx(expected), (row, backbone)


def test_runs_that_several_tables_need_exist_once(paper_scale):
    # nie2023: 7 objectives x 4 backbones x 3 seeds and 2 poolings x 4 backbones (at paper scale the encoder pooled
    # as trained is the [CLS] one); li2024: info x 2 x 3 more
    assert len(paper_scale.runs) == 84 + 8 + 6
    assert len({run.folder for run in paper_scale.runs}) == len(paper_scale.runs)
    cells = {
        (cell.paper, cell.table, cell.row, cell.column): cell for table in paper_scale.tables for cell in table.cells
    }
    quoted = cells["li2024", "table_3", "BERT_base mpt", "Avg"]
    assert quoted.runs == cells["nie2023", "table_1", "L_mpt", "BERT_base"].runs
    assert cells["li2024", "table_3", "BERT_base info", "Avg"].runs[0].recipe.precision == "fp16"


def test_every_published_cell_has_its_place_and_holes_say_why(paper_scale):
    for table in paper_scale.tables:
        published = papers.published_tables(table.paper)[table.name]
        rows = {cell.row for cell in table.cells}
        assert {row["id"] for row in published["rows"]} <= rows
        assert {cell.column for cell in table.cells} == set(published["columns"])
        assert all(bool(cell.runs) != bool(cell.hole) for cell in table.cells)
    nie = next(table for table in paper_scale.tables if table.paper == "nie2023")
    assert not any(cell.hole for cell in nie.cells)


def test_a_backbone_left_out_is_a_hole_that_names_the_key():
    bench = Catalogue(configuration.load("bench"))
    holes = {cell.column: cell.hole for cell in bench.tables[0].cells if cell.hole}
    assert set(holes) == {"BERT_large", "RoBERTa_base", "RoBERTa_large"}
    assert "sentence.backbones.RoBERTa_base" in holes["RoBERTa_base"]


def test_identity_follows_what_decides_the_result_and_nothing_else():
    def hashes(**changes):
        raw = configuration.merge(configuration.read(configuration.ROOT / "config.yaml"), changes)
        return [run.hash8 for run in Catalogue(configuration.parse(raw)).runs]

    base = hashes()
    assert hashes(mirror=".", device="auto", jobs={"runs": 1}, seeds=[42, 43, 44]) == base
    untrained = 3 * 4
    assert hashes(sentence={"training": {"learning_rate": 2e-3}})[:untrained] == base[:untrained]
    assert not set(hashes(sentence={"training": {"learning_rate": 2e-3}})[untrained:]) & set(base)
    assert not set(hashes(sentence={"corpus_lines": 4000})) & set(base)


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1.0, "x"]}) == digest({"b": [1.0, "x"], "a": 1})


def test_grids_are_priced_but_not_run_unless_asked(paper_scale):
    assert not paper_scale.grids
    assert len(paper_scale.grid("nie2023/L_dcl+@BERT_base")) == 11 * 4 * 4
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    asked = Catalogue(configuration.parse({**raw, "grids": ["nie2023/L_cl@BERT_base"]}))
    grid = asked.grids["nie2023/L_cl@BERT_base"]
    assert len(grid) == 3 * 4 * 4
    # at a scale that overrides batch and learning rate the grid still varies them
    assert len(Catalogue(configuration.load("demo")).grid("nie2023/L_cl@BERT_base")) == 3 * 4 * 4
    # one grid point is the paper's own setting: trained once
    assert len(asked.runs) == len(paper_scale.runs) + len(grid) - 1


def test_the_price_of_the_paper_scale_is_of_the_right_order(paper_scale):
    price = cost.of_runs(paper_scale, paper_scale.runs)
    assert 20 < price.hours < 500
    assert 40 < price.gigabytes < 200


def test_bundles_hold_one_objective_each():
    demo = Catalogue(configuration.load("demo"))
    bundles = demo.bundles()
    assert sorted(run.folder for bundle in bundles for run in bundle.runs) == sorted(run.folder for run in demo.runs)
    assert all(len({run.group for run in bundle.runs}) == 1 for bundle in bundles)
    assert len({bundle.name for bundle in bundles}) == len(bundles)


def test_a_row_of_ours_stands_where_experiments_puts_it():
    published = {"rows": [{"id": "Pretrained"}, {"id": "L_cl"}]}
    assert row_order(published, {"rows": {"first": 0, "Pretrained": 0, "L_cl": 0}})[0] == "first"
    assert row_order(published, {"rows": {"Pretrained": 0, "mine": 0, "L_cl": 0}}) == ["Pretrained", "mine", "L_cl"]


def test_a_setting_that_nobody_knows_is_refused():
    for objective, settings in (("dcl", {"evaluate_evry": 5}), (None, {"poolin": "cls"}), (None, {"temperature": 1})):
        with pytest.raises(UserError, match="unknown setting"):
            split_settings(settings, objective, "here")


def test_only_the_papers_own_settings_are_comparable(paper_scale):
    def changed(**sentence):
        raw = configuration.merge(configuration.read(configuration.ROOT / "config/paper.yaml"), {"sentence": sentence})
        return Catalogue(configuration.parse(raw)).is_papers_own

    assert paper_scale.is_papers_own
    assert changed(backbones={"BERT_large": None})
    assert not changed(backbones={"BERT_large": {"kind": "pretrained", "source": "bert-base-uncased"}})
    assert not changed(corpus_lines=1000)
    assert not changed(training={"epochs": 0.1})
    assert not changed(protocol="fast")
    assert not Catalogue(configuration.load("bench")).is_papers_own
