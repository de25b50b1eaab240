"""The report's first words and its summary."""

import re

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.report import html, summary
from tests.finished import finished


def test_the_summary_counts_cells_and_claims_of_each_paper(catalogue):
    text = summary.text(catalogue)
    assert re.search(r"^nie2023\n  cells:  122: 122 not comparable\n  claims: \d+: ", text, re.M)
    assert "report.html, not made yet (clrepro report)" in text
    html.write(catalogue)
    assert text.count("\n") == summary.text(catalogue).count("\n")
    assert "not made yet" not in summary.text(catalogue)


def test_a_scale_that_cannot_judge_says_first_what_it_did(catalogue):
    content = html.write(catalogue)
    first = content["opening"]
    trained = sum(bool(run.objective) for run in catalogue.runs)
    assert not first["judges"]
    assert summary.text(catalogue).splitlines()[0] == first["headline"]
    assert first["headline"] == (
        "Demo scale (tiny encoders on generated sentences; no number here is comparable with a published one): "
        f"{trained} encoders trained, 1 of the 15 tables of results and 0 of the 16 figures regenerated."
    )
    lines = {line["name"]: line for line in first["lines"]}
    assert list(lines) == ["Trainings", "Tables", "Figures", "Evaluation", "Claims"]  # no theory.csv: no line
    assert lines["Trainings"]["text"].startswith(
        f"{trained} of {trained} planned: 7 objectives, 4 backbones, seeds 42,"
    )
    assert f"seven STS sets ({len(catalogue.runs)}), seven transfer tasks ({len(catalogue.runs)})" in str(lines)
    said = {claim["verdict"] for claim in content["claims"]}
    assert "undecided" in said
    assert said <= {"seen", "opposite", "undecided", "missing"}
    assert sum(lines["Claims"]["counts"].values()) == len(content["claims"])
    assert "no verdict on a paper" in first["note"]
    assert "trained for 1 steps in the median" in first["note"]
    assert "fail" not in first["headline"] + first["note"] + str([line["text"] for line in first["lines"]])


def test_at_the_papers_settings_what_reproduced_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"papers": ["nie2023"], "tables": ["nie2023/table_1"], "figures": []}
    own = Catalogue(configuration.load("paper").model_copy(update=asked))
    finished(own)
    _, claims, content = html.gather(own)
    first = content["opening"]
    assert first["judges"]
    assert first["lines"] == []
    assert re.match(r"Paper scale, \d+ trainings: of 122 printed results, .*\d+ differs", first["headline"])
    assert not {"seen", "opposite"} & set(claims["verdict"])
    assert {"holds", "fails", "undecided"} & set(claims["verdict"])
