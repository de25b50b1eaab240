"""Where a training stands: what it keeps in memory and saves, so that an interrupted one goes on."""

import os
import shutil
from pathlib import Path

import torch
from accelerate import Accelerator

from clrepro.errors import UserError
from clrepro.training.probes import Probes


class Progress:
    """Where a training stands, in memory and on disk."""

    def __init__(self, state: Path, workload, optimizer, schedule, accelerator: Accelerator):
        self.state, self.workload = state, workload
        self.optimizer, self.schedule, self.accelerator = optimizer, schedule, accelerator
        self.step = 0
        self.best_step, self.best_score = 0, float("-inf")
        self.history: list[dict] = []
        self.losses: list[float] = []  # since the last evaluation
        self.norms: list[float] = []  # of the gradient, since the last probe
        self.probes = Probes()

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
        return best

    def export(self, folder: Path) -> None:
        """Write the model as it is now; the folder appears at once or not at all."""
        fresh = self.state / "export.new"
        shutil.rmtree(fresh, ignore_errors=True)
        self.workload.export(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(exist_ok=True)
        os.replace(fresh, folder)

    def save(self) -> None:
        content = {
            "step": self.step,
            "best": (self.best_step, self.best_score),
            "history": self.history,
            "losses": self.losses,
            "norms": self.norms,
            "probes": self.probes.state_dict(),
            "model": self.workload.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "scaler": self.accelerator.scaler.state_dict() if self.accelerator.scaler else None,
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }
        temporary = self.state / "progress.tmp"
        torch.save(content, temporary)
        os.replace(temporary, self.state / "progress.pt")
        # only now may older checkpoints go: the saved state names the one that stays
        for folder in self.state.glob("best-*"):
            if folder != best_folder(self.state, self.best_step):
                shutil.rmtree(folder)

    def load(self, device: torch.device) -> None:
        file = self.state / "progress.pt"
        if not file.exists():
            return
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as failure:
            raise UserError(f"{file} cannot be read ({failure}); delete it to train this run anew") from None
        self.workload.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.schedule.load_state_dict(content["schedule"])
        if self.accelerator.scaler and content["scaler"]:
            self.accelerator.scaler.load_state_dict(content["scaler"])
        torch.set_rng_state(content["rng"].cpu())
        if torch.cuda.is_available() and content["cuda_rng"]:
            torch.cuda.set_rng_state_all([rng.cpu() for rng in content["cuda_rng"]])
        self.step, self.history, self.losses = content["step"], content["history"], content["losses"]
        self.norms = content["norms"]
        self.probes.load_state_dict(content["probes"])
        self.best_step, self.best_score = content["best"]


def best_folder(state: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return state / f"best-{step}"


def checkpoint_folder(root: Path, step: int) -> Path:
    """Where a checkpoint that is kept whatever its score lies, in the state and in the results."""
    return root / "checkpoints" / f"step-{step}"
