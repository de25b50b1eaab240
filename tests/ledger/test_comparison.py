"""Results beside results: repeated runs agree, a changed temperature is found and named, chance is told from change."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from clrepro.cli import app
from clrepro.errors import UserError
from clrepro.ledger import comparison

SEEDS = (1, 2, 3, 4, 5)
ROWS = ("infonce", "mpt", "Pretrained")


def results(folder, *, values, temperature=0.05, verdict="seen", torch="2.15.0", kept=False, rows=ROWS):
    """A results folder with a table of three rows; values: {row: one score a seed}."""
    cells, entries = [], []
    place = {"paper": "nie2023", "table": "table_1", "column": "BERT_base", "metric": "sts", "decimals": 2}
    for row in rows:
        scores = values[row]
        trained = len(scores) > 1
        names = [f"sentence/BERT_base/{row}/t{temperature}/seed{seed}" for seed in SEEDS[: len(scores)]]
        std = np.std(scores, ddof=1) if trained else math.nan
        numbers = {"ours": round(np.mean(scores), 4), "ours_std": std, "seeds": len(scores)}
        cells.append({**place, "row": row, **numbers, "runs": " ".join(names)})
        objective = {"name": row, "params": {"temperature": temperature}} if trained else None
        identity = {"modality": "sentence", "training": {"learning_rate": 1e-3}, "objective": objective}
        about = {"commit": "c0ffee", "environment": {"torch": torch}, "hardware": {"cpu": "test"}}
        for seed, name in zip(SEEDS, names, strict=False):
            entries.append({"run": name, "identity": identity, "seed": seed, "code": "abc", **about})
    folder.mkdir()
    pd.DataFrame(cells).to_csv(folder / "ledger.csv", index=False)
    verdicts = {"first": verdict, "second": "missing"}
    claims = [{"paper": "nie2023", "claim": name, "verdict": word} for name, word in verdicts.items()]
    pd.DataFrame(claims).to_csv(folder / "claims.csv", index=False)
    if kept:
        (folder / "runs.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return folder
    for entry in entries:
        record = folder / "runs" / entry.pop("run") / "record.json"
        record.parent.mkdir(parents=True)
        record.write_text(json.dumps(entry))
    return folder


def drawn(seed, shift=0.0):
    generator = np.random.default_rng(seed)
    return {
        "infonce": list(70 + shift + generator.normal(0, 0.5, 5)),
        "mpt": list(68 + generator.normal(0, 0.5, 5)),
        "Pretrained": [52.25],
    }


def compared(ours, theirs):
    return comparison.compare(comparison.read(ours), comparison.read(theirs))


def test_a_repeated_run_agrees_with_reference_results_in_either_form(tmp_path):
    ours = results(tmp_path / "ours", values=drawn(0))
    found = compared(ours, results(tmp_path / "kept", values=drawn(0), kept=True))
    assert set(found.cells["state"]) == {comparison.SAME}
    assert found.agrees
    assert found.about == []
    other = compared(ours, results(tmp_path / "other", values=drawn(1)))  # other machine, other rounding, same law
    assert other.agrees
    assert list(other.cells["state"]) == [comparison.WITHIN, comparison.WITHIN, comparison.SAME]


def test_a_changed_temperature_is_found_and_named(tmp_path):
    ours = results(tmp_path / "ours", values=drawn(0, shift=-4), temperature=0.5, torch="2.11.0")
    theirs = results(tmp_path / "theirs", values=drawn(0), kept=True)
    found = compared(ours, theirs)
    row = found.cells.iloc[0]
    assert (row["row"], row["state"]) == ("infonce", comparison.OUTSIDE)
    assert row["settings"] == "objective.params.temperature 0.5, there 0.05"
    assert row["difference"] == pytest.approx(-4)
    assert found.about == ["environment: torch 2.11.0, there 2.15.0"]
    done = CliRunner().invoke(app, ["compare", str(theirs), str(ours)])
    assert done.exit_code == 1
    assert "OUTSIDE nie2023/table_1/infonce/BERT_base/sts" in done.output
    assert "objective.params.temperature 0.5, there 0.05" in done.output
    page = (ours / "comparison.html").read_text()
    assert "spread: 1 of 3 numbers" in page
    assert "temperature 0.5, there 0.05" in page
    assert len(pd.read_csv(ours / "comparison.csv")) == 3


def test_the_bound_is_welchs_with_bonferronis_correction(tmp_path):
    one, two = drawn(3), drawn(4)
    found = compared(results(tmp_path / "ours", values=one), results(tmp_path / "theirs", values=two))
    interval = stats.ttest_ind(one["infonce"], two["infonce"], equal_var=False).confidence_interval(1 - 0.05 / 3)
    assert found.cells.iloc[0]["bound"] == pytest.approx((interval.high - interval.low) / 2, rel=1e-3)


def test_what_no_seed_changes_must_agree_in_its_last_printed_digit(tmp_path):
    theirs = results(tmp_path / "theirs", values=drawn(0))
    for difference, state in ((0.009, comparison.WITHIN), (0.02, comparison.OUTSIDE)):
        values = {**drawn(0), "Pretrained": [52.25 + difference]}
        found = compared(results(tmp_path / f"ours{difference}", values=values), theirs)
        assert found.cells.iloc[2]["state"] == state


def test_a_changed_verdict_and_cells_of_one_side_are_told(tmp_path):
    ours = results(tmp_path / "ours", values=drawn(0), verdict="undecided", rows=ROWS[:2])
    theirs = results(tmp_path / "theirs", values=drawn(0), rows=ROWS[1:])
    found = compared(ours, theirs)
    assert found.verdicts == [("nie2023", "first", "undecided", "seen")]
    assert not found.agrees
    assert dict(zip(found.cells["row"], found.cells["state"], strict=True)) == {
        "mpt": comparison.SAME, "infonce": comparison.HERE, "Pretrained": comparison.THERE,
    }  # fmt: skip


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no results: ledger.csv is missing"):
        comparison.read(tmp_path)


def test_the_reference_results_of_the_repository_agree_with_themselves():
    from clrepro.paths import ROOT

    for scale in ("paper", "bench"):
        folder = ROOT / "results/reference" / scale
        found = compared(folder, folder)
        assert set(found.cells["state"]) == {comparison.SAME}
        kept = comparison.read(folder)
        named = {name for runs in kept.cells["runs"] for name in runs.split()}
        assert named
        assert named <= kept.runs.keys()
        tables = [pd.read_csv(file).assign(table=file.stem) for file in folder.glob("tables/*/*.csv")]
        shown = pd.concat(tables).dropna(subset="ours").set_index(["table", "row", "column", "metric"])["ours"]
        assert kept.cells.droplevel("paper")["ours"].to_dict() == pytest.approx(shown.to_dict(), abs=1e-9)
