"""A paper more is a folder more: tables, plan, ledger, claims and report take it from its files alone."""

from functools import cache

import pytest
import yaml
from typer.testing import CliRunner

from clrepro import config as configuration
from clrepro import ledger, settings
from clrepro.catalogue import Catalogue, papers
from clrepro.catalogue.jobs import Jobs
from clrepro.cli import app
from clrepro.ledger import claims
from clrepro.paths import PAPERS
from clrepro.report import html
from tests.finished import finished

NAME = "mine2026"
FILES = {
    "published": {
        "paper": {"title": "A fifth paper", "authors": ["A. Body"], "venue": "nowhere", "year": 2026},
        "tables": {
            "table_1": {
                "caption": "One objective on one backbone",
                "metric": "Spearman correlation x 100, mean of 7 STS sets",
                "unit": "percent",
                "direction": "higher is better",
                "decimals": 2,
                "settings": {},
                "columns": ["BERT_base"],
                "rows": [{"id": "contrastive", "values": {"BERT_base": 76.25}}],
            }
        },
    },
    "experiments": {
        "tables": {
            "table_1": {
                "rows": {"contrastive": {"run": "nie2023.L_cl"}},
                "columns": {"BERT_base": {"backbone": "BERT_base"}},
                "metrics": {"value": {"score": "sts/Avg"}},
            }
        }
    },
    "claims": {
        "claims": [
            {
                "id": "far_from_nothing",
                "statement": "The contrastive loss is better than ten points.",
                "quote": "It is better than ten points.",
                "place": "section 1",
                "greater": {"of": "table_1/contrastive/BERT_base/value", "than": 10},
            }
        ]
    },
    "errata": {
        "errata": [
            {
                "where": "equation 1 of the fifth paper",
                "printed": "a plus",
                "should_be": "a minus",
                "why": "The sum diverges.",
                "checked": "algebra",
                "confidence": "high",
                "cells": ["table_1/contrastive/*/*"],
            }
        ]
    },
}


@pytest.fixture
def fifth(tmp_path, monkeypatch):
    """A folder of papers with one more than the four, and a working directory of its own."""
    folder = tmp_path / "papers"
    (folder / NAME).mkdir(parents=True)
    for paper in papers.paper_keys():
        (folder / paper).symlink_to(PAPERS / paper)
    for part, content in FILES.items():
        (folder / NAME / f"{part}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    for module in (papers, settings):
        monkeypatch.setattr(module, "PAPERS", folder)
    for function in (papers.load, papers.published_tables, papers.stated_tables, papers.all_tables, papers.first_run):
        monkeypatch.setattr(papers, function.__name__, cache(function.__wrapped__))  # which knows nothing of the four
    monkeypatch.chdir(tmp_path)


def catalogue_of(**changes) -> Catalogue:
    raw = configuration.read(configuration.ROOT / "config.yaml")
    changes = {"papers": ["nie2023", NAME], "tables": [f"{NAME}/table_1"], "figures": [], **changes}
    return Catalogue(configuration.parse({**raw, **changes}))


def test_a_folder_of_papers_is_a_paper_that_a_configuration_may_name_or_take_by_default(fifth):
    raw = configuration.read(configuration.ROOT / "config.yaml")
    default = configuration.parse({key: value for key, value in raw.items() if key != "papers"})
    assert default.papers == ["nie2023", "li2024", "huang2023", "oar2024", NAME]
    whole = Catalogue(default)
    assert f"{NAME}_table_1" in whole.target_names
    assert whole.runs_of([NAME]) == whole.runs_of([f"{NAME}_table_1"])
    # its only row is trained for another paper anyway
    assert set(whole.runs_of([NAME])) < set(whole.runs_of(["nie2023_table_1"]))
    assert len(whole.runs) == len(Catalogue(default.model_copy(update={"papers": default.papers[:4]})).runs)


def test_the_plan_prices_its_table_and_cuts_its_jobs(fifth, tmp_path):
    catalogue = catalogue_of()
    (table,) = catalogue.tables
    (cell,) = table.cells
    assert (table.target, cell.score) == (f"{NAME}_table_1", "sts/Avg")
    assert [(run.objective, run.backbone.key) for run in catalogue.runs] == [("infonce", "BERT_base")] * 2
    jobs = Jobs(catalogue)
    assert list(jobs.bundles) == [f"{NAME}_sentences_fp32_1"]
    assert {"train", "embed", "evaluate", "table"} <= set(jobs.counts)
    file = tmp_path / "fifth.yaml"
    file.write_text(yaml.safe_dump({"papers": [NAME], "figures": []}))
    for words in (["--only", NAME], ["--configfile", str(file)]):
        done = CliRunner().invoke(app, ["plan", *words])
        assert done.exit_code == 0, done.output
        (line,) = [line.split() for line in done.output.splitlines() if line.startswith(f"{NAME}/")]
        assert line[:3] == [f"{NAME}/table_1", "2", "0"]


def test_its_numbers_claims_and_errata_are_in_ledger_and_report(fifth):
    catalogue = catalogue_of()
    before = ledger.frame(catalogue).query("paper == @NAME").squeeze()
    assert (before["published"], before["verdict"]) == (76.25, "missing")
    assert before["fill"] == f"snakemake {NAME}_table_1 --cores all"
    finished(catalogue)
    after = ledger.frame(catalogue).query("paper == @NAME").squeeze()
    assert (after["ours"], after["seeds"], after["verdict"]) == (pytest.approx(51.85), 2, "not comparable")
    assert "the published value is doubtful (equation 1 of the fifth paper: a minus)" in after["note"]
    frame, _ = claims.evaluate(catalogue)
    claim = frame.query("paper == @NAME").squeeze()
    assert (claim["claim"], claim["verdict"], claim["seeds"]) == ("far_from_nothing", "seen", 2)
    assert claim["estimate"] == pytest.approx(51.85)
    html.write(catalogue)
    page = catalogue.files.report[-1].read_text("utf-8")
    for said in (
        "A fifth paper",
        "One objective on one backbone",
        "The contrastive loss is better than ten points.",
        "It is better than ten points.",
        "equation 1 of the fifth paper",
        "The sum diverges.",
    ):
        assert said in page, said
