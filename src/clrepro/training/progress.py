"""Where a training stands: what it keeps in memory and saves, so that an interrupted one goes on."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor

from clrepro.paths import read_json, room_for, sync, sync_tree
from clrepro.training import saved
from clrepro.training.places import best_folder
from clrepro.training.recorder import Recorder

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
        self.norms: list[float] = []  # of the gradient, since the last record
        self.recorder = Recorder()
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
        with room_for(folder, saved.size_of(self.workload.model.state_dict()), saved.what_then(self.state)):
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
        content = {
            "best": (self.best_step, self.best_score),
            "history": self.history,
            "health": torch.stack(self.health).cpu() if self.health else None,
            "losses": self.losses,
            "norms": self.norms,
            "statistics": self.recorder.state_dict(),
            "model": self.workload.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "scaler": self.accelerator.scaler.state_dict() if self.accelerator.scaler else None,
            "generators": generators,
            "seconds": self.earlier_seconds + begun - self.started,
        }
        saved.write(self.state, self.step, content, self.best_step)
        self.forget_checkpoints()
        self.saved_at = time.monotonic()
        self.cost = self.saved_at - begun

    def forget_checkpoints(self) -> None:
        """Remove the best checkpoints that neither a saved state names nor this one."""
        steps = {self.best_step}
        for folder in saved.saved_states(self.state):
            with suppress(OSError, ValueError, KeyError, TypeError):  # not readable: it would be refused
                steps.add(read_json(folder / "about.json")["best_step"])
        for folder in self.state.glob("best-*"):
            if folder not in {best_folder(self.state, step) for step in steps}:
                shutil.rmtree(folder)

    def load(self, device: torch.device) -> list[dict]:
        """Continue from the last state that is as it was saved; returns the generators, an empty list where none is."""
        found = saved.latest(self.state)
        if found is None:
            return []
        content, step = found
        self.restore(content, step, device)
        if self.accelerator.is_main_process:
            saved.say(f"    goes on from step {step}, saved in {self.state}")
        return content["generators"]

    def restore(self, content: dict, step: int, device: torch.device) -> None:
        self.workload.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.schedule.load_state_dict(content["schedule"])
        if self.accelerator.scaler and content["scaler"]:
            self.accelerator.scaler.load_state_dict(content["scaler"])
        self.step, self.history = step, content["history"]
        self.losses, self.norms = content["losses"], content["norms"]
        self.health = [] if content["health"] is None else list(content["health"].to(device).unbind())
        self.recorder.load_state_dict(content["statistics"])
        self.best_step, self.best_score = content["best"]
        self.earlier_seconds = content["seconds"]
