"""Published numbers, scores and verdicts."""

import pytest

from clrepro.catalogue import papers
from clrepro.ledger import published
from clrepro.ledger.cells import Ours, score, summarise, verdict


def test_published_is_one_long_frame_with_the_papers_ids():
    frame = published()
    assert list(frame.columns) == [
        "paper", "version", "table", "row", "column", "metric", "value", "std", "decimals"
    ]  # fmt: skip
    key = frame.set_index(["paper", "table", "row", "column", "metric"])["value"]
    assert key.index.is_unique
    assert key["nie2023", "table_1", "L_met", "RoBERTa_large", "sts"] == 78.71
    assert key["li2024", "table_3", "BERT_base mMHE", "STS13", "value"] == 84.32
    assert key["li2024", "table_3", "BERT_base mMHE", "STS13", "delta"] == 16.2
    assert key["li2024", "table_3_v1", "mB", "RoBERTa_base", "delta_sts"] == 7.64
    assert ("li2024", "table_3", "BERT_base mpt", "STS12", "value") not in key.index


def test_printed_averages_recompute_but_for_the_known_inconsistencies():
    known = {entry["id"] for entry in papers.load("li2024", "errata")["known_inconsistencies"]}
    wrong = set()
    for name in ("table_3", "table_4"):
        table = papers.published_tables("li2024")[name]
        for row in table["rows"]:
            cells = [row["values"][column] for column in table["average"]["of"]]
            if None not in cells and abs(sum(cells) / 7 - row["values"]["Avg"]) > 0.00501:
                wrong.add(f"{name}/v2/{row['id']}/average of values")
    assert wrong == {identity for identity in known if "average of values" in identity}


ROWS = {
    "sts": [[f"STS{year}", "test", "spearman_all", 0.5 + year / 1000] for year in (12, 13, 14, 15, 16)]
    + [["STSBenchmark", "dev", "spearman", 0.9], ["STSBenchmark", "test", "spearman", 0.60004]]
    + [["SICKRelatedness", "test", "spearman", 0.70006]],
    "transfer": [["MRPC", "dev", "accuracy", 70.0], ["MRPC", "test", "accuracy", 71.234], ["MRPC", "test", "f1", 80.0]],
}  # fmt: skip


def test_scores_pick_the_test_split_and_average_rounded_values():
    assert score("sts/STS12", ROWS) == 51.2
    assert score("sts/STSBenchmark", ROWS) == 60.0
    assert score("sts/SICKRelatedness", ROWS) == 70.01
    assert score("sts/Avg", ROWS) == round((51.2 + 51.3 + 51.4 + 51.5 + 51.6 + 60.0 + 70.01) / 7, 2)
    assert score("transfer/MRPC", ROWS) == 71.23
    assert score("transfer_dev/MRPC", ROWS) == 70.0


def test_the_summary_is_the_t_interval():
    ours = summarise([70.0, 71.0, 72.0])
    assert (ours.mean, ours.std, ours.seeds) == (71.0, 1.0, 3)
    assert ours.high - ours.mean == pytest.approx(4.302653 / 3**0.5, abs=1e-5)
    assert summarise([70.0]).std is None


@pytest.mark.parametrize(
    ("ours", "published_value", "comparable", "expected"),
    [
        (None, 76.0, True, "missing"),
        (Ours(76, 0.1, 3, 75.8, 76.2), 76.0, False, "not comparable"),
        (Ours(76, 0.1, 3, 75.8, 76.2), None, True, "not comparable"),
        (Ours(76, 0.1, 3, 75.8, 76.2), 76.0, True, "reproduced"),
        (Ours(74, 0.1, 3, 73.8, 74.2), 76.0, True, "differs"),
        (Ours(75, 0.9, 3, 73.0, 77.0), 76.0, True, "undecided"),
        (Ours(76, None, 1, None, None), 76.0, True, "undecided"),
        (summarise([76.9], deterministic=True), 76.0, True, "reproduced"),
        (summarise([77.1], deterministic=True), 76.0, True, "differs"),
    ],
)
def test_verdicts(ours, published_value, comparable, expected):
    assert verdict(ours, published_value, comparable) == expected
