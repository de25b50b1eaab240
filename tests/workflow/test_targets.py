"""Targets of Snakemake: what is refused, and that the workflow sees those that the user asks for."""

import subprocess
import sys

import pytest

from clrepro.errors import UserError
from clrepro.workflow import targets

KNOWN = ["all", "nie2023", "nie2023_table_1", "nie2023_table_2", "theory"]
SNAKEFILE = """
from clrepro.errors import UserError
from clrepro.workflow import targets
from snakemake.exceptions import WorkflowError

rule nie2023_table_1:
    output:
        "results/table.csv",
    shell:
        "touch {output}"

if workflow.is_main_process:
    try:
        targets.check(targets.requested(), [rule.name for rule in workflow.rules])
    except UserError as failure:
        raise WorkflowError(str(failure)) from None
"""


@pytest.mark.parametrize(
    "given", [[], ["all"], ["nie2023_table_1", "theory"], ["results/tabel.csv"], ["tabel.csv"], ["Makefile"]]
)
def test_names_and_paths_are_no_misspelt_targets(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Makefile").touch()
    targets.check(given, KNOWN)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["nie2023_tabel_1"], "unknown target 'nie2023_tabel_1'. Did you mean nie2023_table_1 or"),
        (["all", "teory"], "unknown target 'teory'. Did you mean theory?"),
        (["Makefile"], "unknown target 'Makefile'. Known: all, nie2023, "),
    ],
)
def test_a_misspelt_target_is_refused_with_near_matches(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        targets.check(given, KNOWN)


def test_another_program_requests_no_targets(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/report", "nie2023_tabel_1", "--no-option-of-snakemake"])
    assert targets.requested() == set()


@pytest.mark.parametrize("before", [["--configfile", "own.yaml", "--cores", "1"], ["--config", "seed=1", "-n", "--"]])
def test_snakemake_tells_its_targets_while_it_parses(before, tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "own.yaml").write_text("seed: 1")

    def snakemake(target):
        command = [sys.executable, "-m", "snakemake", *before, target]
        return subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    refused = snakemake("nie2023_tabel_1")
    assert refused.returncode == 1
    assert "unknown target 'nie2023_tabel_1'. Did you mean nie2023_table_1?" in refused.stdout
    done = snakemake("nie2023_table_1")
    assert done.returncode == 0, done.stdout
