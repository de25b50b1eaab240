"""Locks on files that the kernel releases when their holder ends, however it ends; the file says who that is."""

import errno
import fcntl
import json
import os
import platform
import time
from pathlib import Path
from typing import IO

# file systems that know no such locks
UNKNOWN = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


def hold(file: Path) -> IO[str] | None:
    """Lock a file until the returned one is closed or this process ends; None if somebody else holds it.

    Where the file system has no locks, everybody gets one.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle = open(file, "a+", encoding="utf-8")  # noqa: SIM115 (open as long as the lock is held)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    except OSError as failure:
        if failure.errno not in UNKNOWN:
            raise
    about = {"pid": os.getpid(), "host": platform.node(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    handle.truncate(0)
    handle.write(json.dumps(about))
    handle.flush()
    return handle


def is_held(file: Path) -> bool:
    """Whether a process holds it; on a shared disk, one of another machine may not be seen."""
    with open(file, encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError as failure:
            if failure.errno not in UNKNOWN:
                raise
            return True  # not known, so nobody's files are touched
    return False


def holder(file: Path) -> dict:
    """pid, host and since of the last holder; empty if it did not come to write them."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def described(about: dict) -> str:
    return f"process {about.get('pid', '?')} on {about.get('host', '?')} since {about.get('since', '?')}"
