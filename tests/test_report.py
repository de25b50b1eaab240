"""From results on disk to the report's data, its first words, its tables' numbers, and where a result came from."""

import html as markup
import json
import re
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.report import assemble, common, html, latex, opening, page, summary, tables
from clrepro.workflow import provenance
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
    (second.folder / "statistics.json").write_text('{"rows": [[0, "train_distance_gap", 0.25]], "histograms": []}')
    (third.folder / "statistics.json").write_text('{"rows": ')
    data = html.write(catalogue)
    page = catalogue.report_files[-1].read_text()
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
    monkeypatch.setattr(type(catalogue), "is_stale", lambda self, run, record: run.objective == "met")
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


@given(st.floats(-1e6, 1e6), st.integers(0, 6), st.booleans())
@example(62.25, 1, False)  # halfway: away from zero, as JavaScript does
@example(-0.04, 1, True)
def test_a_number_is_the_nearest_with_the_papers_digits(value, decimals, sign):
    text = common.number(value, decimals, sign)
    assert re.fullmatch(r"[+-]?\d+" + (rf"\.\d{{{decimals}}}" if decimals else ""), text)
    unit = Fraction(1, 10**decimals)
    assert abs(Fraction(text) - Fraction(value)) <= unit / 2
    if abs(Fraction(text) - Fraction(value)) == unit / 2:
        assert abs(Fraction(text)) > abs(Fraction(value))
    assert text.startswith("-") == (Fraction(text) < 0)
    assert text.startswith("+") == (sign and Fraction(text) > 0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.floats(0, 100)] * 4), min_size=2, max_size=4), st.integers(0, 4))
@example([(62.456, 62.5, 0.25, 1.05)] * 2, 1)
def test_a_tables_numbers_are_rounded_alike_in_every_format(numbers, decimals):
    same = {"paper": "nie2023", "table": "table_1", "kind": "results", "column": "A", "metric": "value", "seeds": 2}
    none = {**dict.fromkeys(("ci_low", "ci_high", "difference")), **dict.fromkeys(("note", "fill", "runs"), "")}
    names = ("ours", "ours_std", "published", "published_std")
    long = pd.DataFrame(
        {**same, **none, "row": f"row{place}", "decimals": decimals, "verdict": "not comparable"}
        | dict(zip(names, values, strict=True))
        for place, values in enumerate(numbers)
    )
    table = {"id": "table_1", "caption": "A table", "parts": [assemble.block(long)]}
    whole = page.render({"papers": [{"key": "nie2023", "title": "A paper", "tables": [table]}]})
    formats = {
        "md": tables.markdown(long, ["A table"]).partition("Ours ±")[0],
        "tex": latex.table([long], ["A table"], "label"),
        "html": tables.grid(long),
        "page": re.search(r'<table class="result.*?</table>', whole, re.S)[0],
        "cli": tables.text(long),
    }
    for name, text in formats.items():
        bare = markup.unescape(re.sub("<[^>]+>", " ", text)).partition("Row")[2 if name == "page" else 0]
        shown = [values[: 2 if name == "cli" else 4] for values in numbers]  # a terminal has ours alone
        expected = [common.number(value, decimals) for values in shown for value in values]
        assert re.findall(r"(?<![\w.])\d+(?:\.\d+)?", bare) == expected, name


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
