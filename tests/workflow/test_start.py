"""How the workflow starts."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from clrepro.errors import UserError
from clrepro.workflow import start


@pytest.mark.parametrize(("asked", "limited"), [([], False), (["--max-jobs-per-timespan", "5/1s"], True)])
def test_only_a_limit_on_submissions_that_was_asked_for_makes_the_scheduler_wake_up(tmp_path, asked, limited):
    (tmp_path / "Snakefile").write_text(
        "from clrepro.workflow import start\n"
        "rule all:\n    output: touch('done')\n"
        "onstart:\n    start.remove_submission_limit(workflow)\n"
        "onsuccess:\n    print('limited:', workflow.scheduler.job_rate_limiter is not None)\n"
    )
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *asked]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"limited: {limited}" in ended.stdout


def test_a_scheduler_without_the_limit_is_named_with_the_remedy():
    other = SimpleNamespace(scheduler=SimpleNamespace(), scheduling_settings=None)
    with pytest.raises(UserError, match="no JobScheduler.job_rate_limiter.*install the locked version"):
        start.remove_submission_limit(other)
