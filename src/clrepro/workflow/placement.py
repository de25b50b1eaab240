"""Places the jobs of one machine on its GPUs, where no scheduler does.

Every GPU has a number of slots, each a lock file; a job holds one slot of as many GPUs as it needs, sees only these
(CUDA_VISIBLE_DEVICES), and waits while all are taken. The kernel releases a lock when its holder ends, however it ends.
All jobs and users of the machine share the locks, whatever their working directory.
"""

import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clrepro.errors import UserError

VISIBLE = "CUDA_VISIBLE_DEVICES"
PRETENDED = "CLREPRO_GPUS"  # GPUs with commas between them, instead of what nvidia-smi lists
WAIT_SECONDS = 0.5  # between two looks at the slots


@contextmanager
def placed(gpus: int, per_gpu: int, folder: Path | None = None) -> Iterator[list[str]]:
    """Hold a slot of each of ``gpus`` GPUs, which are the only ones that this process and its children see.

    Yields their names. Does nothing where nothing is asked for, where a scheduler (or the user) has already chosen by
    CUDA_VISIBLE_DEVICES, or where there is no GPU: then choosing the device decides. per_gpu: jobs that may share a
    GPU. folder: where the locks lie. Must be entered before torch looks for GPUs. Raises UserError where the machine
    has fewer GPUs than the job needs.
    """
    if not gpus or VISIBLE in os.environ or not (known := devices()):
        yield []
        return
    if gpus > len(known):
        raise UserError(
            f"the job needs {gpus} GPUs and this machine has {len(known)}; lower `jobs.processes` or `jobs.gpus`"
        )
    folder = folder or Path(tempfile.gettempdir()) / "clrepro-gpus"
    held = take(known, gpus, per_gpu, folder)
    os.environ[VISIBLE] = ",".join(held)
    try:
        yield list(held)
    finally:
        del os.environ[VISIBLE]
        for lock in held.values():
            os.close(lock)


def devices() -> list[str]:
    """The GPUs of this machine, as CUDA_VISIBLE_DEVICES takes them."""
    if PRETENDED in os.environ:
        return [name for name in os.environ[PRETENDED].split(",") if name]
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return listed.stdout.split() if listed.returncode == 0 else []


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
