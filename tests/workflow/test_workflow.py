"""The workflow end to end, in a copy of the checkout whose code may be edited."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from clrepro.paths import read_json
from tests.workflow.checkout import SMALL, UNFILLED, Checkout

MPT, MET = "li2024_sentences_fp32_3", "li2024_sentences_fp32_4"  # the jobs of these objectives


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = Checkout(tmp_path_factory.mktemp("checkout"))
    for row in UNFILLED:
        folder.edit("papers/li2024/experiments.yaml", f"\n      {row}: {{run: {row}}}\n", "\n")
    folder.snakemake()
    return folder


def model_hashes(checkout, objective) -> set[str]:
    records = checkout.folder.glob(f"results/demo/runs/sentence/BERT_base/{objective}/*/seed[12]/record.json")
    found = {read_json(record)["model"]["sha256"] for record in records}
    assert len(found) == 2
    return found


def trained(bundle) -> str:
    """What says that a job's runs are trained."""
    return f"results/demo/manifests/train/{bundle}.json"


def results(checkout) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted((checkout.folder / "results/demo/tables").rglob("*.*"))}


@pytest.mark.slow
def test_every_cell_whose_objective_is_here_is_filled(checkout):
    import pandas as pd

    table = pd.read_csv(checkout.folder / "results/demo/tables/li2024/table_3_v1.csv")
    assert list(table.columns[:9]) == [
        "row", "column", "metric", "published", "ours", "ours_std", "seeds", "difference", "verdict"
    ]  # fmt: skip
    claims = pd.read_csv(checkout.folder / "results/demo/claims.csv")
    assert list(claims.columns[:8]) == [
        "paper", "claim", "statement", "estimate", "ci_low", "ci_high", "seeds", "verdict"
    ]  # fmt: skip
    assert set(claims["paper"]) == {"li2024"}
    assert {"missing"} < set(claims["verdict"])
    unfilled = table["row"].isin(UNFILLED)
    assert set(table.loc[unfilled, "note"]) == {"no experiment fills this row yet"}
    here = table[(table["column"] == "BERT_base") & (table["row"] != "Pretrained") & ~unfilled]
    assert len(here) == 2 * 3
    assert here["ours"].notna().all()
    assert set(here["seeds"]) == {2}
    assert set(here["verdict"]) == {"not comparable"}
    assert (here["difference"] - (here["ours"] - here["published"])).abs().max() < 0.006
    other = table[(table["column"] == "RoBERTa_base") & (table["row"] == "mpt")]
    assert other["ours"].isna().all()
    assert other["note"].str.contains("sentence.backbones.RoBERTa_base").all()
    assert set(table.loc[table["ours"].isna(), "verdict"]) == {"missing"}
    stored = read_json(next(checkout.folder.glob("results/demo/runs/sentence/BERT_base/mpt/*/seed1/record.json")))
    assert stored["seed"] == 1
    assert stored["identity"]["objective"]["params"] == {"margin": 0.23}


@pytest.mark.slow
def test_figures_without_training_and_theory_are_made(checkout):
    import pandas as pd

    folder = checkout.folder / "results/demo/figures/li2024"
    assert {file.name for file in folder.iterdir()} == {
        f"figure_{number}.{suffix}" for number in (2, 3, 4, 10, 11, 12) for suffix in ("svg", "png", "csv")
    }
    assert "Thinned: 5 grid points an axis instead of 100, 3 batches" in (folder / "figure_2.svg").read_text()
    table = pd.read_csv(folder / "figure_2.csv")
    assert len(table) == 2 * 5 * 5
    theory = pd.read_csv(checkout.folder / "results/demo/theory.csv")
    assert set(theory["paper"]) == {"li2024"}
    assert {"holds", "fails"} < set(theory["verdict"])


@pytest.mark.slow
def test_the_report_needs_no_more_than_is_there_and_names_what_is_broken(checkout, tmp_path):
    import pandas as pd

    whole = (checkout.folder / "results/demo/report.html").read_text()
    assert str(checkout.folder) not in whole
    shutil.copytree(checkout.folder / "results", tmp_path / "results")
    shutil.copy(checkout.folder / "small.yaml", tmp_path)
    shutil.rmtree(tmp_path / "results/demo/tables")
    runs = tmp_path / "results/demo/runs/sentence/BERT_base"
    for folder in ("infonce", "met", "pretrained"):
        shutil.rmtree(runs / folder)
    broken = next(runs.glob("mpt/*/seed2/record.json"))
    broken.write_text(broken.read_text()[:200])

    def report() -> subprocess.CompletedProcess:
        environment = {**os.environ, "PYTHONPATH": str(checkout.folder / "src")}
        command = [sys.executable, "-m", "clrepro.cli", "report", "--configfile", "small.yaml"]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    done = report()
    assert done.returncode == 0, done.stderr
    assert "report.html: 1 runs, " in done.stdout
    assert f"skipped {broken.relative_to(tmp_path)}: it cannot be read" in done.stdout
    page = (tmp_path / "results/demo/report.html").read_text()
    assert str(broken.relative_to(tmp_path)) in page
    ledger = pd.read_csv(tmp_path / "results/demo/ledger.csv", keep_default_na=False)
    mpt = ledger[(ledger["table"] == "table_3_v1") & (ledger["row"] == "mpt") & (ledger["column"] == "BERT_base")]
    assert set(mpt["seeds"]) == {1}
    assert mpt["note"].str.contains("seed 2 left out, broken").all()
    full = pd.read_csv(checkout.folder / "results/demo/ledger.csv", keep_default_na=False)
    assert (full["seeds"] == 2).sum() > (ledger["seeds"] == 2).sum() == 0
    shutil.rmtree(tmp_path / "results/demo/runs")
    done = report()
    assert done.returncode == 0, done.stderr
    assert "report.html: 0 runs, 0 of " in done.stdout


@pytest.mark.slow
def test_nothing_to_do_after_touching_files_or_editing_a_comment(checkout):
    assert checkout.planned() == set()
    os.utime(checkout.folder / "src/clrepro/objectives/mpt.py")
    os.utime(checkout.folder / "scripts/train.py")
    checkout.edit("src/clrepro/objectives/mpt.py", "# the code zeroes", "# as noted, the code zeroes")
    checkout.edit("src/clrepro/objectives/mpt.py", "Hardest negative along the row", "Nearest negative along the row")
    assert checkout.planned() == set()


@pytest.mark.slow
def test_a_changed_constant_reruns_that_objectives_runs_only_and_accept_stale_keeps_them(checkout):
    before = results(checkout)
    checkout.edit(
        "src/clrepro/objectives/mpt.py",
        "keys[hardest(anchors, keys)]).relu()",
        "2 * keys[hardest(anchors, keys)]).relu()",
    )
    planned = checkout.planned()
    of_runs = {f"train {MPT}", f"embed {MPT}", f"evaluate sts {MPT}", f"evaluate transfer {MPT}"}
    assert {job for job in planned if job.startswith(("train", "embed", "evaluate"))} == of_runs
    # figure 10 shows this objective, figure 2 others; theory asks all
    assert planned - of_runs == {"simulate li2024/figure_10", "theory", "table li2024/table_3_v1", "report", "all"}
    models = model_hashes(checkout, "mpt")
    (checkout.folder / "stale.yaml").write_text(yaml.safe_dump({**SMALL, "accept_stale": ["mpt"]}))
    text = checkout.snakemake(config="stale.yaml")
    assert "(Rule: train)" not in text
    assert "(Rule: table)" in text
    table = (checkout.folder / "results/demo/tables/li2024/table_3_v1.csv").read_text()
    assert "stale: trained by older code" in table
    # the changed objective really trains other weights, and leaves the others alone
    others = model_hashes(checkout, "met")
    checkout.snakemake(trained(MPT))
    assert not model_hashes(checkout, "mpt") & models
    assert model_hashes(checkout, "met") == others
    # back to the code that trained them: the same bytes, linked again
    checkout.edit(
        "src/clrepro/objectives/mpt.py",
        "2 * keys[hardest(anchors, keys)]).relu()",
        "keys[hardest(anchors, keys)]).relu()",
    )
    checkout.snakemake()
    assert results(checkout) == before


@pytest.mark.slow
def test_what_is_deleted_behind_a_finished_job_is_made_again_and_a_finished_training_linked(checkout):
    before = results(checkout)
    record = next(checkout.folder.glob("results/demo/runs/sentence/BERT_base/mpt/*/seed2/record.json"))
    scores = next(checkout.folder.glob("results/demo/runs/sentence/BERT_base/met/*/seed1/sts.json"))
    kept = {file: file.read_bytes() for file in (record, scores)}  # the record holds the seconds of its training
    shutil.rmtree(record.parent)
    scores.unlink()
    listed = checkout.folder / trained(MPT)
    assert {f"train {MPT}", f"evaluate sts {MET}", f"embed {MET}"} <= checkout.planned()
    assert f"train {MET}" not in checkout.planned()
    assert listed.exists()  # a dry run removes nothing
    assert not record.exists()
    checkout.snakemake()
    assert {file: file.read_bytes() for file in kept} == kept
    assert results(checkout) == before
    assert checkout.planned() == set()


@pytest.mark.slow
def test_one_more_seed_trains_only_that_seed(checkout):
    (checkout.folder / "seeds.yaml").write_text(yaml.safe_dump({**SMALL, "seeds": [1, 2, 3]}))
    states = set((checkout.folder / "state/demo").iterdir())
    # a record holds the seconds of its training, so equal bytes mean that it was not trained again
    old = {file: file.read_bytes() for file in (checkout.folder / "state/demo").glob("*/record.json")}
    checkout.snakemake("li2024_table_3_v1", config="seeds.yaml")
    new = set((checkout.folder / "state/demo").iterdir()) - states
    assert len(new) == 3  # info, mpt and met
    assert all("-seed3-" in path.name for path in new)
    assert all(file.read_bytes() == content for file, content in old.items())


@pytest.mark.slow
def test_a_changed_backbone_is_not_answered_from_finished_states(checkout):
    before = model_hashes(checkout, "met")
    checkout.edit(
        "src/clrepro/modalities/sentence/backbone.py", 'manual_seed(spec["seed"])', 'manual_seed(spec["seed"] + 1)'
    )
    checkout.snakemake(trained(MET))
    assert not model_hashes(checkout, "met") & before
    checkout.edit(
        "src/clrepro/modalities/sentence/backbone.py", 'manual_seed(spec["seed"] + 1)', 'manual_seed(spec["seed"])'
    )
    checkout.snakemake()
    assert model_hashes(checkout, "met") == before


@pytest.mark.slow
def test_tables_name_no_machine_and_training_runs_without_snakemake(checkout):
    for name, content in results(checkout).items():
        text = content.decode()
        assert str(checkout.folder) not in text, name
        assert not re.search(r"20\d\d-\d\d-\d\d", text), name
    record = next(checkout.folder.glob("results/demo/runs/sentence/BERT_base/met/*/seed2/record.json"))
    model = read_json(record)["model"]["sha256"]
    shutil.rmtree(checkout.folder / "state")
    shutil.rmtree(record.parent)
    blocked = checkout.folder / "blocked"
    blocked.mkdir()
    (blocked / "snakemake.py").write_text("raise ImportError('not installed here')")
    code = (
        f"import sys; sys.path.insert(0, {str(blocked)!r}); from clrepro.cli import main; "
        "sys.argv = ['clrepro', 'train', '--configfile', 'small.yaml', '--objective', 'met', '--seed', '2']; main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(checkout.folder / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout.folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert read_json(record)["model"]["sha256"] == model
    assert (record.parent / "transfer.json").exists()
