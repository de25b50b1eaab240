"""Where a training stands: what it keeps in memory and saves, so that an interrupted one goes on.

A saved state is a folder ``saved-<step>`` with ``state.pt`` and ``about.json``: format, run (hash, seed, code and
inputs, as in the name of the folder above), step, bytes and sha256. It appears at once, complete and on the disk. The
last two are kept, with the best checkpoints that they name; one that is not what it should be is refused by name and
the other one is used.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor

from clrepro.paths import read_json, room_for, sync, sync_tree
from clrepro.training.places import best_folder
from clrepro.training.probes import Probes

FORMAT = "clrepro training state 2"
KEPT = 2  # saved states
# a save is due after a minute, but takes at most a twentieth of the time; after ten minutes at the latest
SAVE_SECONDS, SAVE_SHARE, SAVE_LONGEST = 60.0, 20.0, 600.0


class Progress:
    """Where a training stands, in memory and on disk."""

    def __init__(self, state: Path, workload, optimizer, schedule, accelerator: Accelerator):
        self.state, self.workload = state, workload
        self.optimizer, self.schedule, self.accelerator = optimizer, schedule, accelerator
        self.step = 0
        self.best_step, self.best_score = 0, float("-inf")
        self.history: list[dict] = []
        self.health: list[Tensor] = []  # of the steps since the last look
        self.losses: list[float] = []  # since the last evaluation
        self.norms: list[float] = []  # of the gradient, since the last probe
        self.probes = Probes()
        self.earlier_seconds = 0.0  # of the starts before this one, as far as they were saved
        self.started = self.saved_at = time.monotonic()
        self.cost = 0.0  # seconds of the last save

    def note(self, scores: dict[str, float], learning_rate: float, keep: bool = True) -> bool:
        """Record an evaluation and export the checkpoint if it is the best so far; whether it is.

        keep: whether it may become the best; False where only the last one counts and this is not the last.
        """
        mean = sum(self.losses) / len(self.losses)
        self.history.append({"step": self.step, "loss": mean, "learning_rate": learning_rate, **scores})
        self.losses = []
        score = next(iter(scores.values()))
        best = keep and (not self.best_step or score > self.best_score)  # the first one counts even if it is NaN
        if best:
            self.best_step, self.best_score = self.step, score
            self.export(best_folder(self.state, self.step))
            self.forget_checkpoints()
        return best

    def export(self, folder: Path) -> None:
        """Write the model as it is now; the folder appears at once or not at all."""
        fresh = self.state / "export.new"
        shutil.rmtree(fresh, ignore_errors=True)
        with room_for(folder, size_of(self.workload.model.state_dict()), self.what_then()):
            try:
                self.workload.export(fresh)
                sync_tree(fresh)
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(exist_ok=True)
        os.replace(fresh, folder)
        sync(folder.parent)

    def due(self) -> bool:
        """Whether it is time to save."""
        wait = min(SAVE_LONGEST, max(SAVE_SECONDS, SAVE_SHARE * self.cost))
        return time.monotonic() - self.saved_at > wait

    def save(self, generators: list[dict]) -> None:
        """Write the state as it is now; generators: those of the random numbers of every process.

        A full disk leaves the states before it as they are.
        """
        begun = time.monotonic()
        target = self.state / f"saved-{self.step}"
        if target in saved_states(self.state):
            return  # the one that this start began with
        content = {
            "best": (self.best_step, self.best_score),
            "history": self.history,
            "health": torch.stack(self.health).cpu() if self.health else None,
            "losses": self.losses,
            "norms": self.norms,
            "probes": self.probes.state_dict(),
            "model": self.workload.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "scaler": self.accelerator.scaler.state_dict() if self.accelerator.scaler else None,
            "generators": generators,
            "seconds": self.earlier_seconds + begun - self.started,
        }
        fresh = self.state / "saved.new"
        shutil.rmtree(fresh, ignore_errors=True)
        with room_for(target, size_of(content), self.what_then()):
            try:
                fresh.mkdir()
                with open(fresh / "state.pt", "wb", buffering=0) as file:
                    counted = CountedFile(file)
                    torch.save(content, counted)
                about = {
                    "format": FORMAT,
                    "run": self.state.name,
                    "step": self.step,
                    "best_step": self.best_step,
                    "bytes": counted.bytes,
                    "sha256": counted.digest.hexdigest(),
                }
                (fresh / "about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
                sync_tree(fresh)
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
        os.replace(fresh, target)
        sync(self.state)
        for old in saved_states(self.state)[:-KEPT]:
            shutil.rmtree(old)
        self.forget_checkpoints()
        self.saved_at = time.monotonic()
        self.cost = self.saved_at - begun

    def forget_checkpoints(self) -> None:
        """Remove the best checkpoints that neither a saved state names nor this one."""
        steps = {self.best_step}
        for saved in saved_states(self.state):
            with suppress(OSError, ValueError, KeyError, TypeError):  # not readable: it would be refused
                steps.add(read_json(saved / "about.json")["best_step"])
        for folder in self.state.glob("best-*"):
            if folder not in {best_folder(self.state, step) for step in steps}:
                shutil.rmtree(folder)

    def what_then(self) -> str:
        steps = [step_of(saved) for saved in saved_states(self.state)]
        return f"training goes on from step {steps[-1]}" if steps else "training begins anew"

    def load(self, device: torch.device) -> list[dict]:
        """Continue from the last state that is as it was saved; returns the generators, an empty list where none is."""
        found = saved_states(self.state)[::-1]
        for saved in found:
            try:
                content, about = read_state(saved)
            except Refused as reason:
                aside = saved.with_name(f"refused-{saved.name}")
                shutil.rmtree(aside, ignore_errors=True)
                os.replace(saved, aside)
                say(f"{saved} {reason}; it is not used and now called {aside.name}")
                continue
            self.restore(content, about["step"], device)
            if self.accelerator.is_main_process:
                say(f"    goes on from step {self.step}, {saved}")
            return content["generators"]
        if found:
            say(f"{self.state} has no state that can be used: this training starts anew")
        return []

    def restore(self, content: dict, step: int, device: torch.device) -> None:
        self.workload.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.schedule.load_state_dict(content["schedule"])
        if self.accelerator.scaler and content["scaler"]:
            self.accelerator.scaler.load_state_dict(content["scaler"])
        self.step, self.history = step, content["history"]
        self.losses, self.norms = content["losses"], content["norms"]
        self.health = [] if content["health"] is None else list(content["health"].to(device).unbind())
        self.probes.load_state_dict(content["probes"])
        self.best_step, self.best_score = content["best"]
        self.earlier_seconds = content["seconds"]


class Refused(Exception):
    """Why a saved state cannot be used."""


def read_state(saved: Path) -> tuple[dict, dict]:
    """What a saved state holds and what is written about it; Refused if it is not as it was saved, or not of here."""
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
            return torch.load(file, map_location="cpu", weights_only=True), about
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


def finish(state: Path, best_step: int) -> None:
    """Remove what only an unfinished training needs."""
    for pattern in ("saved-*", "refused-*", "saved.new", "export.new", "best-*"):
        for path in state.glob(pattern):
            if path != best_folder(state, best_step):
                shutil.rmtree(path)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
