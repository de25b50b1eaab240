"""Runs: made once for all that need them, and identified by what decides their result."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.modalities import modality
from clrepro.modalities.run import readable
from clrepro.modalities.sentence.plan import SENTENCE
from clrepro.modalities.sentence.recipe import SentenceRecipe
from clrepro.paths import digest


def test_runs_that_several_tables_need_exist_once(paper_scale, cells):
    # nie2023: 7 objectives x 4 backbones and 2 poolings x 4 backbones, untrained (at paper scale the encoder pooled as
    # trained is the [CLS] one); li2024: info, arc and the modified four on 2 backbones, the plain four and 7 steps on
    # BERT_base; huang2023: MACL and InfoNCE with both dropouts on 2 backbones, but InfoNCE on BERT_base is li2024's
    tabled = {run for table in paper_scale.tables for run in table.runs if run.plan is SENTENCE}
    assert len(tabled) == 3 * (7 * 4 + 6 * 2 + 4 + 7 + 4 * 2 - 1) + 8
    # figures beyond: nie2023's 3a has 8 more margins; li2024's 1 the plain four on RoBERTa_base, 6 has 21 points, and
    # with a part held out there are the baseline, without dissipation, arc, met, three more ratios, and untrained
    sentences = [run for run in paper_scale.runs if run.plan is SENTENCE]
    assert len(set(sentences) - tabled) == 3 * (8 + 4 + 21 + 2 + 2 + 3) + 1
    # images: 5 losses x 5 batch sizes; 8 losses, and 3 as means, x 8 learning rates; 8 losses at one rate on CIFAR-100.
    # ImageNet is no part of it without a mirror
    assert len(paper_scale.runs) - len(sentences) == 3 * (5 * 5 + (8 + 3) * 8 + 8) + 3 * (6 * 6 + 2 * 4 * 6) + 5
    assert len({run.folder for run in paper_scale.runs}) == len(paper_scale.runs)
    quoted = cells["li2024", "table_3", "BERT_base mpt", "Avg"]
    assert quoted.runs == cells["nie2023", "table_1", "L_mpt", "BERT_base"].runs
    assert cells["li2024", "table_3", "BERT_base info", "Avg"].runs[0].recipe.precision == "fp16"
    for row, last in (("MHE", "mMHE"), ("MHS", "mMHS"), ("B", "mB"), ("V", "mV")):
        modified = cells["li2024", "table_3", f"BERT_base {last}", "Avg"].runs
        assert cells["li2024", "table_5", row, "+R"].runs == modified
        assert cells["li2024", "table_3_v1", last, "BERT_base"].runs == modified


def test_identity_follows_what_decides_the_result_and_nothing_else():
    def hashes(**changes):
        raw = configuration.merge(configuration.read(configuration.ROOT / "config.yaml"), {"figures": [], **changes})
        return [run.hash8 for run in Catalogue(configuration.parse(raw)).runs if run.plan is SENTENCE]

    base = hashes()
    assert hashes(mirror=".", device="auto", jobs={"runs": 1}, seeds=[7, 8]) == base
    untrained = 3 * 4
    assert hashes(sentence={"training": {"learning_rate": 2e-3}})[:untrained] == base[:untrained]
    assert not set(hashes(sentence={"training": {"learning_rate": 2e-3}})[untrained:]) & set(base)
    assert not set(hashes(sentence={"corpus_lines": 4000})) & set(base)


def test_a_switch_that_is_off_leaves_old_identities_alone_and_one_that_is_on_does_not():
    switches = {"held_out", "checkpoint_every", "optimiser"}
    assert not switches & set(SentenceRecipe().identity)
    assert SentenceRecipe(held_out=0.1).identity == {**SentenceRecipe().identity, "held_out": 0.1}
    assert set(SentenceRecipe().identity) == set(SentenceRecipe.model_fields) - switches


def test_parameters_read_well_in_a_folders_name():
    assert [readable("t", 2.0), readable("reweight", False), readable("negatives", "both")] == [
        "t2", "reweight_false", "negatives_both"
    ]  # fmt: skip


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1.0, "x"]}) == digest({"b": [1.0, "x"], "a": 1})


def test_a_setting_that_nobody_knows_is_refused():
    for objective, settings in (("dcl", {"evaluate_evry": 5}), (None, {"poolin": "cls"}), (None, {"temperature": 1})):
        with pytest.raises(UserError, match="unknown setting"):
            modality("sentence").split(settings, objective, "here")
