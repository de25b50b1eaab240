"""Rows of a user's own beside those of the papers."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.modalities import modality
from clrepro.workflow import fingerprint


def test_a_row_of_your_own_stands_in_every_table_that_compares_objectives(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {mine: {objective: mpt, variant: written, settings: {margin: 0.5}}}")
    catalogue = Catalogue(configuration.load("demo", [file]))
    usual = set(Catalogue(configuration.load("demo")).runs)
    added = [run for run in catalogue.runs if run not in usual]
    config = catalogue.config
    # one run a backbone and seed fills all tables
    assert len(added) == len(config.seeds) * len(config.sentence.backbones)
    assert {(run.objective, run.variant, run.params["margin"]) for run in added} == {("mpt", "written", 0.5)}
    rows = {table.target: [c.row for c in table.cells if "mine" in c.row] for table in catalogue.tables if table.runs}
    of = {table.target: {run.modality for run in table.runs} for table in catalogue.tables}
    others = {target for target, modalities in of.items() if modalities and modalities != {"sentence"}}
    images = {"huang2023_table_9", "huang2023_table_B3", "oar2024_table_3", "oar2024_table_4"}
    assert others == {*images, "huang2023_table_4", "huang2023_table_5"}
    assert {target for target, names in rows.items() if not names} == {"li2024_table_5", *others}
    assert set(rows["huang2023_table_B4"]) == {"STS mine", "transfer mine"}
    assert set(rows["li2024_table_3"]) == {"BERT_base mine", "RoBERTa_base mine"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{objective: mptt}", "unknown objective 'mptt'. Did you mean mpt"),
        ("{objective: mpt, settings: {margn: 0.5}}", "unknown setting 'margn' in rows.mine. Did you mean margin"),
        ("{objective: mpt, settings: {margin: wide}}", "rows.mine: mpt: margin must be a number, not 'wide'"),
        ("{objective: mpt, recipe: simcse}", "rows.mine: write the recipe 'simcse' with its paper"),
        ("{objective: mpt, settings: {margin: .inf}}", "rows.mine: mpt: margin must be finite"),
        ("{objective: infonce, settings: {temperature: 0}}", "infonce: temperature must be finite and > 0, not 0"),
        ("{objective: mpt, recipe: li2024.simce}", "unknown recipe 'simce' in papers/li2024.*Did you mean simcse"),
        ("{objectiv: mpt}", "unknown key 'objectiv' in rows.mine. Did you mean objective"),
    ],
)
def test_a_wrong_row_is_refused(tmp_path, row, message):
    file = tmp_path / "mine.yaml"
    file.write_text(f"rows: {{mine: {row}}}")
    with pytest.raises(UserError, match=message):
        Catalogue(configuration.load("demo", [file]))


def test_a_row_may_not_take_a_papers_name(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {L_cl: {objective: infonce}}")
    with pytest.raises(UserError, match="'L_cl' is a row of nie2023 table_1 already"):
        Catalogue(configuration.load("demo", [file]))


def test_a_row_is_a_hole_where_its_recipe_knows_nothing_of_the_backbone(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {mine: {objective: oar, recipe: li2024.li2024, settings: {base: mpt, margin: 0.5}}}")
    catalogue = Catalogue(configuration.load("demo", [file]))
    cells = {c.column: c for c in catalogue.tables[0].cells if c.row == "mine" and c.metric == "sts"}
    assert cells["BERT_large"].hole == "the recipe li2024.li2024 has no settings for BERT_large"
    assert [run.recipe.head for run in cells["RoBERTa_base"].runs] == ["tanh_linear"] * len(catalogue.config.seeds)
    (code,) = {run.code for run in cells["BERT_base"].runs}
    modules = modality("sentence").code["train"]
    around_mpt, around_met = (fingerprint.of_objectives(modules, "oar", name) for name in ("mpt", "met"))
    assert code == around_mpt != around_met
