"""The long part, `make test-faults`: 20 kills at random moments for every stage, and the whole workflow killed.

Prints what every stage went through. Not collected by `make test`: its name does not begin with test_.
"""

import os
import signal
import subprocess
import time

import pytest
import yaml

from clrepro.paths import read_json
from tests.faults.harness import NOT_COMPARED, SMALL, STAGES, torment, undisturbed
from tests.workflow.checkout import Checkout

KILLS, SEED = 20, 20261121
TARGET = "li2024_table_3_v1"


@pytest.fixture(scope="module")
def whole(server, tmp_path_factory):
    return undisturbed(server, tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("stage", STAGES)
def test_twenty_kills_at_random_moments(server, whole, tmp_path, stage, capsys):
    begun = time.monotonic()
    figures = torment(server, whole, stage, tmp_path, KILLS, SEED)
    with capsys.disabled():
        print(f"\n{figures} ({time.monotonic() - begun:.0f} s)")
    assert figures.kills == KILLS
    assert figures.lost == 0


def ledger(folder) -> dict:
    """The table, the ledger and the claims of a working directory, and its records without times."""
    done = Checkout.run(folder, "report", "--configfile", "small.yaml", program="clrepro.cli")
    assert done.returncode == 0, done.stderr
    root = folder.folder / "results/demo"
    files = ["ledger.csv", "claims.csv", "tables/li2024/table_3_v1.csv"]
    records = {
        str(file.relative_to(root)): {key: value for key, value in read_json(file).items() if key not in NOT_COMPARED}
        for file in root.glob("runs/**/record.json")
    }
    assert records
    return {name: (root / name).read_bytes() for name in files} | records


def start(folder: Checkout) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(folder.folder / "src")}
    command = [os.sys.executable, "-m", "snakemake", TARGET, "--cores", "2", "--configfile", "small.yaml"]
    with open(folder.folder / "console.log", "a") as console:
        return subprocess.Popen(
            command, cwd=folder.folder, env=environment, stdout=console, stderr=console, start_new_session=True
        )


def wait_for(folder: Checkout, running: subprocess.Popen, pattern: str) -> None:
    """Until there is a file that was not there before."""
    before = set(folder.folder.glob(pattern))
    while set(folder.folder.glob(pattern)) <= before:
        assert running.poll() is None, (folder.folder / "console.log").read_text()
        time.sleep(0.02)


def test_the_whole_workflow_killed_twice_ends_in_the_same_ledger(tmp_path_factory, capsys):
    """Once the whole process group, once Snakemake alone, whose jobs go on; the next start deals with both."""
    folders = [Checkout(tmp_path_factory.mktemp(name)) for name in ("undisturbed", "killed")]
    config = {**SMALL, "papers": ["li2024"], "tables": ["li2024/table_3_v1"], "jobs": {"runs": 24}}
    for folder in folders:
        (folder.folder / "small.yaml").write_text(yaml.safe_dump(config))
    alone, killed = folders
    alone.snakemake(TARGET)
    running = start(killed)
    wait_for(killed, running, "state/demo/*/best-*")
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert list((killed.folder / ".snakemake/locks").iterdir())
    kept = {file: file.read_bytes() for file in killed.folder.glob("state/demo/*/record.json")}
    running = start(killed)
    wait_for(killed, running, "state/demo/*/record.json")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    text = killed.snakemake(TARGET)
    assert "An earlier run here was killed" in text
    said = (killed.folder / "console.log").read_text() + text
    assert said.count("Its lock is removed") == 2
    assert all(file.read_bytes() == content for file, content in kept.items())
    assert ledger(killed) == ledger(alone)
    assert not list((killed.folder / ".snakemake/clrepro").iterdir())
    with capsys.disabled():
        orphans = "Jobs of a killed run are still running" in said
        print(f"\nworkflow: 2 kills, orphans ended: {orphans}, {len(kept)} finished runs kept, the same ledger")
