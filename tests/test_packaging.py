"""What an installed package must hold besides Python, and that nothing of it needs the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from clrepro import __version__
from clrepro.errors import UserError
from clrepro.paths import ROOT
from clrepro.stages import preparing

# every Python process refuses to open or list what lies in the checkout; the environment may lie there
GUARD = f"""
import os, sys
def refuse(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
        if path.startswith({str(ROOT) + os.sep!r}) and not path.startswith(sys.prefix):
            raise PermissionError(13, "the checkout is out of reach", path)
sys.addaudithook(refuse)
"""
# runs commands one after the other, as starting Python takes longer than most of them
DRIVER = """
import json, os, sys
from pathlib import Path
from typer.testing import CliRunner
from clrepro import cli, paths
from clrepro.workflow import provenance
found = {"root": str(paths.ROOT), "commit": provenance.commit()}
for command in json.load(sys.stdin):
    if command == "one paper, one seed":
        os.chdir("project")
        text = Path("config.yaml").read_text("utf-8")
        Path("config.yaml").write_text(text.replace("seeds: [42, 43]", "papers: [nie2023]\\nseeds: [7]"), "utf-8")
        continue
    done = CliRunner().invoke(cli.app, command.split())
    error = "" if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
    found[command] = [int(done.exit_code), done.output + error]
print(json.dumps(found))
"""
IN_AN_EMPTY_FOLDER = [
    "claims huang2023",
    "compare --scale paper",
    "config",
    "config docs",
    "doctor",
    "init empty",
    "init .",
    "mirror --scale paper --dry-run mirror",
    "objectives infonce",
    "plan --only nie2023/table_1",
    "senteval --help",
    "show --only huang2023/table_4",
    "sources",
    "theory huang2023",
    "train --objective macl --backbone GIN_MUTAG --seed 42 --no-evaluate",
]
IN_A_PROJECT = ["config check --configfile config/simcse.yaml", "plan --only nie2023/table_1 --scale demo"]


def tracked(*parts: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *parts], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_every_data_file_of_the_package_is_installed_with_it():
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    files = [name.removeprefix("src/clrepro/") for name in tracked("src/clrepro") if not name.endswith(".py")]
    assert {"sources/sources.yaml", "modalities/image/imagenet100.txt"} <= set(files)
    assert [name for name in files if not any(fnmatchcase(name, one) for one in patterns["clrepro"])] == []
    # a pattern that no file has any more is a folder that was moved
    assert [one for one in patterns["clrepro"] if not any(fnmatchcase(name, one) for name in files)] == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(the folder that the wheel is installed in, which lies in somebody's repository; the environment to run in)."""
    folder = tmp_path_factory.mktemp("wheel")
    source, target, guard = folder / "source", folder / "repository" / "environment", folder / "guard"
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    without = ["--no-deps", "--no-index"]
    run([*pip, "wheel", *without, "--no-build-isolation", "--wheel-dir", folder, source], folder)
    shutil.rmtree(source)
    run([*pip, "install", *without, "--target", target, *folder.glob("*.whl")], folder)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", target.parent]
    run([*git, "init", "--quiet"], folder)
    run([*git, "commit", "--quiet", "--allow-empty", "--message", "theirs"], folder)
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD)
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return target, {**inherited, "PYTHONPATH": f"{guard}{os.pathsep}{target}"}


@pytest.fixture(scope="module")
def found(installed, tmp_path_factory):
    """(the folder, which was empty, {command: exit status and what it said}); at last in a project."""
    folder = tmp_path_factory.mktemp("empty")
    commands = [*IN_AN_EMPTY_FOLDER, "init project", "one paper, one seed", *IN_A_PROJECT]
    done = run([sys.executable, "-c", DRIVER], folder, installed[1], input=json.dumps(commands))
    return folder, json.loads(done.stdout.splitlines()[-1])


def run(command: list, folder: Path, environment: dict | None = None, **given) -> subprocess.CompletedProcess:
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def planned(folder: Path, environment: dict, *targets: str) -> dict[str, int]:
    """How many jobs of each rule a dry run plans."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *targets]
    text = run(command, folder, environment).stdout
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", text, re.M)}


def runs(text: str) -> int:
    """How many runs `clrepro plan` names for table 1 of nie2023."""
    return int(re.search(r"^nie2023/table_1 +(\d+)", text, re.M)[1])


def test_every_command_works_in_an_empty_folder_without_the_checkout(installed, found):
    said = found[1]
    assert said["root"] == str(installed[0] / "clrepro" / "project")
    # theirs is the repository around the environment
    assert said["commit"] is None
    failed = {command: said[command] for command in IN_AN_EMPTY_FOLDER if said[command][0]}
    assert set(failed) == {"compare --scale paper", "config docs", "init ."}, failed
    assert "results/paper holds no results" in failed["compare --scale paper"][1]
    assert "rewrites a checkout's docs/, and this clrepro is installed in" in failed["config docs"][1]
    assert f"{__version__}, installed in" in said["doctor"][1]
    assert "- fits the paradigm" in said["objectives infonce"][1]
    assert "0 of 36 cells filled" in said["show --only huang2023/table_4"][1]
    assert "GIN_MUTAG" in str(list(found[0].rglob("record.json")))
    assert (installed[0] / "clrepro/project/results/reference/paper/ledger.csv").is_file()
    version = run([installed[0] / "bin" / "clrepro", "--version"], found[0], installed[1]).stdout
    assert version == f"clrepro {__version__}\n"
    assert (installed[0] / f"clrepro-{__version__}.dist-info").is_dir()


def test_init_overwrites_nothing(found):
    folder, said = found
    assert "is not empty" in said["init ."][1]
    assert not (folder / "Snakefile").exists()
    assert "snakemake --cores 2 huang2023_table_4" in said["init project"][1]
    assert os.access(folder / "project/profiles/generic/status.sh", os.X_OK)


def test_commands_and_workflow_read_the_projects_own_configuration(installed, found):
    folder, said = found
    overlaid, one_seed = (said[command] for command in IN_A_PROJECT)
    assert overlaid[0] == one_seed[0] == 0, (overlaid, one_seed)
    # seven objectives on four backbones
    assert runs(said["plan --only nie2023/table_1"][1]) - runs(one_seed[1]) == 7 * 4
    jobs = planned(folder / "project", installed[1])
    assert jobs["all"] == jobs["report"] == jobs["printed_tables"] == 1  # one for each paper


def test_the_workflow_is_a_module_of_somebody_elses_as_documented(installed, tmp_path):
    page = (ROOT / "docs/install.md").read_text("utf-8")
    (tmp_path / "Snakefile").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], "utf-8")
    (tmp_path / "config.yaml").write_text("samples: their.csv\nclrepro: {seeds: [7]}\n", "utf-8")
    jobs = planned(tmp_path, installed[1], "mine")
    assert jobs["mine"] == jobs["papers_table"] == 1
    assert jobs["papers_train"] == 2


def test_a_package_of_an_extra_is_named_with_it(monkeypatch):
    class Build:
        work = "clrepro.modalities.graph.molecules.preparing:prepare"

    for name in [name for name in sys.modules if name.startswith(("rdkit", "clrepro.modalities.graph.molecules"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(UserError, match=r"this needs rdkit: pip install 'clrepro\[graphs\]'"):
        preparing.prepare(Build(), None)
