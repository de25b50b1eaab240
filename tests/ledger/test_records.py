"""Records that cannot be read."""

import json

import pandas as pd
import pytest

from clrepro.ledger import Records
from clrepro.report import tables
from tests.finished import finished_table


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return finished_table()


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
        (first.folder / "sts.json", '{"seeds": ["0"]}', "its `seeds` are not rows by seed"),
        (first.folder / "sts.json", '{"seeds": {"one": []}}', "its `seeds` are not rows by seed"),
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
