"""One process at a time on a training's state."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clrepro.console import say
from clrepro.errors import Interrupted, UserError
from clrepro.workflow import locks


@contextmanager
def alone(state: Path, stop) -> Iterator[None]:
    """Wait while another process works on the same state: a job that outlived the workflow that started it.

    Of several processes that train together only the first one asks, and it does not wait: the others would not.
    """
    if not is_first_process():
        yield
        return
    file, waits = state / "lock", False
    while not (handle := locks.hold(file)):
        who = locks.described(locks.holder(file))
        if os.environ.get("WORLD_SIZE", "1") != "1":
            raise UserError(f"{state} is being trained by {who}; wait for it, or end it")
        if stop.requested:
            raise Interrupted(f"stopped while {state} was being trained by {who}")
        if not waits:
            say(f"    waits for {who}, which trains this run")
        waits = True
        time.sleep(0.5)
    try:
        yield
    finally:
        handle.close()


def is_first_process() -> bool:
    """Whether this is the process that writes, of those that torchrun or accelerate started."""
    return os.environ.get("RANK", "0") == "0"
