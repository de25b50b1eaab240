"""From results on disk to the report's data, its summary, and where a result came from."""

import json
import re

import pytest

from clrepro import config as configuration
from clrepro import provenance
from clrepro.catalogue import Catalogue
from clrepro.report import html, summary
from tests.finished import finished


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"papers": ["nie2023", "huang2023"], "tables": ["nie2023/table_1"], "figures": ["nie2023/figure_1b"]}
    found = Catalogue(configuration.load("demo").model_copy(update=asked))
    finished(found)
    return found


def test_every_number_leads_to_its_runs_and_every_run_to_its_cells(catalogue):
    content = html.write(catalogue)
    cells = {
        cell["id"]: cell
        for paper in content["papers"]
        for table in paper["tables"]
        for part in table["parts"]
        for row in part["rows"]
        for cell in filter(None, row["cells"])
    }
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
    assert ("", "the workflow trains no graph encoders") in reasons
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
    (second.folder / "probes.json").write_text('{"rows": [[0, "train_distance_gap", 0.25]], "histograms": []}')
    (third.folder / "probes.json").write_text('{"rows": ')
    data = html.write(catalogue)
    page = catalogue.report_files[-1].read_text()
    shown = next(
        run for run in data["runs"].values() if run["seconds"] == 1.5
    )  # fmt: skip
    assert shown["energy_wh"] == 1.25
    assert shown["curves"] == {"loss": [[1, 0.5]], "train_distance_gap": [[0, 0.25]]}
    assert shown["model"]["path"] == "bert"
    assert "/home/someone" not in page
    assert [problem["file"] for problem in data["problems"]] == [str(third.folder / "probes.json")]
    assert data["cost"]["energy_wh"] == 1.25
    assert data["cost"]["seconds"] == 1.5


def test_the_summary_counts_cells_and_claims_of_each_paper(catalogue):
    text = summary.text(catalogue)
    assert re.search(r"^nie2023\n  cells:  122: 122 not comparable\n  claims: \d+: ", text, re.M)
    assert "report.html, not made yet (clrepro report)" in text
    html.write(catalogue)
    assert text.count("\n") == summary.text(catalogue).count("\n")
    assert "not made yet" not in summary.text(catalogue)


def test_the_same_results_give_the_same_bytes(catalogue):
    html.write(catalogue)
    before = [file.read_bytes() for file in catalogue.report_files]
    html.write(catalogue)
    assert [file.read_bytes() for file in catalogue.report_files] == before


def test_energy_is_what_the_counters_of_all_packages_rose_by(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "POWERCAP", tmp_path)
    monkeypatch.setattr(provenance, "_gpu_counters", dict)
    assert provenance.Energy().used() is None

    def counter(name, joules):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "energy_uj").write_text(str(int(joules * 1e6)))
        (tmp_path / name / "max_energy_range_uj").write_text(str(int(1e4 * 1e6)))

    counter("intel-rapl:0", 100)
    counter("intel-rapl:1", 9_990)
    counter("intel-rapl:0:0", 5)  # a part of package 0
    energy = provenance.Energy()
    counter("intel-rapl:0", 3_690)
    counter("intel-rapl:1", 0)  # it went over its end
    counter("intel-rapl:0:0", 500)
    assert energy.used() == {"cpu": 1.0}  # (3590 + 10) J


def test_hardware_names_no_host():
    import platform

    found = provenance.hardware("cpu")
    assert found["cores"] >= 1
    assert platform.node() not in json.dumps(found)
