"""How the workflow starts."""

import subprocess
import sys

import pytest


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
