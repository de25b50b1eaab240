"""Sweeps of the learning rate: what is trained, what is selected, and where it is used."""

import pandas as pd
import pytest
import yaml

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.paths import write_text
from clrepro.report import grids

RATES = [1e-4, 1e-3, 1e-2]
RAW = {"tables": ["nie2023/table_1"], "papers": ["nie2023"], "figures": [], "seeds": [1, 2]}


def catalogue(**sentence) -> Catalogue:
    whole = configuration.read(configuration.ROOT / "config.yaml")
    return Catalogue(configuration.parse(configuration.merge(whole, {**RAW, "sentence": sentence})))


def swept() -> Catalogue:
    return catalogue(learning_rate_sweep={"rates": RATES, "seed": 7})


def test_every_objective_of_the_tables_is_tried_with_a_seed_of_its_own():
    found = swept()
    objectives = {run.objective for run in catalogue().runs if run.objective}
    assert {name.split("/")[1].split("@")[0] for name in found.sweeps} == objectives
    for runs in found.sweeps.values():
        assert [run.recipe.learning_rate for run in runs] == RATES
        assert {run.seed for run in runs} == {7}
        assert len({run.folder for run in runs}) == len(RATES)
    reported = {run for table in found.tables for run in table.runs}
    assert reported.isdisjoint(run for runs in found.sweeps.values() for run in runs)
    assert {run.folder for run in reported} == {run.folder for run in catalogue().runs}


def test_the_best_mean_over_backbones_is_selected_and_then_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = swept()
    with pytest.raises(UserError, match="run the sweeps first"):
        grids.write_choice(found, tmp_path / "rates.yaml")
    for number, name in enumerate(found.sweeps):
        objective, backbone = name.split("/")[1].split("@")
        best = {"infonce": [50, 70, 60], "dcl": [70, 70, 10]}.get(objective, [1, 2, 3])
        if objective == "mpt":  # one encoder prefers the first, the mean the second
            best = [90, 80, 0] if backbone == "BERT_base" else [10, 80, 0]
        rows = [{"backbone": backbone, "learning_rate": rate, "stsb_dev": score}
                for rate, score in zip(RATES, best, strict=True)]  # fmt: skip
        rows = rows[number % 3 :] + rows[: number % 3]
        write_text(found.files.grid(name), pd.DataFrame(rows).to_csv(index=False))
    said = grids.write_choice(found, tmp_path / "rates.yaml")
    raw = yaml.safe_load((tmp_path / "rates.yaml").read_text())
    chosen = raw["sentence"]["training"]["learning_rates"]
    assert chosen["infonce"] == chosen["mpt"] == 1e-3
    assert chosen["dcl"] == 1e-4  # of equal ones the smaller
    assert "at the edge of the rates that were tried: " in said
    assert "infonce" not in said.splitlines()[-1]
    used = {run.objective: run.recipe.learning_rate for run in catalogue(**raw["sentence"]).runs if run.objective}
    assert used == {**dict.fromkeys(used, 1e-2), **chosen}


def test_a_reported_seed_selects_nothing_and_names_are_checked():
    with pytest.raises(UserError, match="seed: 2 is one of `seeds`, which are reported"):
        catalogue(learning_rate_sweep={"rates": RATES, "seed": 2})
    with pytest.raises(UserError, match="unknown objective 'infonec' in sentence.training.learning_rates"):
        catalogue(training={"learning_rates": {"infonec": 1e-3}})
    with pytest.raises(UserError, match="asks for no sweep"):
        grids.write_choice(catalogue(), None)
