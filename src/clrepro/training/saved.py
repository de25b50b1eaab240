"""States of an unfinished training on disk: complete, checked, the last two of them.

A saved state is a folder ``saved-<step>`` with ``state.pt`` and ``about.json``: format, run (as the folder above is
called), step, the best checkpoint's step, bytes and sha256. It appears at once, complete and on the disk. One that is
not what it should be is refused by name and the one before it is used.
"""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import torch
from torch import Tensor

from clrepro.paths import read_json, room_for, sync, sync_tree
from clrepro.training.places import best_folder

FORMAT = "clrepro training state 2"
KEPT = 2


def write(state: Path, step: int, content: dict, best_step: int = 0) -> None:
    """Save a state; a full disk leaves those before it as they are. One of this step is there already: it stays.

    best_step: of the checkpoint in ``state`` that belongs to it; 0 for none.
    """
    target = state / f"saved-{step}"
    if target in saved_states(state):
        return
    fresh = state / "saved.new"
    shutil.rmtree(fresh, ignore_errors=True)
    with room_for(target, size_of(content), what_then(state)):
        try:
            fresh.mkdir()
            with open(fresh / "state.pt", "wb", buffering=0) as file:
                counted = CountedFile(file)
                torch.save(content, counted)
            about = {
                "format": FORMAT,
                "run": state.name,
                "step": step,
                "best_step": best_step,
                "bytes": counted.bytes,
                "sha256": counted.digest.hexdigest(),
            }
            (fresh / "about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
            sync_tree(fresh)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    os.replace(fresh, target)
    sync(state)
    for old in saved_states(state)[:-KEPT]:
        shutil.rmtree(old)


def what_then(state: Path) -> str:
    steps = [step_of(saved) for saved in saved_states(state)]
    return f"training goes on from step {steps[-1]}" if steps else "training begins anew"


def latest(state: Path) -> tuple[dict, int] | None:
    """Content and step of the last state that is as it was saved; what cannot be used is set aside with a line."""
    found = saved_states(state)[::-1]
    for saved in found:
        try:
            return read(saved), step_of(saved)
        except Refused as reason:
            aside = saved.with_name(f"refused-{saved.name}")
            shutil.rmtree(aside, ignore_errors=True)
            os.replace(saved, aside)
            say(f"{saved} {reason}; it is not used and now called {aside.name}")
    if found:
        say(f"{state} has no state that can be used: this training starts anew")
    return None


class Refused(Exception):
    """Why a saved state cannot be used."""


def read(saved: Path) -> dict:
    """What a saved state holds; Refused if it is not as it was saved, or not of here."""
    state = saved.parent
    try:
        about = read_json(saved / "about.json")
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise Refused(f"is no '{FORMAT}'")
        if about["run"] != state.name or about["step"] != step_of(saved):
            raise Refused(f"is foreign: it belongs to step {about['step']} of {about['run']}")
        if about["best_step"] and not best_folder(state, about["best_step"]).is_dir():
            raise Refused(f"names the checkpoint best-{about['best_step']}, which is missing")
        with open(saved / "state.pt", "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != about["bytes"]:
                raise Refused(f"is truncated: state.pt has {size:,} of {about['bytes']:,} bytes")
            if hashlib.file_digest(file, "sha256").hexdigest() != about["sha256"]:
                raise Refused("is damaged: the sha256 of state.pt is not the recorded one")
            file.seek(0)
            return torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, ValueError, KeyError) as failure:
        raise Refused(f"cannot be read ({type(failure).__name__}: {failure})") from None


class CountedFile:
    """A file whose bytes are counted and hashed on their way."""

    def __init__(self, file):
        self.file, self.bytes, self.digest = file, 0, hashlib.sha256()

    def write(self, content) -> int:
        view = memoryview(content).cast("B")
        self.digest.update(view)
        self.bytes += len(view)
        rest = view
        while rest:  # an unbuffered write may take a part only, at most 2 GB
            rest = rest[self.file.write(rest) :]
        return len(view)

    def flush(self) -> None:
        self.file.flush()


def size_of(content) -> int:
    """Bytes of all tensors in nested dicts and lists."""
    if isinstance(content, Tensor):
        return content.nbytes
    if isinstance(content, dict):
        return sum(map(size_of, content.values()))
    return sum(map(size_of, content)) if isinstance(content, list | tuple) else 0


def saved_states(state: Path) -> list[Path]:
    """The saved states, the oldest first."""
    return sorted((path for path in state.glob("saved-*") if step_of(path) is not None), key=step_of)


def step_of(saved: Path) -> int | None:
    number = saved.name.removeprefix("saved-")
    return int(number) if number.isdecimal() else None


def finish(state: Path, best_step: int = 0) -> None:
    """Remove what only an unfinished training needs; the checkpoint of best_step stays, 0: none."""
    for pattern in ("saved-*", "refused-*", "saved.new", "export.new", "best-*"):
        for path in state.glob(pattern):
            if path != best_folder(state, best_step):
                shutil.rmtree(path)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
