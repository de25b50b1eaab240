"""Published numbers, scores and verdicts."""

import io

import pandas as pd
import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.ledger import published
from clrepro.ledger.cells import Ours, score, summarise, verdict
from clrepro.report import tables


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


def printed(node) -> list[float]:
    """All numbers at and below a node of published.yaml."""
    if isinstance(node, dict):
        return [number for child in node.values() for number in printed(child)]
    return [node] if isinstance(node, int | float) else []


@pytest.mark.parametrize("paper", ["nie2023", "li2024", "huang2023"])
def test_no_published_number_is_lost_or_made_up(paper):
    frame = published(paper)
    every = papers.published_tables(paper).values()
    expected = [
        n for table in every for row in table["rows"] for kind in ("values", "delta") for n in printed(row.get(kind))
    ]
    assert sorted([*frame["value"], *frame["std"].dropna()]) == sorted(expected)


def test_a_mean_and_its_deviation_are_one_number():
    frame = published("huang2023").set_index(["table", "row", "column", "metric"])
    mutag = frame.loc[("table_4", "MACL", "MUTAG", "value")]
    assert (mutag["value"], mutag["std"]) == (89.04, 0.98)
    assert frame.loc[("table_B3", "NT-Xent", "64", "knn"), "value"] == 78.80
    assert frame.loc[("table_B4", "MACL STS", "SICK-R", "delta"), "value"] == 0.77
    assert frame.loc[("table_B1", "MACL", "65536", "delta_top1"), "value"] == 1.10


@pytest.mark.parametrize("paper", ["li2024", "huang2023"])
def test_printed_averages_and_deltas_recompute_but_for_the_known_inconsistencies(paper):
    known = {entry["id"] for entry in papers.load(paper, "errata")["known_inconsistencies"]}
    wrong = set()
    for name, table in papers.published_tables(paper).items():
        version = table.get("version")
        full = f"{name.removesuffix(f'_{version}')}/{version}" if version else name
        rows = {row["id"]: row for row in table["rows"]}
        for row in table["rows"]:
            average = table.get("average", {})
            average = average[row["columns"]] if average and "columns" in row else average
            parts = [row["values"][column] for column in average.get("of", ())]
            if parts and None not in parts and abs(sum(parts) / len(parts) - row["values"]["Avg"]) > 0.00501:
                wrong.add(f"{full}/{row['id']}/average of values")
            for column, delta in row.get("delta", {}).items() if "baseline" in row else ():
                below = rows[row["baseline"]]["values"][column]
                if printed(delta) != [
                    round(a - b, 2) for a, b in zip(printed(row["values"][column]), printed(below), strict=True)
                ]:
                    wrong.add(f"{full}/{row['id']}/delta/{column}")
    assert wrong == {identity for identity in known if identity.startswith("table_")}


def test_a_table_of_formulas_is_rendered_whole_and_is_no_hole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update={"tables": ["li2024/table_2"]}))
    (table,) = catalogue.tables
    long = tables.write(catalogue, table)
    assert len(long) == 8 * 3
    assert set(long["verdict"]) == {"not applicable"}
    assert not table.runs
    written = {
        suffix: (catalogue.table_folder(table) / f"table_2.{suffix}").read_text() for suffix in ("csv", "md", "html")
    }
    assert "| mB | `1{a_i.b_i - max_{k!=i} a_i.b_k < m}` |" in written["md"]
    assert "max_{k!=i} a_i.b_k &lt; m}</code>" in written["html"]
    assert list(pd.read_csv(io.StringIO(written["csv"]))["published"]) == [cell.formula for cell in table.cells]
    assert "gradient dissipation" in tables.text(long)


def test_blocks_of_a_table_are_rendered_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update={"tables": ["huang2023/table_B4"]}))
    (table,) = catalogue.tables
    long = tables.write(catalogue, table)
    assert len(long) == 2 * 5 * 8
    value = long.set_index(["row", "column"])["published"]
    assert (value["MACL STS", "Avg"], value["MACL [dropout 0.1] transfer", "Avg"]) == (76.66, 86.16)
    text = (catalogue.table_folder(table) / "table_B4.md").read_text()
    headers = [line for line in text.splitlines() if line.startswith("|  |")]
    assert headers == [
        "|  | STS12 | STS13 | STS14 | STS15 | STS16 | STS-B | SICK-R | Avg |",
        "|  | MR | CR | SUBJ | MPQA | SST2 | TREC | MRPC | Avg |",
    ]
    assert "STS: Spearman correlation x 100 (setting all); transfer: accuracy" in text
    assert (catalogue.table_folder(table) / "table_B4.html").read_text().count("<table>") == 2
    assert tables.text(long).count("STS12") == 1


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
