"""From results on disk to the report's data."""

import json

from clrepro.modalities.run import Run
from clrepro.report import html, opening
from tests.finished import cells_of


def test_every_number_leads_to_its_runs_and_every_run_to_its_cells(catalogue):
    content = html.write(catalogue)
    cells = cells_of(content)
    filled = [cell for cell in cells.values() if cell["ours"] is not None]
    assert len(filled) >= 120
    for cell in filled:
        assert cell["runs"], cell["id"]
        for name in cell["runs"]:
            assert cell["id"] in content["runs"][name]["cells"]
    assert set(content["runs"]) == {name for cell in filled for name in cell["runs"]}
    # holes say why, and those that this configuration can fill say how
    for cell in cells.values():
        if cell["verdict"] == "missing":
            assert cell["note"], cell["id"]
            assert cell["runs"] == []
    reasons = {(entry["command"], entry["why"]) for entry in content["fill"]}
    assert any("this configuration has no `image.detection`" in why for _, why in reasons)
    commands = {command for command, _ in reasons if command}
    assert commands == set()  # all that this configuration asks for is there
    mpt = next(run for run in catalogue.runs if run.objective == "mpt")
    mpt.record.unlink()
    holes = html.write(catalogue)["fill"]
    assert "snakemake nie2023_table_1 --cores all" in {entry["command"] for entry in holes}
    verdicts = {paper["key"]: paper["verdicts"] for paper in content["papers"]}
    assert set(verdicts["nie2023"]) == {"not comparable"}
    assert sum(verdicts["huang2023"].values()) > 400
    figures = {figure["id"]: figure for figure in content["papers"][0]["figures"]}
    assert figures["figure_1b"]["missing"] == "not made yet"
    assert figures["figure_1b"]["fill"] == "snakemake nie2023_figure_1b --cores all"
    assert "under `figures` of the configuration" in figures["figure_1a"]["missing"]


def test_odd_records_are_shown_or_skipped_but_never_fatal(catalogue):
    first, second, third = [run for run in catalogue.runs if run.objective == "mpt"][:3]
    content = json.loads(first.record.read_text())
    first.record.write_text(json.dumps({key: content[key] for key in ("identity", "seed", "code")}))  # a bare one
    away = {"path": "/home/someone/models/bert", "sha256": "0" * 64}
    content = json.loads(second.record.read_text())
    odd = {"seconds": 1.5, "energy_wh": {"cpu": 0.25, "gpu": 1.0}, "model": away, "history": [{"step": 1, "loss": 0.5}]}
    second.record.write_text(json.dumps(content | odd))
    (second.folder / "statistics.json").write_text('{"rows": [[0, "train_distance_gap", 0.25]], "histograms": []}')
    (third.folder / "statistics.json").write_text('{"rows": ')
    data = html.write(catalogue)
    page = catalogue.files.report[-1].read_text()
    shown = next(
        run for run in data["runs"].values() if run["seconds"] == 1.5
    )  # fmt: skip
    assert shown["energy_wh"] == 1.25
    assert shown["curves"] == {"loss": [[1, 0.5]], "train_distance_gap": [[0, 0.25]]}
    assert shown["model"]["path"] == "bert"
    assert "/home/someone" not in page
    assert [problem["file"] for problem in data["problems"]] == [str(third.folder / "statistics.json")]
    assert data["cost"]["energy_wh"] == 1.25
    assert data["cost"]["seconds"] == 1.5


def test_what_is_wrong_with_a_report_is_counted(catalogue, monkeypatch):
    right = {"problems": 0, "stale": 0, "to_fill": 5, "unexplained": 0}  # figure 1b and four that need no training
    content = html.write(catalogue)
    left_out = content["state"].pop("left_out")
    assert content["state"] == right
    assert left_out > 100
    assert f"5 holes to fill, 0 unexplained; {left_out} more" in opening.state_in_words({**right, "left_out": left_out})
    unfinished, broken = [run for run in catalogue.runs if run.objective == "mpt"][:2]
    unfinished.record.unlink()
    (broken.folder / "sts.json").write_text("{")
    monkeypatch.setattr(Run, "is_stale", lambda run, record: run.objective == "met")
    ledger, _, content = html.gather(catalogue)
    met = sum(run.objective == "met" for run in catalogue.runs)
    filled = int((ledger["fill"] != "").sum())
    assert filled >= 1
    assert content["state"] == {
        "problems": 1,
        "stale": met,
        "to_fill": 5 + filled,
        "unexplained": 0,
        "left_out": left_out,
    }
    unexplained = ledger.assign(note=ledger["note"].mask(ledger["verdict"] == "missing", ""))
    assert opening.state(unexplained, content)["unexplained"] == (ledger["verdict"] == "missing").sum() > 0


def test_the_same_results_give_the_same_bytes(catalogue):
    html.write(catalogue)
    before = [file.read_bytes() for file in catalogue.files.report]
    html.write(catalogue)
    assert [file.read_bytes() for file in catalogue.files.report] == before
