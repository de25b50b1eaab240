"""DVC around the workflow: what travels through a remote, what runs again afterwards, and what shows a change."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from clrepro.errors import UserError
from clrepro.paths import ROOT, read_json
from clrepro.workflow import records
from clrepro.workflow.verify import verify
from tests.test_workflow import Checkout

SETUP = (".dvcignore", ".gitignore", "dvc.yaml", "dvc")
# one encoder of digits on a real table of a paper
TINY = {
    "scale": "demo",
    "papers": ["huang2023"],
    "tables": ["huang2023/table_9"],
    "seeds": [1],
    "device": "cpu",
    "sentence": {"corpus": "demo-corpus", "tasks": "demo-senteval", "backbones": {}},
    "image": {
        "backbones": {"CIFAR_ResNet-18": {"data": "digits", "architecture": "conv3"}},
        "training": {
            "epochs": 0.1, "batch_divisor": 8, "batch_sizes": [256], "augmentation": "digits", "probe_epochs": 1,
        },
    },
    "simulation": {"points": 4, "batches": 2, "steps": 2},
    "jobs": {"runs": 1},
}  # fmt: skip
UNUSED = ("NT-Xent", "FlatNCE", "DCL", "Dual")  # rows of the table that stay without a run


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

    def planned(self, **changes) -> set[str]:
        """The rules of a dry run of the configuration with other values of some of its keys."""
        (self.folder / "changed.yaml").write_text(yaml.safe_dump({**TINY, **changes}))
        return super().planned() - {"all"}

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
        made.edit("papers/huang2023/experiments.yaml", f'\n      {row}: {{run: "cifar_{{row}}"}}\n', "\n")
    # the papers' theory takes longer than all runs, and has nothing to do with them
    made.edit("rules/report.smk", "        CATALOGUE.theory_files,\n", "")
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
    assert clone.planned() == set()
    assert "didn't change, skipping" in clone.dvc("repro")
    assert clone.git("status", "--porcelain", "--untracked-files=no") == ""
    verified = clone.run("verify", program="clrepro.cli")
    assert verified.returncode == 0, verified.stdout
    assert re.search(r"\b(1\d|[2-9]\d) files compared .* 0 missing or changed", verified.stdout)

    # one more seed: its runs and what is made of them
    more = clone.planned(seeds=[1, 2])
    assert {"huang2023_table_9", "report"} < more
    stages = more - {"huang2023_table_9", "report"}
    assert {name.split("_")[0] for name in stages} == {"train", "embed", "probe"}
    assert len(stages) == 3
    assert all(name.endswith("seed2") for name in stages)
    # a setting of the probes is in no path: only the records know it
    training = {**TINY["image"]["training"], "probe_epochs": 2}
    assert {name.split("_")[0] for name in clone.planned(image={**TINY["image"], "training": training})} == {
        "embed", "probe", "huang2023", "report"
    }  # fmt: skip


@pytest.mark.slow
def test_a_pulled_run_is_not_trained_again_for_a_new_neighbour_in_its_job(origin, tmp_path):
    clone = cloned(origin, tmp_path / "clone")
    (clone.folder / "shared.yaml").write_text(yaml.safe_dump({**TINY, "seeds": [1, 2], "jobs": {"runs": 2}}))
    (old,) = clone.folder.glob("results/demo/runs/image/*/*/*/seed1/record.json")
    before = old.read_bytes()  # it holds the seconds of its training
    clone.snakemake("--until", "train_huang2023_images_fp32_1", config="shared.yaml")
    assert read_json(old.parents[1] / "seed2" / "record.json")["seed"] == 2
    assert old.read_bytes() == before


@pytest.mark.slow
def test_a_change_shows_and_records_of_another_configuration_hide_no_rerun(origin, clone):
    assert clone.planned() == set()  # the clone has the records of `made` now
    said = origin.dvc("exp", "run", "--set-param", "config.yaml:simulation.points=5",
                      "--set-param", "config.yaml:image.backbones.CIFAR_ResNet-18=null")  # fmt: skip
    started = set(re.findall(r"\(Rule: (\w+)\)", said))
    assert started - {"all"} == {"huang2023_figure_2", "huang2023_without_runs", "report"}
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
    assert clone.planned() == {"huang2023_figure_2", "huang2023_table_9", "report"}


# without a workflow: records as files


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """An empty working directory, and as much of a catalogue as the records ask for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake/metadata").mkdir(parents=True)
    source = SimpleNamespace(record=Path("data/sources/a-1/record.json"))
    return SimpleNamespace(config=SimpleNamespace(scale="demo"), sources=lambda: [source])


def made(target: str, params: str, age: float = 0.0) -> None:
    """An output and its record, as a job of Snakemake leaves them."""
    file = Path(target)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(params)
    os.utime(file, (time.time() - age,) * 2)
    path = records.place(target, 255)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"params": [params], "endtime": file.stat().st_mtime}))


def recorded(target: str) -> str:
    return records.read(records.place(target, 255))["params"][0]


def test_records_of_the_scale_are_saved_with_those_of_temporary_files(demo):
    long = "results/demo/runs/" + "ä long name/" * 30 + "record.json"
    for target in (long, "results/demo/runs/x/embeddings.npz", "data/sources/a-1/record.json"):
        made(target, "1")
    for target in ("results/bench/report.html", "data/sources/b-1/record.json", "results/demo/gone/record.json"):
        made(target, "1")
    Path("results/demo/runs/x/embeddings.npz").unlink()
    shutil.rmtree("results/demo/gone")
    records.save(demo)
    rows = {row["target"]: row for row in records.rows_of(records.stored(demo))}
    assert list(rows) == ["data/sources/a-1/record.json", "results/demo/runs/x/embeddings.npz", long]
    shutil.rmtree(".snakemake")
    assert records.load(demo)
    assert recorded(long) == "1"
    assert not records.load(demo)


def test_a_local_record_stays_if_its_job_made_the_file_and_goes_if_the_file_came_from_elsewhere(demo):
    targets = {name: f"results/demo/{name}.csv" for name in ("untouched", "newer", "replaced", "temporary", "killed")}
    for target in targets.values():
        made(target, "stored", age=100)
    records.save(demo)
    for name in ("newer", "replaced", "temporary"):
        made(targets[name], "local", age=50)
    os.utime(targets["replaced"], (0, 0))  # another file, put there by DVC
    Path(targets["temporary"]).unlink()
    records.place(targets["killed"], 255).write_text('{"params": ["lo')
    os.utime(records.stored(demo))  # as DVC leaves it: not the file that was written here
    assert records.load(demo)
    assert {name: recorded(target) for name, target in targets.items()} == {
        "untouched": "stored", "newer": "local", "replaced": "stored", "temporary": "stored", "killed": "stored"
    }  # fmt: skip
    # the stored file says less than the local records do, so it is read again until it is written again
    made(targets["untouched"], "local")
    os.utime(targets["untouched"], (0, 0))
    assert records.load(demo)
    records.save(demo)
    assert not records.load(demo)


def test_a_damaged_file_of_records_is_refused_by_its_line(demo):
    records.stored(demo).parent.mkdir(parents=True)
    records.stored(demo).write_text('{"target": "results/demo/a"}\n<<<<<<< HEAD\n')
    with pytest.raises(UserError, match=r"results/demo/provenance.jsonl, line 2, is no job record: .*dvc checkout"):
        records.load(demo)


def test_verify_names_what_is_missing_or_changed(demo):
    model, tokens = Path("results/demo/runs/a/model"), Path("data/prepared/demo/b")
    for folder in (model, tokens):
        folder.mkdir(parents=True)
    (model / "model.safetensors").write_bytes(b"weights")
    weights = hashlib.sha256(b"weights").hexdigest()
    (model.parent / "record.json").write_text(json.dumps({"model": {"path": str(model), "sha256": weights}}))
    for name in ("tokens.bin", "offsets.bin"):
        (tokens / name).write_bytes(name.encode())
    sums = [hashlib.sha256(name.encode()).hexdigest() for name in ("tokens.bin", "offsets.bin")]
    (tokens / "tokens.json").write_text(json.dumps({"sha256": sums}))
    assert verify(demo) == (3, [])
    (tokens / "offsets.bin").unlink()
    (model / "model.safetensors").write_bytes(b"weightz")
    (tokens / "backbone.json").write_text("{")
    count, problems = verify(demo)
    assert (count, len(problems)) == (3, 3)
    broken, missing, changed = problems
    assert broken.startswith("data/prepared/demo/b/backbone.json: cannot be read")
    assert missing == "data/prepared/demo/b/offsets.bin: missing, named by data/prepared/demo/b/tokens.json"
    assert changed.startswith("results/demo/runs/a/model/model.safetensors: changed: sha256 ")
    # a small file is vouched for by the job that has read it last
    for file in (tokens / "backbone.json", tokens / "tokens.json", model.parent / "record.json"):
        file.unlink()
    (model.parent / "sts.json").write_bytes(b"now")
    now, before = (hashlib.sha256(content).hexdigest() for content in (b"now", b"before"))
    for order, expected in (((before, now), 0), ((now, before), 1)):
        checksums = [{str(model.parent / "sts.json"): f"sha256:{digest}"} for digest in order]
        rows = [{"target": str(model), "endtime": end, "input_checksums": part} for end, part in enumerate(checksums)]
        records.stored(demo).write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
        count, problems = verify(demo)
        assert (count, len(problems)) == (1, expected)
