"""What a start of the workflow does about the ones before it: a killed one leaves a lock and perhaps running jobs.

Every start (not a dry run) writes ``.snakemake/clrepro/<mark>.json`` and holds a lock on it that the kernel releases
when the process ends, even by kill -9. So the next start knows which ones are dead. Their jobs carry the mark in their
environment, by which they, and no other process, are found.
"""

import atexit
import os
import platform
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO

from clrepro.console import say
from clrepro.errors import UserError
from clrepro.workflow import locks

MARK = "CLREPRO_RUN"
FOLDER = Path(".snakemake/clrepro")
LOCKS = Path(".snakemake/locks")  # Snakemake's own; a start that finds files in it refuses to work
PATIENCE = 300.0  # seconds in which a training's step, evaluation and save should end


def begin() -> str:
    """Register this start in the working directory; remove Snakemake's lock if whoever took it is dead.

    Never removed: the lock of a live process, of another machine, or one of which nothing is known.
    """
    mark = uuid.uuid4().hex
    file = (FOLDER / f"{mark}.json").absolute()
    handle = locks.hold(file)
    atexit.register(forget, file, handle, os.getpid())
    os.environ[MARK] = mark  # all jobs inherit it
    left = sorted(LOCKS.glob("*.lock"))
    if left:
        others = [other for other in FOLDER.glob("*.json") if other.stem != mark]
        gone = [other for other in others if is_dead(other)]
        rest = [locks.holder(other) for other in others if other not in gone]
        if gone and not rest:
            for lock in left:
                lock.unlink(missing_ok=True)
            names = "; ".join(locks.described(locks.holder(other)) for other in gone)
            say(f"An earlier run here was killed ({names}). Its lock is removed.")
        else:
            names = "; ".join(map(locks.described, rest)) or "an unknown process"
            say(
                f"Another run holds the lock of {Path.cwd()}: {names}. Wait for it, or work in another directory "
                "(snakemake --directory). Only if you know that it is dead: snakemake --unlock"
            )
    return mark


def forget(file: Path, handle: IO, pid: int) -> None:
    if os.getpid() == pid:  # not a forked child
        file.unlink(missing_ok=True)
        handle.close()


def is_dead(file: Path) -> bool:
    """Whether the start that wrote it has ended without a word; unknown, and so False, if it is of another machine."""
    return locks.holder(file).get("host", platform.node()) == platform.node() and not locks.is_held(file)


def end_orphans(own: str) -> None:
    """End the jobs that killed starts left running here, and wait: a training saves its state first.

    Called once Snakemake holds its lock and before the first job. own: what ``begin`` returned.
    """
    for file in FOLDER.glob("*.json"):
        mark = file.stem
        if mark == own or locks.is_held(file):
            continue
        # of another machine, there is nothing to be seen here; Snakemake's lock is ours, so that run is over
        left = orphans(mark)
        if left:
            say(f"Jobs of a killed run are still running ({', '.join(str(one.pid) for one in left)}); ending them.")
        for process in left:
            with suppress_gone():
                process.terminate()
        deadline = time.monotonic() + PATIENCE
        while (left := orphans(mark)) and time.monotonic() < deadline:
            time.sleep(0.2)
        for process in left:
            with suppress_gone():
                process.kill()
        while orphans(mark):
            time.sleep(0.2)
        file.unlink(missing_ok=True)


def remove_submission_limit(workflow) -> None:
    """Take away Snakemake's default limit on submissions, 100 a second, which nothing here could reach.

    With any limit every round of its scheduler, also one that a job's end begins, starts a timer for one more round,
    and each looks at the inputs of all ready jobs (Snakemake 9.27, ``JobScheduler.schedule``): a run of days ends in
    rounds without pause. A limit that somebody asked for stays.
    """
    if not hasattr(workflow.scheduler, "job_rate_limiter"):
        raise UserError(
            "this Snakemake has no JobScheduler.job_rate_limiter, which clrepro takes away (clrepro.workflow.start); "
            "install the locked version, or see whether the fault described there is mended and remove the call"
        )
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def orphans(mark: str) -> list:
    """The processes with that mark in their environment, as far as this user may see it."""
    import psutil  # Snakemake and accelerate bring it

    found = []
    for process in psutil.process_iter():
        with suppress_gone():
            ended = process.status() == psutil.STATUS_ZOMBIE
            if process.pid != os.getpid() and not ended and process.environ().get(MARK) == mark:
                found.append(process)
    return found


def suppress_gone() -> suppress:
    import psutil

    return suppress(psutil.Error, OSError)
