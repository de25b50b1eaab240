"""Published numbers, scores and verdicts."""

import io
import json
import math
import re
from collections import Counter
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pytest

from clrepro import config as configuration
from clrepro import ledger
from clrepro.catalogue import Catalogue, papers
from clrepro.ledger import Records, published
from clrepro.ledger.scores import score
from clrepro.ledger.verdicts import Ours, summarise, verdict
from clrepro.report import latex, tables
from tests.finished import finished


def test_published_is_one_long_frame_with_the_papers_ids():
    frame = published()
    assert list(frame.columns) == [
        "paper", "version", "table", "row", "column", "metric", "value", "std", "decimals", "unit", "kind"
    ]  # fmt: skip
    key = frame.set_index(["paper", "table", "row", "column", "metric"])["value"]
    assert key.index.is_unique
    assert key["nie2023", "table_1", "L_met", "RoBERTa_large", "sts"] == 78.71
    assert key["li2024", "table_3", "BERT_base mMHE", "STS13", "value"] == 84.32
    assert key["li2024", "table_3", "BERT_base mMHE", "STS13", "delta"] == 16.2
    assert key["li2024", "table_3_v1", "mB", "RoBERTa_base", "delta_sts"] == 7.64
    assert ("li2024", "table_3", "BERT_base mpt", "STS12", "value") not in key.index
    # numbers that no table holds
    assert key["huang2023", "figure_3", "MACL", "1024", "value"] == 66.5
    assert key["huang2023", "figure_3", "SimCLR drop 2048 to 256", "top1", "value"] == 4.2
    assert key["huang2023", "figure_3", "MACL drop 2048 to 256", "top1", "value"] == 2.6
    assert key["huang2023", "text", "gain on MUV in B.5", "stated", "value"] == 2.97
    assert key["nie2023", "text", "gain of L_dcl+ over L_dcl on STS (section 4.1)", "high", "value"] == 7
    kinds = frame.drop_duplicates(["paper", "table"]).groupby("kind").size()
    assert kinds.to_dict() == {"figure": 2, "quoted": 1, "results": 21, "settings": 5, "text": 3}


def test_every_table_of_the_papers_is_in_the_catalogue_with_a_reason_for_each_hole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # without results
    catalogue = Catalogue(configuration.load("demo"))
    assert len(catalogue.every_table) == 29
    assert Counter(table.kind for table in catalogue.every_table) == {
        "results": 21, "settings": 5, "formulas": 2, "quoted": 1
    }  # fmt: skip
    frame = ledger.frame(catalogue, Records())
    results = frame[frame["verdict"] != "not a result"]
    assert not frame.duplicated(["paper", "table", "row", "column", "metric"]).any()
    holes = results[results["ours"].isna()]
    assert len(holes) > 200
    assert holes["note"].str.len().min() > 10
    assert set(holes["verdict"]) == {"missing"}
    # every published number has its line
    wanted = published().query("kind not in ['settings', 'quoted']")
    lines = set(zip(frame["paper"], frame["table"], frame["row"], frame["column"], frame["metric"], strict=True))
    for row in wanted.itertuples():
        assert (row.paper, row.table, row.row, row.column, row.metric) in lines


def printed(node) -> list[float]:
    """All numbers at and below a node of published.yaml."""
    if isinstance(node, dict):
        return [number for child in node.values() for number in printed(child)]
    return [node] if isinstance(node, int | float) else []


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_no_published_number_is_lost_or_made_up(paper):
    frame = published(paper)
    frame = frame[frame["kind"] != "text"]
    content = papers.load(paper, "published")
    every = [*papers.published_tables(paper).values(), *content.get("stated", {}).values()]
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


def exact(node) -> list[Decimal]:
    return [Decimal(str(number)) for number in printed(node)]


def at(path: str, paper: str):
    """The node at table[/version]/row/key/..., or at paper:... in another paper's file."""
    if ":" in path:
        paper, path = path.split(":")
    node = papers.load(paper, "published")["tables"]
    for key in path.split("/"):
        node = next(row for row in node["rows"] if row["id"] == key) if "rows" in node else node[key]
    return node


def mean(term, paper: str) -> Decimal:
    values = exact(at(term, paper) if isinstance(term, str) else term)
    return sum(values) / len(values)


def leaves(node, path=()) -> dict[tuple, Decimal]:
    if isinstance(node, dict):
        return {p: n for key, child in node.items() for p, n in leaves(child, (*path, str(key))).items()}
    return {path: Decimal(str(node))} if isinstance(node, int | float) else {}


def half(decimals: int) -> Decimal:
    return Decimal(1).scaleb(-decimals) / 2


def filled(check: dict, variables: dict):
    """The check once for every value of its variables."""
    for values in product(*variables.values()):
        names = dict(zip(variables, values, strict=True))
        yield {key: text.format(**names) if isinstance(text, str) else text for key, text in check.items()}


def inconsistencies(paper: str):
    """The ids of averages, differences and ranges of the paper that its own cells contradict."""
    for name, table in papers.published_tables(paper).items():
        version = table.get("version")
        full = f"{name.removesuffix(f'_{version}')}/{version}" if version else name
        rows = {row["id"]: row for row in table["rows"]}
        for row in table["rows"]:
            average = table.get("average", {})
            average = average[row["columns"]] if average and "columns" in row else average
            for kind, slack in (("values", 1), ("delta", 2)) if average else ():
                parts = [(row.get(kind) or {}).get(column) for column in average["of"]]
                if None in parts:
                    continue
                digits = table.get("delta_decimals", table["decimals"]) if kind == "delta" else table["decimals"]
                off = abs(sum(map(Decimal, map(str, parts))) / len(parts) - Decimal(str(row[kind]["Avg"])))
                if off > slack * half(digits):
                    yield f"{full}/{row['id']}/average of {kind}"
            for column, delta in row.get("delta", {}).items() if "baseline" in row else ():
                below = rows[row["baseline"]]["values"][column]
                if exact(delta) != [a - b for a, b in zip(exact(row["values"][column]), exact(below), strict=True)]:
                    yield f"{full}/{row['id']}/delta/{column}"
    checks = papers.load(paper, "published")["checks"]
    for check in (one for part in checks.get("same", []) for one in filled(part, part.get("for", {}))):
        a, b = leaves(at(check["a"], paper)), leaves(at(check["b"], paper))
        assert a.keys() & b.keys(), check["id"]
        if any(a[key] != b[key] for key in a.keys() & b.keys()):
            yield check["id"]
    for check in (one for part in checks.get("differences", []) for one in filled(part, part.get("for", {}))):
        computed = mean(check["plus"], paper) - (mean(check["minus"], paper) if "minus" in check else 0)
        if abs(computed - mean(check["stated"], paper)) > half(check["decimals"]):
            yield check["id"]
    for check in checks.get("ranges", []):
        found = [mean(one["plus"], paper) - mean(one["minus"], paper) for one in filled(check, check["over"])]
        ends = zip((min(found), max(found)), check["stated"], strict=True)
        if any(abs(value - Decimal(str(end))) > half(check["decimals"]) for value, end in ends):
            yield check["id"]


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_printed_averages_and_differences_recompute_but_for_the_listed_inconsistencies(paper):
    listed = [entry["id"] for entry in papers.load(paper, "errata").get("known_inconsistencies", [])]
    assert sorted(inconsistencies(paper)) == sorted(listed)


def test_what_errata_doubt_are_cells():
    catalogue = Catalogue(configuration.load("demo"))
    addresses = ["/".join(key[1:]) for key in catalogue.cells]
    for paper in papers.paper_keys():
        for pattern, why in papers.doubtful(paper):
            prefix = pattern.removesuffix("*")
            assert any(address.startswith(prefix) for address in addresses), pattern
            assert why


def test_a_table_of_formulas_is_rendered_whole_and_is_no_hole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update={"tables": ["li2024/table_2"]}))
    (table,) = catalogue.tables
    long = tables.write(catalogue, table)
    assert len(long) == 8 * 3
    assert set(long["verdict"]) == {"not a result"}
    assert not table.runs
    written = {file.suffix[1:]: file.read_text() for file in catalogue.table_files(table)}
    assert "| mB | `1{a_i.b_i - max_{k!=i} a_i.b_k < m}` |" in written["md"]
    assert "max_{k!=i} a_i.b_k &lt; m}</code>" in written["html"]
    assert list(pd.read_csv(io.StringIO(written["csv"]))["published"]) == [cell.text for cell in table.cells]
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


def test_the_summary_has_the_interval_of_two_one_sided_tests():
    ours = summarise([70.0, 71.0, 72.0])
    assert (ours.mean, ours.std, ours.seeds) == (71.0, 1.0, 3)
    assert ours.high - ours.mean == pytest.approx(2.919986 / 3**0.5, abs=1e-5)  # t(0.95; 2)
    assert summarise([70.0, 71.0, 72.0], 0.025).high - ours.mean == pytest.approx(4.302653 / 3**0.5, abs=1e-5)
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
    assert verdict(ours, published_value, comparable, False, 1.0) == expected
    doubted = expected if expected in ("missing", "not comparable") else "published value doubtful"
    assert verdict(ours, published_value, comparable, True, 1.0) == doubted


def test_verdicts_err_no_more_often_than_promised():
    """At the edge of the band neither reproduced nor differs may come up in more than alpha of the cases."""
    generator = np.random.default_rng(0)
    counts = {truth: Counter() for truth in (75.0, 76.0, 72.0)}
    for truth, found in counts.items():
        for seeds in (2, 3, 5):
            for values in generator.normal(truth, 0.4, (1500, seeds)):
                found[verdict(summarise(list(values)), 76.0, True, False, 1.0)] += 1
    total = 4500
    bound = 0.05 * total + 3 * math.sqrt(0.05 * 0.95 * total)
    assert max(counts[75.0]["reproduced"], counts[75.0]["differs"]) < bound
    assert counts[76.0]["differs"] < bound / 10
    assert counts[76.0]["reproduced"] > 0.5 * total  # and it does decide
    assert counts[72.0]["differs"] > 0.8 * total


TABLE = {"tables": ["nie2023/table_1"], "papers": ["nie2023"], "figures": []}


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update=TABLE))
    finished(catalogue)
    return catalogue


def test_a_broken_file_is_named_skipped_and_counted(results):
    (table,) = results.tables
    whole = tables.frame(results, table)
    assert whole["ours"].notna().all()
    cell = next(cell for cell in table.cells if cell.row == "L_mpt" and cell.metric == "sts")
    first, second = cell.runs
    for file, content, fault in [
        (first.record, '{"identity": {', "it cannot be read"),
        (first.record, "[]", "it does not hold an object"),
        (first.record, second.record.read_text(), "it is the record of another run"),
        (first.folder / "sts.json", '{"rows": [["STS12", "test", "spearman_all", NaN]]}', "not a finite number"),
        (first.folder / "sts.json", '{"rows": [[["STS12"], "test", "spearman_all", 0.5]]}', "are not lists of task"),
        (first.record, json.dumps({**json.loads(first.record.read_text()), "model": None}), "`model`"),
        (first.record, json.dumps({**json.loads(first.record.read_text()), "energy_wh": 3}), "`energy_wh`"),
        (first.record, json.dumps({**json.loads(first.record.read_text()), "history": [{"step": None}]}), "a number"),
        (first.folder / "sts.json", '{"rows": [["STS12", "test", "spearman_all", 0.5]]}', "it has no row"),
    ]:
        before = file.read_text()
        file.write_text(content)
        records = Records()
        long = tables.frame(results, table, records)
        assert list(records.problems) == [file]
        assert fault in records.problems[file]
        row = long[(long["row"] == "L_mpt") & (long["column"] == cell.column) & (long["metric"] == "sts")].iloc[0]
        assert row["seeds"] == 1
        assert str(file) in row["note"]
        assert f"seed {first.seed} left out, broken" in row["note"]
        others = ~((long["row"] == "L_mpt") & (long["column"] == cell.column))
        pd.testing.assert_frame_equal(long[others], whole[others])
        file.write_text(before)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A ledger with results for every run of the demo, figures included; each run has scores of its own."""
    folder = tmp_path_factory.mktemp("everything")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        catalogue = Catalogue(configuration.load("demo"))
        finished(catalogue)
        yield catalogue, ledger.frame(catalogue).set_index(["paper", "table", "row", "column", "metric"])


def test_printed_differences_are_ours_to_the_row_that_they_are_printed_against(everything):
    _, frame = everything
    plus = frame.loc[("li2024", "table_5", "MHE", "+R", "value"), "ours"]
    minus = frame.loc[("li2024", "table_5", "MHE", "original", "value"), "ours"]
    assert frame.loc[("li2024", "table_3", "BERT_base mMHE", "Avg", "delta"), "ours"] == pytest.approx(plus - minus)
    assert frame.loc[("li2024", "table_3_v1", "mMHE", "BERT_base", "delta_sts"), "ours"] == pytest.approx(plus - minus)
    deltas = frame[frame.index.get_level_values("metric").str.startswith("delta")]
    own = deltas[deltas.index.get_level_values("paper") == "li2024"]
    assert own["ours"].notna().all()
    assert (own["ours"].abs() > 0.05).all()
    within = frame.loc[("huang2023", "table_B4", "MACL STS", "Avg", "value"), "ours"]
    below = frame.loc[("huang2023", "table_B4", "SimCSE STS", "Avg", "value"), "ours"]
    assert frame.loc[("huang2023", "table_B4", "MACL STS", "Avg", "delta"), "ours"] == pytest.approx(within - below)


def test_the_ends_of_a_range_are_the_smallest_and_the_largest_difference(everything):
    _, frame = everything
    gains = [
        frame.loc[("nie2023", "table_1", "L_dcl+", backbone, "sts"), "ours"]
        - frame.loc[("nie2023", "table_1", "L_dcl", backbone, "sts"), "ours"]
        for backbone in ("BERT_base", "BERT_large", "RoBERTa_base", "RoBERTa_large")
    ]
    row = ("nie2023", "text", "gain of L_dcl+ over L_dcl on STS (section 4.1)")
    found = [frame.loc[(*row, end, "value"), "ours"] for end in ("low", "high")]
    assert found == pytest.approx([min(gains), max(gains)])
    oar = frame.loc[("oar2024", "text", "gain at 10% labels (section 5.1)", "low", "value")]
    assert (oar["unit"], oar["published"]) == ("fraction", 0.25)


def test_an_encoder_that_no_seed_trains_has_an_exact_number(everything):
    _, frame = everything
    row = frame.loc[("nie2023", "table_1", "Pretrained", "BERT_base", "sts")]
    assert (row["ci_low"], row["ci_high"], row["seeds"]) == (row["ours"], row["ours"], 1)
    trained = frame.loc[("nie2023", "table_1", "L_cl", "BERT_base", "sts")]
    assert trained["ci_low"] < trained["ours"] < trained["ci_high"]


def test_the_nearer_of_two_evaluations_is_named(everything, monkeypatch):
    """`tr` and `tr_dev` stand beside one printed number."""
    from clrepro.ledger import cells
    from clrepro.ledger.scores import Scores

    catalogue, _ = everything
    numbers = {"transfer/Avg": 80.0, "transfer_dev/Avg": 86.0, "sts/Avg": 70.0}
    by_seed = lambda _, cell, __: Scores({1: numbers[cell.score], 2: numbers[cell.score] + 0.1})  # noqa: E731
    monkeypatch.setattr(cells, "scores", by_seed)
    monkeypatch.setattr(catalogue, "is_papers_own", True)
    table = next(table for table in catalogue.tables if (table.paper, table.name) == ("nie2023", "table_1"))
    rows = cells.of_table(catalogue, table).set_index(["row", "column", "metric"])["note"]
    assert "nearest to the published number" in rows["L_cl", "BERT_base", "tr_dev"]
    assert "nearest" not in rows["L_cl", "BERT_base", "tr"]


def test_a_command_is_given_only_where_it_makes_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"tables": ["li2024/table_5"], "figures": ["nie2023/figure_1b"]}
    catalogue = Catalogue(configuration.load("demo").model_copy(update=asked))
    frame = ledger.frame(catalogue).set_index(["paper", "table", "row", "column", "metric"])
    assert set(frame["fill"]) == {"", "snakemake li2024_table_5 --cores all", "snakemake all --cores all"}
    # its runs are those of table 5, so all that is asked for makes it; L_cl is trained, but for a figure without scores
    assert frame.loc[("li2024", "table_3", "BERT_base mMHE", "Avg", "delta"), "fill"] == "snakemake all --cores all"
    elsewhere = frame.loc[("nie2023", "table_1", "L_cl", "BERT_base", "sts")]
    assert elsewhere["fill"] == ""
    assert elsewhere["note"] == "not run: nothing that this configuration asks for needs it"
    bench = Catalogue(configuration.load("bench"))
    row = ledger.frame(bench).set_index(["paper", "table", "row", "column", "metric"])["fill"]
    expected = "snakemake nie2023_table_1 --cores all --configfile config/bench.yaml"
    assert row["nie2023", "table_1", "L_cl", "BERT_base", "sts"] == expected


def test_equal_seeds_tell_of_no_spread():
    ours = summarise([62.2, 62.2])
    assert (ours.std, ours.low) == (0.0, None)
    assert verdict(ours, 62.2, True, False, 1.0) == "undecided"


def test_changing_one_record_changes_only_the_tables_that_hold_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update={"figures": []}))
    finished(catalogue)

    def written() -> dict[str, bytes]:
        for table in catalogue.tables:
            tables.write(catalogue, table)
        return {
            f"{t.paper}/{t.name}": b"".join(f.read_bytes() for f in catalogue.table_files(t)) for t in catalogue.tables
        }

    before = written()
    run = next(run for run in catalogue.runs if run.objective == "mpt" and run.backbone.key == "RoBERTa_base")
    file = run.folder / "sts.json"
    file.write_text(file.read_text().replace("STSBenchmark", "STSBenchmark", 1).replace(", 0.", ", 0.1", 1))
    after = written()
    changed = {name for name in before if before[name] != after[name]}
    holding = {f"{table.paper}/{table.name}" for table in catalogue.tables if run in table.runs}
    # a table of transfer scores holds the run, but none of its STS scores
    assert changed == holding - {"li2024/table_4"}
    assert {"nie2023/table_1", "li2024/table_3", "li2024/table_3_v1"} == changed


def test_the_latex_of_every_table_is_balanced_ascii(results, tmp_path):
    every = Catalogue(configuration.load("demo")).every_table
    assert len(every) == 29
    for table in every:
        tables.write(results, table)
        text = (results.table_folder(table) / f"{table.name}.tex").read_text()
        assert text.isascii()
        opened = Counter(re.findall(r"\\begin\{(\w+)\}", text))
        assert opened == Counter(re.findall(r"\\end\{(\w+)\}", text))
        assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == opened["tabular"]
        unescaped = re.sub(r"\\[{}]", "", text)
        assert unescaped.count("{") == unescaped.count("}")
        for part in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.S):
            lines = [line for line in part[1].splitlines() if line.endswith("\\\\")]
            # each line fills the columns; a multicolumn counts for all that it spans
            for line in lines:
                spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
                assert len(re.findall(r"(?<!\\)&", line)) + spans == len(part[0]) - 1, line
    assert latex.escaped("50% of a_b & {τ} [x]") == "50\\% of a\\_b \\& \\{$\\tau$\\} {[}x{]}"


def test_fractions_of_a_paper_are_set_beside_fractions_of_ours(monkeypatch):
    from clrepro.ledger import cells
    from clrepro.ledger.scores import Scores

    catalogue = Catalogue(configuration.load("demo"))
    monkeypatch.setattr(cells, "scores", lambda *_: Scores({1: 68.0, 2: 69.0}))
    monkeypatch.setattr(Catalogue, "is_papers_own_image", True)
    table = next(table for table in catalogue.tables if (table.paper, table.name) == ("oar2024", "table_3"))
    row = cells.of_table(catalogue, table).set_index(["row", "column"]).loc[("OAR-InfoNCE", "10%")]
    assert (row["ours"], row["published"], row["difference"]) == (0.685, 0.6856, -0.0006)
    assert row["verdict"] == "undecided"  # the interval reaches 0.032 to either side, the band 0.01
