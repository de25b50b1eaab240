"""The CSV files of figures."""

from dataclasses import replace

import pandas as pd

from clrepro.ledger import Records
from clrepro.paths import write_json
from clrepro.report import figures
from tests.catalogue.asking import asking


def of(run) -> dict:
    return {"identity": run.identity, "seed": run.seed, "code": run.code}


def test_a_figures_csv_holds_curves_selection_statistics_and_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo", figures=["nie2023/figure_3a"], seeds=[7])
    rows = {kind: [[f"STS{year}", "test", "spearman_all", 0.5] for year in range(12, 17)] for kind in ("sts",)}
    rows["sts"] += [[task, "test", "spearman", 0.5] for task in ("STSBenchmark", "SICKRelatedness")]
    tasks = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
    rows["transfer"] = [[task, "test", "accuracy", 80.0] for task in tasks]
    (figure,) = catalogue.figures
    for run in figure.runs:
        history = [{"step": 20, "loss": 0.5, "stsb_dev": 0.6}, {"step": 40, "loss": 0.25, "stsb_dev": 0.7}]
        write_json(run.record, {**of(run), "history": history, "best_step": 40, "best_score": 0.7})
        for kind in rows:
            write_json(run.folder / f"{kind}.json", {"rows": rows[kind]})
    recorded = [[20, "train_distance_gap", 0.125], [20, "other", 1]]
    write_json(figure.runs[0].folder / "statistics.json", {"rows": recorded})
    long = pd.read_csv(figures.write(catalogue, "nie2023/figure_3a"))
    assert list(long) == ["series", "backbone", "margin", "seed", "step", "statistic", "value", "note"]
    assert long["note"].isna().all()
    first = long[long["margin"] == 0.05]
    assert first[["step", "statistic", "value"]].to_numpy().tolist() == [
        [20, "train_distance_gap", 0.125], [40, "sts/Avg", 50.0], [40, "transfer/Avg", 80.0]
    ]  # fmt: skip
    assert set(long["seed"]) == {7}
    assert len(long["margin"].unique()) == 9
    (run,) = catalogue.figure("li2024/figure_6").points[0].runs
    write_json(run.record, {**of(run), "history": history, "best_step": 40, "best_score": 0.7, "code": "older"})
    point = replace(catalogue.figure("li2024/figure_6"), points=catalogue.figure("li2024/figure_6").points[:1])
    assert set(figures.frame(catalogue, point, Records())["note"]) == {"stale: trained by older code"}
    curve = figures.frame(catalogue, point, Records())[["margin", "temperature", "ratio", "step", "statistic", "value"]]
    assert curve.to_numpy().tolist() == [
        [0.3, 0.05, 1.0, 20, "stsb_dev", 0.6], [0.3, 0.05, 1.0, 40, "stsb_dev", 0.7],
        [0.3, 0.05, 1.0, 40, "best_stsb_dev", 0.7],
    ]  # fmt: skip


def test_a_figures_csv_holds_the_last_histograms_as_shares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo", seeds=[7])
    figure = catalogue.figure("li2024/figure_5")
    bins = {"statistic": "heldout_positive_cosine", "low": -1.0, "high": 1.0}
    histograms = [{"step": step, **bins, "counts": counts} for step, counts in ((0, [9, 1]), (40, [1, 3]))]
    for run in figure.runs:
        write_json(run.record, {**of(run), "history": [], "best_step": 40, "best_score": 0.7})
        write_json(run.folder / "statistics.json", {"rows": [], "histograms": histograms})
    long = figures.frame(catalogue, figure, Records())
    baseline = long[long["series"] == "baseline"][["step", "statistic", "bin", "value"]]
    assert baseline.to_numpy().tolist() == [
        [40, "heldout_positive_cosine", -0.5, 0.25], [40, "heldout_positive_cosine", 0.5, 0.75]
    ]  # fmt: skip
