"""The two tables of SimCSE's program."""

import json
import math

import pandas as pd
import pytest

from clrepro.evaluation.senteval import tables


def frame(rows):
    return pd.DataFrame(rows, columns=["task", "split", "metric", "value"])


STS = [(f"STS{year}", "test", "spearman_all", value) for year, value in enumerate((0.1, 0.2, 0.3, 0.4, 0.5), 12)]
COMPLETE = frame(
    [
        *STS,
        ("STS12", "test", "spearman_mean", 0.9),
        ("STSBenchmark", "test", "spearman", 0.60004),
        ("STSBenchmark", "test", "pearson", 0.9),
        ("STSBenchmark", "dev", "spearman", 0.7),
        ("STSBenchmark", "train", "spearman", 0.8),
        ("SICKRelatedness", "test", "spearman", 0.70006),
        *((task, "test", "accuracy", 80.0) for task in ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC")),
        ("MRPC", "test", "accuracy", 70.03),
        ("MRPC", "test", "f1", 90.0),
        ("MR", "dev", "accuracy", 75.5),
    ]
)


def test_rows_are_those_of_simcse_s_program():
    assert list(tables.sts_row(COMPLETE)) == [
        *("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness", "Avg."),
    ]
    assert list(tables.sts_row(COMPLETE).values()) == [10, 20, 30, 40, 50, 60.0, 70.01, 40.0]
    assert list(tables.transfer_row(COMPLETE)) == ["MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC", "Avg."]
    assert list(tables.transfer_row(COMPLETE).values()) == [80, 80, 80, 80, 80, 80, 70.03, 78.58]
    assert tables.sts_row(COMPLETE, "dev") == {"STSBenchmark": 70.0, "SICKRelatedness": None}


def test_the_average_is_of_the_rounded_values():
    # exact mean 0.0043 -> 0.00; each value rounds up to 0.01
    values = frame([(task, "test", "accuracy", 0.0051) for task in ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC")])
    whole = pd.concat([values, frame([("MRPC", "test", "accuracy", 0.0)])])
    assert whole["value"].mean() == pytest.approx(0.00437, abs=1e-5)
    assert tables.transfer_row(whole)["Avg."] == 0.01


def test_a_row_with_a_hole_has_no_average_and_shows_a_dash():
    part = COMPLETE[COMPLETE["task"] != "STS14"]
    assert tables.sts_row(part)["STS14"] is None
    assert tables.sts_row(part)["Avg."] is None
    dev = tables.transfer_row(part, "dev")
    assert [dev["MR"], dev["CR"], dev["Avg."]] == [75.5, None, None]
    assert set(tables.tables(part[part["task"] == "MR"])) == {"dev", "test"}
    assert tables.tables(part[part["split"] == "train"]) == {}
    with pytest.raises(ValueError, match="duplicate"):
        tables.sts_row(pd.concat([part, part]))


def test_text_names_the_split_of_each_table():
    lines = tables.text(COMPLETE).split("\n")
    titles = [line for line in lines if "split" in line]
    assert [title.split(":")[0] for title in titles] == [
        *("STS, dev split", "Transfer, dev split", "STS, test split", "Transfer, test split"),
    ]
    (cells,) = (line.strip("| ").split() for line in lines if "40.00" in line)
    assert [float(cell) for cell in cells if cell != "|"] == [10, 20, 30, 40, 50, 60, 70.01, 40]
    assert "| 75.50 | - " in tables.text(COMPLETE)


def test_what_is_written_can_be_read_back(tmp_path):
    broken = pd.concat([COMPLETE, frame([("TREC", "dev", "accuracy", math.nan)])], ignore_index=True)
    files = tables.write(broken, tmp_path / "deeper" / "bert-v1.5", {"protocol": "test"})
    assert [file.name for file in files] == ["bert-v1.5.json", "bert-v1.5.csv"]
    content = json.loads(files[0].read_text("utf-8"), parse_constant=pytest.fail)
    assert content["meta"] == {"protocol": "test"}
    assert content["tables"]["test"]["sts"]["Avg."] == 40.0
    assert content["tables"]["dev"]["transfer"]["TREC"] is None
    assert content["rows"][6] == ["STSBenchmark", "test", "spearman", 0.60004]
    pd.testing.assert_frame_equal(pd.read_csv(files[1]), broken)
