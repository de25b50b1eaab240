"""DVC around the workflow: what travels through a remote, what runs again afterwards, and what shows a change."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from clrepro.paths import ROOT, read_json
from tests.workflow.checkout import Checkout

SETUP = (".dvcignore", ".gitignore", "dvc.yaml", "dvc")
# one encoder of digits and one of graphs, on real tables of a paper
TINY = {
    "scale": "demo",
    "papers": ["huang2023"],
    "tables": ["huang2023/table_4", "huang2023/table_9"],
    "seeds": [1],
    "device": "cpu",
    "sentence": {"corpus": "demo-corpus", "tasks": "demo-senteval", "backbones": {}},
    "image": {
        "backbones": {"CIFAR_ResNet-18": {"data": "digits", "architecture": "conv3"}},
        "training": {
            "epochs": 0.1, "batch_divisor": 8, "batch_sizes": [256], "augmentation": "digits", "probe_epochs": 1,
        },
    },
    "graph": {
        "backbones": {"GIN_MUTAG": {"data": "demo-graphs", "architecture": "gin", "width": 4, "layers": 2}},
        "training": {"epochs": 1, "batch_size": 32, "folds": 2, "inner_folds": 2},
    },
    "simulation": {"points": 4, "batches": 2, "steps": 2},
    "jobs": {"runs": 1},
}  # fmt: skip
# rows of the tables that stay without a run, by their beginnings in experiments.yaml
UNUSED = (
    *(f'{row}: {{run: "cifar_{{row}}"}}' for row in ("NT-Xent", "FlatNCE", "DCL", "Dual")),
    *("GraphCL: {run: graphcl}", '"GraphCL [as written]": {run: graphcl,', '"MACL [as written]": {run: graph_macl,'),
    *('"MACL [fixed temperature]": {run: graph_dcl_fixed,', '"[untrained encoder]": {run: graph_untrained}'),
)
TABLES = {"table huang2023/table_4", "table huang2023/table_9"}


class Repository(Checkout):
    """A checkout that is a git repository with DVC, whose remote is a folder."""

    def __init__(self, folder: Path, store: Path, origin: Path | None = None):
        self.folder, self.environment = folder, environment(folder)
        if origin:
            self.git("clone", "--quiet", str(origin), str(folder), cwd=origin)
        else:
            super().__init__(folder)
            for name in SETUP:
                self.sh("cp", "-r", str(ROOT / name), name)
            (folder / ".dvc").mkdir()
            for name in ("config", ".gitignore"):
                self.sh("cp", str(ROOT / ".dvc" / name), f".dvc/{name}")
            self.write(TINY)
            self.git("init", "--quiet")
        self.dvc("remote", "add", "--local", "--default", "store", str(store))

    def sh(self, *command: str, cwd: Path | None = None) -> str:
        done = subprocess.run(command, cwd=cwd or self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        return self.sh("git", *arguments, cwd=cwd)

    def dvc(self, *arguments: str) -> str:
        return self.sh(sys.executable, "-m", "dvc", *arguments)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)

    def write(self, config: dict) -> None:
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config))

    def write_changed(self, **changes) -> None:
        (self.folder / "changed.yaml").write_text(yaml.safe_dump({**TINY, **changes}))

    def planned(self, **changes) -> set[str]:
        """The jobs of a dry run of the configuration with other values of some of its keys."""
        self.write_changed(**changes)
        return super().planned(config="changed.yaml") - {"all"}

    def load_records(self) -> None:
        """Put back the records of jobs that came with the results, as a start of the workflow does."""
        self.write_changed()
        said = self.snakemake("-n")
        assert "results/demo/provenance.jsonl came with results that were made elsewhere" in said
        done = self.run("records", "--load", program="clrepro.cli")
        assert done.returncode == 0, done.stderr

    def snakemake(self, *arguments: str, config: str = "changed.yaml") -> str:
        return super().snakemake(*arguments, config=config)


def environment(folder: Path) -> dict[str, str]:
    """The tests' own, with the folder's library and this environment's programs, and git without anybody's settings."""
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER")
           for part, value in (("NAME", "A tester"), ("EMAIL", "tester@example.org"))}  # fmt: skip
    return {
        **os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "DVC_NO_ANALYTICS": "1",
        "PYTHONPATH": str(folder / "src"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }  # fmt: skip


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """The repository of who made the results: run twice, committed with the tag `made`, and pushed."""
    folder = tmp_path_factory.mktemp("origin with a blank")
    made = Repository(folder, folder.parent / "store")
    for row in UNUSED:
        made.edit("papers/huang2023/experiments.yaml", f"\n      {row}", f"\n      # {row}")
    # the papers' theory takes longer than all runs, and has nothing to do with them
    made.edit("rules/report.smk", "        FILES.theory,\n", "")
    made.commit("code")
    made.repeated = [made.dvc("repro"), made.dvc("repro")]
    made.commit("made")
    made.git("tag", "made")
    made.dvc("push")
    return made


def cloned(origin: Repository, folder: Path) -> Repository:
    """A fresh clone of what was made, with what the remote has of it."""
    copy = Repository(folder, origin.folder.parent / "store", origin.folder)
    copy.git("checkout", "--quiet", "made")
    copy.dvc("pull")
    return copy


@pytest.fixture(scope="module")
def clone(origin, tmp_path_factory):
    return cloned(origin, tmp_path_factory.mktemp("clones") / "clone")


@pytest.mark.slow
def test_a_second_repro_does_not_even_start_the_workflow(origin):
    first, second = origin.repeated
    assert "snakemake --cores all" in first
    assert "Stage 'demo' didn't change, skipping" in second
    assert "snakemake" not in second
    assert origin.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_a_fresh_clone_with_the_pulled_results_has_nothing_to_do_and_notices_what_changes(clone):
    clone.load_records()
    assert clone.planned() == set()
    assert "didn't change, skipping" in clone.dvc("repro")
    assert clone.git("status", "--porcelain", "--untracked-files=no") == ""
    verified = clone.run("verify", program="clrepro.cli")
    assert verified.returncode == 0, verified.stdout
    assert re.search(r"\b(1\d|[2-9]\d) files compared .* 0 missing or changed", verified.stdout)

    # one more seed: its runs and what is made of them
    more = clone.planned(seeds=[1, 2])
    assert {*TABLES, "report"} < more
    stages = more - {*TABLES, "report"}
    assert Counter(job.split()[0] for job in stages) == {"train": 2, "embed": 2, "evaluate": 2}
    assert all(job.endswith("seed2") for job in stages)
    # a setting of the probes, or of the SVM, is in no path: only the records know it
    for modality, changed in (("image", {"probe_epochs": 2}), ("graph", {"folds": 3})):
        training = {**TINY[modality]["training"], **changed}
        planned = clone.planned(**{modality: {**TINY[modality], "training": training}})
        assert Counter(job.split()[0] for job in planned) == {"embed": 1, "evaluate": 1, "table": 2, "report": 1}


@pytest.mark.slow
def test_a_pulled_run_is_not_trained_again_for_a_new_neighbour_in_its_job(origin, tmp_path):
    clone = cloned(origin, tmp_path / "clone")
    (clone.folder / "shared.yaml").write_text(yaml.safe_dump({**TINY, "seeds": [1, 2], "jobs": {"runs": 2}}))
    (old,) = clone.folder.glob("results/demo/runs/image/*/*/*/seed1/record.json")
    before = old.read_bytes()  # it holds the seconds of its training
    clone.snakemake("--until", "train", config="shared.yaml")
    assert read_json(old.parents[1] / "seed2" / "record.json")["seed"] == 2
    assert old.read_bytes() == before


@pytest.mark.slow
def test_a_change_shows_and_records_of_another_configuration_hide_no_rerun(origin, clone):
    assert clone.planned() == set()  # the clone has the records of `made` now
    said = origin.dvc("exp", "run", "--set-param", "config.yaml:simulation.points=5",
                      "--set-param", "config.yaml:image.backbones.CIFAR_ResNet-18=null")  # fmt: skip
    started = set(re.findall(r"\(Rule: (\w+)\)", said))
    assert started - {"all"} == {"simulate", "printed_tables", "table", "report"}
    parameters = json.loads(origin.dvc("params", "diff", "--json"))["config.yaml"]
    assert parameters["simulation.points"] == {"old": 4, "new": 5, "diff": 1}
    metrics = json.loads(origin.dvc("metrics", "diff", "--json"))["results/metrics/demo.json"]
    assert metrics["huang2023.cells.missing"]["diff"] > 0
    assert metrics["huang2023.tables.table_9.filled"]["old"] == 1
    origin.commit("finer")
    origin.dvc("push")
    # files of points=5, by DVC, under a configuration and local records of points=4
    clone.git("fetch", "--quiet", "origin")
    clone.git("checkout", "--quiet", "origin/HEAD", "--", "dvc.lock")
    clone.dvc("pull")
    clone.load_records()
    # here the table has runs: what the other configuration wrote, a table of holes, is no result of theirs
    assert clone.planned() == {"simulate huang2023/figure_2", *TABLES, "report"}
