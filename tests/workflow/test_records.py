"""Snakemake's records as files, and results that are missing or changed."""

import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from clrepro.errors import UserError
from clrepro.workflow import manifest, records
from clrepro.workflow.verify import verify

SCALE = "demo"


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """An empty working directory; the scale, and a source as much as the records ask for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake/metadata").mkdir(parents=True)
    return SCALE, [SimpleNamespace(record=Path("data/sources/a-1/record.json"))]


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


def test_records_of_the_scale_are_saved_with_those_of_temporary_files(demo, capsys):
    long = "results/demo/runs/" + "ä long name/" * 30 + "record.json"
    for target in (long, "results/demo/features/x", "data/sources/a-1/record.json"):
        made(target, "1")
    for target in ("results/bench/report.html", "data/sources/b-1/record.json", "results/demo/gone/record.json"):
        made(target, "1")
    Path("results/demo/features/x").unlink()
    Path("results/demo/features").rmdir()
    shutil.rmtree("results/demo/gone")
    records.save(*demo)
    rows = {row["target"]: row for row in records.rows_of(records.stored(SCALE))}
    assert list(rows) == ["data/sources/a-1/record.json", "results/demo/features/x", long]
    shutil.rmtree(".snakemake")
    records.tell_waiting(SCALE)  # as a dry run does
    assert "results/demo/provenance.jsonl came with results that were made elsewhere" in capsys.readouterr().err
    assert not Path(".snakemake").exists()
    assert records.load(SCALE)
    assert recorded(long) == "1"
    assert not records.load(SCALE)
    records.tell_waiting(SCALE)
    assert not capsys.readouterr().err


def test_a_local_record_stays_if_its_job_made_the_file_and_goes_if_the_file_came_from_elsewhere(demo):
    targets = {name: f"results/demo/{name}.csv" for name in ("untouched", "newer", "replaced", "temporary", "killed")}
    for target in targets.values():
        made(target, "stored", age=100)
    records.save(*demo)
    for name in ("newer", "replaced", "temporary"):
        made(targets[name], "local", age=50)
    os.utime(targets["replaced"], (0, 0))  # another file, put there by DVC
    Path(targets["temporary"]).unlink()
    records.place(targets["killed"], 255).write_text('{"params": ["lo')
    os.utime(records.stored(SCALE))  # as DVC leaves it: not the file that was written here
    assert records.load(SCALE)
    assert {name: recorded(target) for name, target in targets.items()} == {
        "untouched": "stored", "newer": "local", "replaced": "stored", "temporary": "stored", "killed": "stored"
    }  # fmt: skip
    # the stored file says less than the local records do, so it is read again until it is written again
    made(targets["untouched"], "local")
    os.utime(targets["untouched"], (0, 0))
    assert records.load(SCALE)
    records.save(*demo)
    assert not records.load(SCALE)


def test_a_forgotten_record_has_no_parameters_and_is_otherwise_as_it_was(demo):
    records.forget(["results/demo/nothing.json"])
    made("results/demo/a.json", "1")
    made("results/demo/b.json", "1")
    before = records.read(records.place("results/demo/a.json", 255))
    records.forget(["results/demo/a.json", "results/demo/nothing.json"])
    assert records.read(records.place("results/demo/a.json", 255)) == {**before, "params": []}
    assert recorded("results/demo/b.json") == "1"


def test_a_damaged_file_of_records_is_refused_by_its_line(demo):
    records.stored(SCALE).parent.mkdir(parents=True)
    records.stored(SCALE).write_text('{"target": "results/demo/a"}\n<<<<<<< HEAD\n')
    with pytest.raises(UserError, match=r"results/demo/provenance.jsonl, line 2, is no job record: .*dvc checkout"):
        records.load(SCALE)


def test_verify_names_what_is_missing_or_changed(demo):
    model, tokens = Path("results/demo/runs/a/model"), Path("data/prepared/demo/b")
    lists = [Path("results/demo/manifests/train/a.json")]  # not there yet
    for folder in (model, tokens):
        folder.mkdir(parents=True)
    (model / "model.safetensors").write_bytes(b"weights")
    weights = hashlib.sha256(b"weights").hexdigest()
    (model.parent / "record.json").write_text(json.dumps({"model": {"path": str(model), "sha256": weights}}))
    for name in ("tokens.bin", "offsets.bin"):
        (tokens / name).write_bytes(name.encode())
    sums = [hashlib.sha256(name.encode()).hexdigest() for name in ("tokens.bin", "offsets.bin")]
    (tokens / "tokens.json").write_text(json.dumps({"sha256": sums}))
    assert verify(*demo, lists) == (3, [])
    (tokens / "offsets.bin").unlink()
    (model / "model.safetensors").write_bytes(b"weightz")
    (tokens / "backbone.json").write_text("{")
    count, problems = verify(*demo, lists)
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
        records.stored(SCALE).write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
        count, problems = verify(*demo, lists)
        assert (count, len(problems)) == (1, expected)
    # and by the list of the job that has made it
    records.stored(SCALE).unlink()
    manifest.write(lists[0], [model.parent / "sts.json"])
    assert verify(*demo, lists) == (1, [])
    (model.parent / "sts.json").write_bytes(b"later")
    assert verify(*demo, lists)[1][0].startswith("results/demo/runs/a/sts.json: changed: sha256 ")
