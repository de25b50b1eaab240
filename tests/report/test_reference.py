"""Reference results: tables, claims and the records that their numbers come from."""

import json

import pandas as pd
import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.ledger import Records
from clrepro.report import reference, tables
from tests.finished import TABLE, finished, finished_table


@pytest.fixture
def catalogue(tmp_path, monkeypatch) -> Catalogue:
    monkeypatch.chdir(tmp_path)
    found = finished_table()
    tables.write(found, found.tables[0], Records())
    return found


def test_every_number_of_a_kept_table_is_the_mean_of_its_kept_runs(catalogue):
    folder = reference.write(catalogue)
    table = pd.read_csv(folder / "tables/nie2023/table_1.csv").set_index(["row", "column", "metric"])["ours"]
    runs = {entry["run"]: entry for entry in reference.read(folder / reference.RUNS)}
    checked = 0
    for cell in catalogue.tables[0].cells:
        if cell.score != "sts/Avg":
            continue
        means = []
        for run in cell.runs:
            entry = runs[str(run.folder).split("/runs/")[1]]
            assert entry["identity"] == json.loads(json.dumps(run.identity))
            rows = entry["results"]["sts"]["None"]
            kept = [value for task, _, metric, value in rows if metric in ("spearman_all", "spearman")]
            means.append(round(100 * sum(kept) / len(kept), 2))
        assert table[cell.row, cell.column, cell.metric] == pytest.approx(sum(means) / len(means), abs=0.006)
        checked += 1
    assert checked >= 20


def test_what_is_kept_of_others_stays_and_what_is_there_again_is_replaced(catalogue):
    folder = reference.write(catalogue)
    other = {"run": "another/run", "results": {}}
    lines = (folder / reference.RUNS).read_text()
    (folder / reference.RUNS).write_text(lines + json.dumps(other) + "\n")
    claims = pd.read_csv(folder / reference.CLAIMS)
    assert len(claims)
    assert "missing" not in set(claims["verdict"])
    more = claims.iloc[:1].assign(paper="oar2024")  # the same name in another paper is another claim
    pd.concat([claims.assign(estimate=-99.0), more]).to_csv(folder / reference.CLAIMS, index=False)
    reference.write(catalogue)
    kept = reference.read(folder / reference.RUNS)
    assert len(kept) == len(lines.splitlines()) + 1
    assert other in kept
    again = pd.read_csv(folder / reference.CLAIMS)
    assert len(again) == len(claims) + 1
    assert (again[again["paper"] == "nie2023"]["estimate"] != -99.0).all()


def test_commits_versions_and_hardware_are_counted_over_all_kept_runs(catalogue):
    folder = reference.write(catalogue)
    counted = json.loads((folder / reference.MADE).read_text())
    assert sum(counted["commit"].values()) == len(reference.read(folder / reference.RUNS))
    here, there = (
        {"hardware": {"cpu": "A"}, "environment": {"torch": "2.15"}},
        {"hardware": {"cpu": "B"}, "commit": "c"},
    )
    assert reference.environments([here, here, there]) == {
        "commit": {"None": 2, "c": 1},
        "torch": {"2.15": 2},
        "cpu": {"A": 2, "B": 1},
    }


def test_means_leave_out_the_first_batch():
    rows = [[0, "train_loss", 9.0], [1, "train_loss", 2.0], [2, "train_loss", 4.0]]
    assert reference.means(rows) == {"train_loss": 3.0}


def test_without_numbers_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    empty = Catalogue(configuration.load("demo").model_copy(update=TABLE))
    with pytest.raises(UserError, match="no table of results/demo has a number yet"):
        reference.write(empty)


def test_of_a_figure_of_scores_the_scores_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {**TABLE, "papers": ["nie2023", "huang2023"], "figures": ["huang2023/graph_epochs"]}
    found = Catalogue(configuration.load("demo").model_copy(update=asked))
    finished(found)
    tables.write(found, found.tables[0], Records())
    (figure,) = found.figures
    for file in found.files.of_figure(figure):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("series,statistic,value\nMACL,train_loss,1.0\nMACL,svm/accuracy,70.0\n")
    kept = pd.read_csv(reference.write(found) / "figures/huang2023/graph_epochs.csv")
    assert kept["statistic"].tolist() == ["svm/accuracy"]
