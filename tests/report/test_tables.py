"""Tables as they are written: formulas, blocks, captions, and what a changed record changes."""

import io
import json

import pandas as pd

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.report import tables
from clrepro.report import tables as report_tables
from tests.catalogue.asking import asking
from tests.finished import finished


def test_a_table_of_formulas_is_rendered_whole_and_is_no_hole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update={"tables": ["li2024/table_2"]}))
    (table,) = catalogue.tables
    long = tables.write(catalogue, table)
    assert len(long) == 8 * 3
    assert set(long["verdict"]) == {"not a result"}
    assert not table.runs
    written = {file.suffix[1:]: file.read_text() for file in catalogue.files.of_table(table)}
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
    text = (catalogue.files.table_folder(table) / "table_B4.md").read_text()
    headers = [line for line in text.splitlines() if line.startswith("|  |")]
    assert headers == [
        "|  | STS12 | STS13 | STS14 | STS15 | STS16 | STS-B | SICK-R | Avg |",
        "|  | MR | CR | SUBJ | MPQA | SST2 | TREC | MRPC | Avg |",
    ]
    assert "STS: Spearman correlation x 100 (setting all); transfer: accuracy" in text
    assert (catalogue.files.table_folder(table) / "table_B4.html").read_text().count("<table>") == 2
    assert tables.text(long).count("STS12") == 1


def test_changing_one_record_changes_only_the_tables_that_hold_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo").model_copy(update={"figures": []}))
    finished(catalogue)

    def written() -> dict[str, bytes]:
        for table in catalogue.tables:
            tables.write(catalogue, table)
        return {
            f"{t.paper}/{t.name}": b"".join(f.read_bytes() for f in catalogue.files.of_table(t))
            for t in catalogue.tables
        }

    before = written()
    run = next(run for run in catalogue.runs if run.objective == "mpt" and run.backbone.key == "RoBERTa_base")
    file = run.folder / "sts.json"
    content = json.loads(file.read_text())
    content["rows"][5][3] += 0.01  # of STS-B
    assert content["rows"][5][0] == "STSBenchmark"
    file.write_text(json.dumps(content))
    after = written()
    changed = {name for name in before if before[name] != after[name]}
    holding = {f"{table.paper}/{table.name}" for table in catalogue.tables if run in table.runs}
    # a table of transfer scores holds the run, but none of its STS scores
    assert changed == holding - {"li2024/table_4"}
    assert {"nie2023/table_1", "li2024/table_3", "li2024/table_3_v1"} == changed


def test_captions_of_image_tables_say_data_encoder_and_probes():
    catalogue = asking("demo")
    found = {}
    for table in catalogue.tables:
        if {run.modality for run in table.runs} == {"image"}:
            found[table.name] = " ".join(report_tables.caption(catalogue, table))
            assert "SentEval" not in found[table.name]
            assert "conv3 on digits" in found[table.name]
    assert "batch 8/16/32/64/128" in found["table_9"]
    assert "Top-5 is of ten classes" in found["table_4"]
    assert "Top-5" not in found["table_3"]
    assert "k = 200" in found["table_B3"]
