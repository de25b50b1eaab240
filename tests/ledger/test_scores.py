"""Scores of runs, and the choice of a sweep's learning rate from results written by hand."""

import json
from types import SimpleNamespace

import pytest

from clrepro.ledger import Records, cells
from clrepro.ledger import scores as ledger
from clrepro.ledger.scores import scores
from clrepro.modalities import evaluation_of
from tests.catalogue.asking import asking, cell_of

ROWS = {
    "sts": [[f"STS{year}", "test", "spearman_all", 0.5 + year / 1000] for year in (12, 13, 14, 15, 16)]
    + [["STSBenchmark", "dev", "spearman", 0.9], ["STSBenchmark", "test", "spearman", 0.60004]]
    + [["SICKRelatedness", "test", "spearman", 0.70006]],
    "transfer": [["MRPC", "dev", "accuracy", 70.0], ["MRPC", "test", "accuracy", 71.234], ["MRPC", "test", "f1", 80.0]],
}  # fmt: skip


def score(name):
    about = evaluation_of(name)
    return about.score(name, ROWS[about.name])


def test_scores_pick_the_test_split_and_average_rounded_values():
    assert score("sts/STS12") == 51.2
    assert score("sts/STSBenchmark") == 60.0
    assert score("sts/SICKRelatedness") == 70.01
    assert score("sts/Avg") == round((51.2 + 51.3 + 51.4 + 51.5 + 51.6 + 60.0 + 70.01) / 7, 2)
    assert score("transfer/MRPC") == 71.23
    assert score("transfer_dev/MRPC") == 70.0


def test_a_run_s_score_is_the_mean_of_its_repetitions_and_a_row_s_that_of_its_cells_seed_by_seed(monkeypatch):
    monkeypatch.setattr(ledger, "values_of_run", lambda run, name, records: {0: 1.0, 1: 3.0, 2: 5.0})
    assert ledger.score_of_run(None, "molecules/auc", None) == 3.0
    kept = {
        "A": ledger.Scores({1: 10.0, 2: 20.0}),
        "B": ledger.Scores({1: 30.0}),
        "C": ledger.Scores({1: 80.0, 2: 1.0}),
    }
    monkeypatch.setattr(ledger, "scores", lambda catalogue, cell, records: kept[cell])
    catalogue = SimpleNamespace(cells={("paper", name): name for name in "AB"}, baselines={("paper", "C"): "C"})
    found = ledger.mean_of(catalogue, [("paper", name) for name in "ABC"], None)
    assert found.by_seed == {1: 40.0}
    assert ledger.mean_of(catalogue, [("paper", "D")], None).by_seed == {}


def write(run, select, test, diverged=False):
    run.folder.mkdir(parents=True, exist_ok=True)
    record = {"identity": run.identity, "seed": run.seed, "code": run.code, "steps": 1, "model": {}}
    if diverged:
        record["diverged"] = {"step": 1, "cause": "for the test"}
    run.record.write_text(json.dumps(record))
    found = [[f"finetune_{share}", split, "top1", value] for share in (10, 50, 100)
             for split, value in (("selection", select), ("test", test))]  # fmt: skip
    (run.folder / "finetune.json").write_text(json.dumps({"rows": found}))


def sweep(tmp_path, monkeypatch, column="10%"):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo")
    cell = cell_of(catalogue, "oar2024", "table_3", "BT", column)
    assert [value for value, _ in cell.points] == [1e-4, 1e-2, 1.0]
    assert {run.seed for run in cell.runs} == {42, 43}
    return catalogue, cell


def test_a_sweep_takes_the_highest_mean_of_what_selects_and_of_equal_ones_the_smallest_rate(tmp_path, monkeypatch):
    catalogue, cell = sweep(tmp_path, monkeypatch)
    values = {1e-4: [(40, 11), (60, 12)], 1e-2: [(45, 21), (55, 22)], 1.0: [(0, 90), (99, 91)]}
    for rate, runs in cell.points:
        for run, (select, test) in zip(runs, values[rate], strict=True):
            write(run, select, test, diverged=rate == 1.0 and select == 0)
    found = scores(catalogue, cell, Records())
    assert found.by_seed == {42: 11, 43: 12}
    assert found.note == "learning rate 0.0001 of 0.0001, 0.01, 1 (1 runs diverged and count 0)"
    on_test = cell_of(catalogue, "oar2024", "table_3", "BT", "10% [chosen on test]")
    assert scores(catalogue, on_test, Records()).by_seed == {42: 90, 43: 91}
    table = next(table for table in catalogue.tables if table.name == "table_3" and table.paper == "oar2024")
    line = cells.of_table(catalogue, table).set_index(["row", "column"])
    assert line["ours"]["BT", "10%"] == pytest.approx(0.115)
    # a column of ours stands beside the published number of another one
    assert line["published"]["BT", "10% [chosen on test]"] == line["published"]["BT", "10%"] == 0.4148


def test_an_unfinished_sweep_is_a_hole_and_only_common_seeds_count(tmp_path, monkeypatch):
    catalogue, cell = sweep(tmp_path, monkeypatch)
    for rate, runs in cell.points[:2]:
        for run in runs:
            write(run, 50 + rate, 70 + run.seed)
    found = scores(catalogue, cell, Records())
    assert found.by_seed == {}
    assert found.note == "sweep not finished, 4 of 6 runs: seed 42, 43 not run yet"
    assert found.fill == "snakemake oar2024_table_3 --cores all"
    write(cell.points[2][1][1], 10, 5)  # seed 43 of the last rate
    found = scores(catalogue, cell, Records())
    assert found.by_seed == {43: 113}
    assert found.note == "learning rate 0.01 of 0.0001, 0.01, 1; sweep not finished, 5 of 6 runs: seed 42 not run yet"


def test_variances_are_no_percentages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo")
    cell = cell_of(catalogue, "oar2024", "figure_2", "InfoNCE", "variance at learning rate 1")
    for run in cell.runs:
        write(run, 50, 70)
        content = {"rows": [["collapse", "test", "variance_unit", 0.123456789]]}
        (run.folder / "collapse.json").write_text(json.dumps(content))
    frame = cells.frame(catalogue).query("paper == 'oar2024' and table == 'figure_2' and row == 'InfoNCE'")
    assert dict(zip(frame["column"], frame["ours"], strict=True)) == {
        "accuracy at learning rate 1": 0.7, "variance at learning rate 1": 0.1235
    }  # fmt: skip
