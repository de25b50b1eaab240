"""What the papers and the authors' scripts print reaches the runs."""

import math

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.catalogue.runs import RunPlanner
from clrepro.errors import UserError
from clrepro.modalities.sentence.plan import SENTENCE
from tests.catalogue.asking import asking

OURS = {"tau": "temperature", "m": "margin", "m_over_pi": "margin", "lambda": "lam"}


def test_paper_scale_trains_what_table_2_of_nie2023_prints():
    printed = papers.load("nie2023", "published")["hyperparameters"]["per_objective"]
    for row, backbones in printed.items():
        owner, definition = papers.run_definition(row, "nie2023")
        for backbone, values in backbones.items():
            ours = papers.settings(definition, owner, backbone)
            factor = {"m_over_pi": math.pi}
            expected = {OURS.get(key, key): value * factor.get(key, 1) for key, value in values.items()}
            assert {key: ours[key] for key in expected} == pytest.approx(expected), (row, backbone)


# facts of the released scripts: objective, parameters, learning rate, batch
BASE, LARGER = (1e-5, 128), (1e-5, 512)
SCRIPTS = {
    "BERT_base": {
        "MHE": ("mhe", {"lam": 10.0}, BASE),
        "MHS": ("mhs", {"lam": 1.0}, (5e-6, 128)),
        "B": ("barlow_twins", {"lam": 30.0}, BASE),
        "V": ("vicreg", {"lam": 30.0}, BASE),
        "mMHE": ("modified_mhe", {"margin": 0.3, "temperature": 0.05, "ratio": 1.75, "lam": 1.0}, BASE),
        "mMHS": ("modified_mhs", {"margin": 0.3, "ratio": 1.75, "lam": 1.0}, BASE),
        "mB": ("modified_barlow_twins", {"margin": 0.3, "temperature": 0.05, "ratio": 1.5, "lam": 1.0}, BASE),
        "mV": ("modified_vicreg", {"margin": 0.3, "temperature": 0.05, "ratio": 1.5, "lam": 1.0}, BASE),
        "arc": ("arccon", {"temperature": 0.05, "angle": math.radians(10)}, BASE),
        "baseline": ("paradigm", {"margin": 0.3, "temperature": 0.05, "ratio": 1.0}, BASE),
    },
    "RoBERTa_base": {
        "MHE": ("mhe", {"lam": 10.0}, (1e-6, 512)),
        "MHS": ("mhs", {"lam": 1.0}, (1e-6, 512)),
        "B": ("barlow_twins", {"lam": 30.0}, (1e-6, 512)),
        "V": ("vicreg", {"lam": 30.0}, (1e-6, 512)),
        "mMHE": ("modified_mhe", {"margin": 0.3, "temperature": 0.05, "ratio": 1.25, "lam": 1.0}, LARGER),
        "mMHS": ("modified_mhs", {"margin": 0.27, "ratio": 1.0, "lam": 1.0}, LARGER),
        "mB": ("modified_barlow_twins", {"margin": 0.37, "temperature": 0.05, "ratio": 1.25, "lam": 1.0}, LARGER),
        "mV": ("modified_vicreg", {"margin": 0.37, "temperature": 0.05, "ratio": 1.25, "lam": 1.0}, LARGER),
        "arc": ("arccon", {"temperature": 0.05, "angle": math.radians(10)}, LARGER),
    },
}


def test_the_values_of_li2024s_scripts_reach_the_runs(paper_scale):
    planner = RunPlanner(paper_scale.config)
    for backbone, head, every in (("BERT_base", "linear", 125), ("RoBERTa_base", "tanh_linear", 50)):
        for name, (objective, params, (learning_rate, batch_size)) in SCRIPTS[backbone].items():
            owner, definition = papers.run_definition(name, "li2024")
            run = planner.define(definition, owner, backbone, name)[0]
            assert (run.objective, run.variant) == (objective, "released")
            assert {key: value for key, value in run.params.items() if value is not None} == params, (backbone, name)
            assert (run.recipe.learning_rate, run.recipe.batch_size) == (learning_rate, batch_size), (backbone, name)
            how = run.recipe
            assert (how.head, how.evaluate_every, how.freeze_embeddings) == (head, every, True)
            assert (how.head_at_selection, how.precision, how.epochs, how.max_length) == (False, "fp32", 1, 32)


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_sentence_encoders_are_trained_with_the_adamw_that_the_authors_had(scale):
    runs = Catalogue(configuration.load(scale)).runs
    trained = [run for run in runs if run.plan is SENTENCE and run.objective]
    assert {run.identity["training"].get("optimiser") for run in trained} == {"adamw_transformers"}
    # nie2023's, SimCSE's (which huang2023 shares) and li2024's recipes differ in these
    how = {(run.recipe.head_at_selection, run.recipe.freeze_embeddings) for run in trained}
    assert how == {(True, False), (False, False), (False, True)}
    other = asking(scale, rows={"today's": {"objective": "infonce", "settings": {"optimiser": "adamw"}}})
    (run,) = {run.hash8: run for run in set(other.runs) - set(runs) if run.backbone.key == "BERT_base"}.values()
    assert "optimiser" not in run.identity["training"]  # a run of before this setting is still itself
    with pytest.raises(UserError, match="weight_decay: .*0.01, but optimiser adamw_transformers has none"):
        asking(scale, rows={"decayed": {"objective": "infonce", "settings": {"weight_decay": 0.01}}}).runs  # noqa: B018


def test_a_step_of_table_5_switches_on_one_component_more(cells):
    for row, plain in (("MHE", 10), ("B", 30), ("V", 30)):
        dissipation, weight, ratio = (
            cells["li2024", "table_5", row, column].runs[0].params for column in ("+GD", "+W", "+R")
        )
        assert (dissipation["margin"], dissipation["temperature"], dissipation["ratio"]) == (0.3, None, None)
        assert (weight["margin"], weight["temperature"], weight["ratio"]) == (0.3, 0.05, None)
        assert {key for key in ratio if ratio[key] != weight[key]} == {"ratio"}
        assert (dissipation["lam"], weight["lam"]) == (plain, 1)
    run = cells["li2024", "table_5", "MHS", "+GD"].runs[0]
    assert run.params == {"margin": 0.3, "ratio": None, "lam": 1.0}
    assert run.slug == "released-lam1-margin0.3-lr5e-06-b128"


def test_macl_and_its_controls_differ_in_what_they_should_and_share_what_they_can(cells):
    for table, backbone, block, rate in (
        ("table_3", "RoBERTa_base", "STS", 1e-5), ("table_3", "RoBERTa_base", "transfer", 1e-5),
        ("table_B4", "BERT_base", "STS", 3e-5), ("table_B4", "BERT_base", "transfer", 3e-5),
    ):  # fmt: skip
        column = {"STS": "STS12", "transfer": "MR"}[block]
        rows = {
            row: cells["huang2023", table, f"{row} {block}", column]
            for row in ("SimCSE", "InfoNCE [dropout 0.1]", "InfoNCE [dropout 0.2]", "MACL [dropout 0.1]", "MACL")
        }
        how = {row: cell.runs[0].recipe for row, cell in rows.items()}
        assert {(recipe.learning_rate, recipe.batch_size) for row, recipe in how.items() if row != "SimCSE"} == {
            (rate, 64)
        }
        assert [recipe.dropout for recipe in how.values()] == [None, None, 0.2, None, 0.2]
        assert rows["MACL"].runs[0].backbone.key == backbone
        assert rows["MACL"].runs[0].params == rows["MACL [dropout 0.1]"].runs[0].params
        assert rows["MACL [dropout 0.1]"].published_row == f"MACL {block}"
        shared = rows["InfoNCE [dropout 0.1]"].runs == rows["SimCSE"].runs
        assert shared == (backbone == "BERT_base")  # SimCSE's batch on RoBERTa_base is 512
    macl = cells["huang2023", "table_B4", "MACL STS", "Avg"]
    assert macl.score == "sts/Avg"
    assert cells["huang2023", "table_B4", "MACL transfer", "Avg"].score == "transfer/Avg"
    assert macl.runs[0].params == {
        "base_temperature": 0.05, "alpha": 2.0, "alignment_threshold": 0.8, "reweight": False, "negatives": "cross"
    }  # fmt: skip
    assert "dropout0.2" in macl.runs[0].slug
    assert "reweight_false" in macl.runs[0].slug
    assert cells["huang2023", "table_B5", "BERT MACL", "Avg"].runs == macl.runs


def test_the_first_run_of_a_table_may_be_named_by_cells_rows_or_columns(monkeypatch):
    runs = {name: {"recipe": None, "modality": name} for name in ("one", "two", "three")}
    tables = {
        "of cells": {"cells": {"run": "one"}, "columns": {"A": None}},
        "of rows": {"cells": {"run": "one"}, "rows": {"R": {"run": "two"}}},
        "of columns": {"cells": {"run": "one"}, "rows": {"R": None}, "columns": {"A": {"run": "three"}}},
        "of none": {"rows": {"R": {}}},
    }
    monkeypatch.setattr(papers, "load", lambda paper, part: {"tables": tables, "runs": runs})
    papers.first_run.cache_clear()
    found = {name: papers.first_run("paper", name) for name in tables}
    papers.first_run.cache_clear()
    assert {name: run and run[1]["modality"] for name, run in found.items()} == {
        "of cells": "one", "of rows": "two", "of columns": "three", "of none": None,
    }  # fmt: skip
