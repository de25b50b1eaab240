"""Places the jobs of one machine on its GPUs, where no scheduler gives each job its own.

Every GPU has a number of slots, each a lock file; a job holds one slot of as many GPUs as it needs, sees only these
(CUDA_VISIBLE_DEVICES), and waits while all are taken. The kernel releases a lock when its holder ends, however it ends.
All jobs and users of the machine share the locks, whatever their working directory. Where CUDA_VISIBLE_DEVICES already
names GPUs (the allocation of a whole node, or a user's choice), jobs are placed on these.
"""

import fcntl
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clrepro.errors import UserError
from clrepro.settings import Common

VISIBLE = "CUDA_VISIBLE_DEVICES"
PRETENDED = "CLREPRO_GPUS"  # GPUs with commas between them, instead of what nvidia-smi lists
LOCKS = Path("/tmp/clrepro-gpus")  # not $TMPDIR, which schedulers and users set to folders of their own
WAIT_SECONDS = 0.5  # between two looks at the slots


@contextmanager
def placed(gpus: int, per_gpu: int, folder: Path = LOCKS) -> Iterator[list[str]]:
    """Hold a slot of each of ``gpus`` GPUs, which are the only ones that this process and its children see.

    Yields their names. Does nothing where nothing is asked for, where CUDA_VISIBLE_DEVICES names just as many (what a
    scheduler gave to this job) or none, or where there is no GPU: then choosing the device decides. per_gpu: jobs that
    may share a GPU. folder: where the locks lie. Must be entered before torch looks for GPUs. Raises UserError where
    there are fewer GPUs than the job needs.
    """
    before = os.environ.get(VISIBLE)
    known = visible() if before is not None else devices()
    if not gpus or not known or (before is not None and len(known) == gpus):
        yield []
        return
    if gpus > len(known):
        where = f"{VISIBLE} names {len(known)}" if before is not None else f"this machine has {len(known)}"
        raise UserError(f"the job needs {gpus} GPUs and {where}; lower `jobs.processes` or `jobs.gpus`")
    held = take(known, gpus, per_gpu, folder)
    os.environ[VISIBLE] = ",".join(held)
    try:
        yield list(held)
    finally:
        if before is None:
            del os.environ[VISIBLE]
        else:
            os.environ[VISIBLE] = before
        for lock in held.values():
            os.close(lock)


def slots(config: Common) -> int:
    """How many slots the GPUs of this machine have together; a job takes as many as it needs GPUs."""
    if config.device not in ("auto", "cuda") or not config.jobs.gpus:
        return 0
    return config.jobs.per_gpu * len(visible() if VISIBLE in os.environ else devices())


def devices() -> list[str]:
    """The GPUs of this machine, as CUDA_VISIBLE_DEVICES takes them."""
    if PRETENDED in os.environ:
        return [name for name in os.environ[PRETENDED].split(",") if name]
    return [uuid for (uuid,) in nvidia_smi("uuid")]


def visible() -> list[str]:
    """The GPUs that CUDA_VISIBLE_DEVICES names, by their UUIDs where these are known.

    Numbers will not do for locks: two jobs of one node may both see theirs as GPU 0.
    """
    known = dict(nvidia_smi("index", "uuid"))
    names = os.environ[VISIBLE].replace(" ", "").split(",")
    named = itertools.takewhile(lambda name: not name.startswith("-"), names)  # -1 ends the list, as CUDA reads it
    return [known.get(name, name) for name in named if name]


def nvidia_smi(*fields: str) -> list[list[str]]:
    """These fields of every GPU that nvidia-smi sees; none where it is not there or does not know a field."""
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = answer.stdout.splitlines() if answer.returncode == 0 else []
    return [[part.strip() for part in line.split(",")] for line in lines]


def take(known: list[str], gpus: int, per_gpu: int, folder: Path) -> dict[str, int]:
    """{GPU: descriptor of its lock}; the emptiest GPUs first, all of them or none, waiting as long as it takes."""
    told = False
    while True:
        gate = opened(folder, "gate")  # one looks at a time, so that two never take half of what both need
        fcntl.flock(gate, fcntl.LOCK_EX)
        held: dict[str, int] = {}
        for slot in range(per_gpu):  # a first slot on every GPU before a second one on any
            for name in known:
                if len(held) < gpus and name not in held and (lock := locked(folder, f"{name}-{slot}")) is not None:
                    held[name] = lock
        if len(held) < gpus:
            for lock in held.values():
                os.close(lock)
        os.close(gate)
        if len(held) == gpus:
            return held
        if not told:
            print(f"waiting for {gpus} of {len(known)} GPUs ({per_gpu} jobs each)", file=sys.stderr, flush=True)
            told = True
        time.sleep(WAIT_SECONDS)


def locked(folder: Path, name: str) -> int | None:
    """The descriptor of a lock that is now ours, or None where another process has it."""
    lock = opened(folder, name)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def opened(folder: Path, name: str) -> int:
    """A lock file of all users, made where it is not there yet."""
    while True:
        try:  # without O_CREAT: in a folder that all may write to, Linux refuses it for files of others
            return os.open(folder / name, os.O_RDWR)
        except FileNotFoundError:
            pass
        try:
            folder.mkdir(parents=True)
            folder.chmod(0o1777)
        except FileExistsError:
            pass
        try:
            lock = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            continue
        os.fchmod(lock, 0o666)
        return lock
