"""One training by several processes: torchrun starts them, and what they say comes back as from one."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from clrepro.errors import Interrupted, UserError
from clrepro.modalities.run import Run
from clrepro.paths import read_json, write_json
from clrepro.settings import Common

WORKER = "clrepro.stages.worker"


def launch(runs: list[Run], config: Common) -> None:
    """Train runs by ``jobs.processes`` processes of this machine, a GPU each where there are some.

    Raises what the processes raised; a SIGTERM is handed on to them, and they save before they end.
    """
    jobs = config.jobs
    with tempfile.TemporaryDirectory(prefix="clrepro-") as folder:
        task, outcome = Path(folder) / "task.json", Path(folder) / "outcome.json"
        content = {"config": config.model_dump(), "runs": [run.given for run in runs]}
        write_json(task, {**content, "outcome": str(outcome)})
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command = [*torchrun, f"--nproc-per-node={jobs.processes}", "-m", WORKER, str(task)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(jobs.threads)}
        process = subprocess.Popen(command, env=environment, stdout=sys.stderr, stderr=sys.stderr)
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread:
            before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            code = process.wait()
        finally:
            process.terminate()
            if in_main_thread:
                signal.signal(signal.SIGTERM, before)
        if code == 0:
            return
        if not outcome.exists():
            raise RuntimeError(f"training by {jobs.processes} processes failed with exit code {code}")
        said = read_json(outcome)
        raise (Interrupted if said["interrupted"] else UserError)(said["text"])
