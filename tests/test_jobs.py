"""Which runs share a job, and what a person sees of a failed one: exit code, console, log."""

import re
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import yaml

from clrepro import config as configuration
from clrepro import stages
from clrepro.catalogue import Catalogue
from clrepro.cli.train import train
from clrepro.errors import Interrupted, UserError
from clrepro.paths import ROOT, read_json
from clrepro.stages.job import job


@pytest.mark.parametrize(
    ("failure", "code", "text"),
    [
        (UserError("the corpus is empty"), 1, "error in train_x: the corpus is empty"),
        (Interrupted("stopped at step 3"), 75, "train_x: stopped at step 3"),
    ],
)
def test_an_expected_failure_is_one_line_on_console_and_in_the_log(tmp_path, capsys, failure, code, text):
    with pytest.raises(SystemExit) as ended, job(fake(tmp_path)):
        raise failure
    assert ended.value.code == code
    assert capsys.readouterr().err == (tmp_path / "log").read_text() == f"{text}\n"


def test_an_unexpected_failure_leaves_its_traceback_in_the_log_and_goes_on_to_python(tmp_path):
    with pytest.raises(ZeroDivisionError), job(fake(tmp_path)):
        1 / 0  # noqa: B018
    assert "Traceback" in (tmp_path / "log").read_text()
    assert "ZeroDivisionError" in (tmp_path / "log").read_text()


def fake(folder):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    return SimpleNamespace(rule="train_x", log=[str(folder / "log")], config=config, resources={}, output=["out"])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (dict(objective="mett"), "unknown objective 'mett'.*Did you mean met"),
        (dict(objective="met", seed=7), "unknown seed '7'.*Known: 42, 43"),
        (dict(objective="met", backbone="BERT_bas"), "unknown backbone 'BERT_bas'.*Did you mean BERT_base"),
    ],
)
def test_train_names_the_choice_that_matches_no_run(chosen, message):
    nothing = dict(objective=None, backbone=None, seed=None, mirror=None, configfile=None)
    with pytest.raises(UserError, match=message):
        train(scale="demo", evaluate=False, **{**nothing, **chosen})


def test_bundles_hold_every_run_once_and_keep_apart_what_changes_apart(tmp_path):
    demo = Catalogue(configuration.load("demo"))
    bundles = demo.bundles()
    assert sorted(run.folder for bundle in bundles for run in bundle.runs) == sorted(run.folder for run in demo.runs)
    assert len({bundle.name for bundle in bundles}) == len(bundles)
    assert max(len(bundle.runs) for bundle in bundles) <= demo.config.jobs.runs
    # runs that no test set is for share no job with runs that one is for
    tested = {run for table in demo.tables for run in table.runs}
    tested |= {run for figure in demo.figures if figure.scores for run in figure.runs}
    assert all(len({run in tested for run in bundle.runs}) == 1 for bundle in bundles)
    # neither a row of one's own nor the figures change the jobs of the tables
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {mine: {objective: mpt, variant: written, settings: {margin: 0.5}}}")
    more = Catalogue(configuration.load("demo", [file])).bundles()
    assert {bundle.name for bundle in more} - {bundle.name for bundle in bundles} == {"rows_fp32_1"}
    assert [bundle for bundle in more if not bundle.name.startswith("rows")] == bundles
    bare = Catalogue(demo.config.model_copy(update={"figures": []})).bundles()
    assert [bundle for bundle in bundles if "figures" not in bundle.name and "scored" not in bundle.name] == bare
    # one run a job where a run is worth a job
    single = Catalogue(configuration.load("paper"))
    assert all(len(bundle.runs) == 1 for bundle in single.bundles())


def of_two_processes(folder, epochs):
    """The catalogue of three small trainings, each by two processes, and one of them."""
    small = yaml.safe_load((ROOT / "tests/cluster/small.yaml").read_text())
    small["sentence"]["training"] |= {"epochs": epochs, "evaluate_every": 10}
    (folder / "two.yaml").write_text(yaml.safe_dump({**small, "jobs": {"processes": 2}}))
    catalogue = Catalogue(configuration.load("demo", [folder / "two.yaml"]))
    return catalogue, next(run for run in catalogue.figure("nie2023/figure_1a").runs if run.group == "dcl")


@pytest.mark.slow
def test_a_training_by_two_processes_saves_when_told_to_stop_and_goes_on(tmp_path, monkeypatch):
    """torchrun and gloo, started by the job itself; one SIGTERM to the job."""
    monkeypatch.chdir(tmp_path)
    catalogue, run = of_two_processes(tmp_path, epochs=4.0)
    for source in catalogue.sources():
        stages.fetch(catalogue, source)
    stages.prepare(catalogue, run.backbone)
    arguments = ["--configfile", "two.yaml", "--objective", "dcl", "--no-evaluate"]
    command = [sys.executable, "-m", "clrepro.cli", "train", *arguments]
    job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("state/demo/*/best-*")):
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.1)
    job.terminate()
    said = job.communicate(timeout=900)[1]
    assert job.returncode == Interrupted.EXIT_CODE, said
    stopped = re.search(r"^stopped at step (\d+) of 200; the state is saved", said, re.M)
    assert stopped, said
    assert not run.record.exists()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert min(map(int, re.findall(r"step (\d+)/", done.stderr))) > int(stopped[1])
    assert read_json(run.record)["processes"] == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(papers=["oar2024"]), "jobs.processes: 3, but an image encoder .* single process, and .* set `jobs.proc"),
        (dict(papers=["nie2023"], figures=[]), "3 processes cannot share batch_size 32 of results/demo/runs/sentence"),
    ],
)
def test_a_training_that_processes_cannot_share_is_refused_before_anything_starts(changes, message):
    demo = configuration.load("demo")
    jobs = demo.jobs.model_copy(update={"processes": 3})
    with pytest.raises(UserError, match=message):
        Catalogue(demo.model_copy(update={"jobs": jobs, "tables": [], **changes})).check_inputs()


@pytest.mark.parametrize(("asked", "limited"), [([], False), (["--max-jobs-per-timespan", "5/1s"], True)])
def test_only_a_limit_on_submissions_that_was_asked_for_makes_the_scheduler_wake_up(tmp_path, asked, limited):
    (tmp_path / "Snakefile").write_text(
        "from clrepro import launch\n"
        "rule all:\n    output: touch('done')\n"
        "onstart:\n    launch.calm(workflow)\n"
        "onsuccess:\n    print('limited:', workflow.scheduler.job_rate_limiter is not None)\n"
    )
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *asked]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"limited: {limited}" in ended.stdout
