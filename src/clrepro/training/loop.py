"""The training loop. It knows nothing of text, images or graphs: a workload brings the views."""

import math
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import Tensor, nn
from tqdm import tqdm

from clrepro.errors import Interrupted, UserError

PRECISIONS = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}
SAVE_SECONDS = 60  # state is saved at evaluations, but not more often than this
CHECK_EVERY = 25  # steps between looks at the loss: each look waits for the device


class Workload(Protocol):
    """What a modality brings to the loop."""

    model: nn.Module
    steps: int

    def views(self, model: nn.Module, step: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """Two views (N, D) of the batch of this step; the same step always means the same batch."""

    def select(self, device: torch.device) -> dict[str, float]:
        """Scores on development data; the first one selects the checkpoint, higher is better."""

    def export(self, folder: Path) -> None:
        """Write the model in its ecosystem's format."""


class Diverged(UserError):
    """A loss, gradient or embedding that is not finite."""


def choose_device(device: str) -> torch.device:
    """auto: a GPU where there is one, then Apple's, then the CPU."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device: 'cuda' is not available on this machine; use `device: auto` or `device: cpu`")
    return torch.device(device)


def fit(
    workload: Workload,
    objective: Callable,
    settings: dict,
    device: str,
    state: Path,
    stop: "StopFlag",
    title: str = "",
) -> dict[str, object]:
    """Train, and leave the best checkpoint in ``state/best-<step>``.

    settings: learning_rate, weight_decay, clip (gradient norm), precision, evaluate_every. AdamW; the learning
    rate falls linearly to 0, without warm-up. State (weights, optimiser, RNGs, step, best score) is saved in
    ``state`` with every new best checkpoint, else once a minute; if it is there, training goes on from it and
    ends, on a CPU, in the same weights to the bit. Raises Diverged with the step and the cause, and Interrupted
    once ``stop`` was requested and the state is saved.
    """
    place = choose_device(device)
    precision = settings["precision"]
    if precision == "fp16" and place.type != "cuda":
        raise UserError(f"precision fp16 needs a GPU, the device is '{place}'; set `sentence.training.precision: fp32`")
    AcceleratorState._reset_state(reset_partial_state=True)  # several runs may share this process
    accelerator = Accelerator(mixed_precision=PRECISIONS[precision], cpu=place.type == "cpu")
    device_ = accelerator.device
    total = workload.steps
    trained = [parameter for parameter in workload.model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        trained,
        lr=settings["learning_rate"],
        weight_decay=settings["weight_decay"],
        fused=device_.type == "cuda",
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / total)
    # the model itself is not prepared: accelerate would put its evaluations under autocast as well
    model, optimizer = workload.model.to(device_), accelerator.prepare(optimizer)
    state.mkdir(parents=True, exist_ok=True)
    progress = Progress(state, workload, optimizer, schedule, accelerator)
    progress.load(device_)
    # health: (loss, largest |embedding|, gradient norm) of the steps since the last look
    health: list[Tensor] = []
    started = last_save = time.monotonic()
    first = progress.step
    bar = tqdm(total=total, initial=progress.step, desc=title, unit="step", disable=None, leave=False)
    with bar:
        while progress.step < total:
            model.train()
            with accelerator.autocast():
                view1, view2 = workload.views(model, progress.step, device_)
            loss = objective(view1, view2)
            accelerator.backward(loss)
            norm = accelerator.clip_grad_norm_(trained, settings["clip"])
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            largest = torch.maximum(view1.detach().abs().max(), view2.detach().abs().max())
            health.append(torch.stack([loss.detach().float(), largest.float(), norm.detach().float()]))
            progress.step += 1
            bar.update()
            evaluate = progress.step % settings["evaluate_every"] == 0 or (
                progress.step == total and not progress.history
            )
            if len(health) == CHECK_EVERY or evaluate or progress.step == total or stop.requested:
                progress.losses += examine(health, progress.step, precision, settings["learning_rate"])
                health.clear()
            if evaluate:
                model.eval()
                scores = workload.select(device_)
                best = progress.note(scores, schedule.get_last_lr()[0])
                score, loss = next(iter(scores.values())), progress.history[-1]["loss"]
                bar.set_postfix(score=f"{score:.4f}", loss=f"{loss:.4f}")
                if bar.disable:  # no terminal: a line in the log instead of a moving bar
                    speed = (progress.step - first) / (time.monotonic() - started)
                    left = (total - progress.step) / speed / 60
                    line = f"    step {progress.step}/{total}: loss {loss:.4f}, score {score:.4f}"
                    print(f"{line}, {speed:.1f} steps/s, {left:.0f} min left", file=sys.stderr, flush=True)
                if best or time.monotonic() - last_save > SAVE_SECONDS:
                    progress.save()
                    last_save = time.monotonic()
            if stop.requested and progress.step < total:
                progress.save()
                raise Interrupted(f"stopped at step {progress.step} of {total}; the state is saved in {state}")
    return {
        "steps": total,
        "best_step": progress.best_step,
        "best_score": progress.best_score,
        "history": progress.history,
        "device": torch.cuda.get_device_name() if device_.type == "cuda" else device_.type,
    }


def examine(health: list[Tensor], step: int, precision: str, learning_rate: float) -> list[float]:
    """The losses of the last steps; raises Diverged at the first step that is not finite."""
    table = torch.stack(health).cpu()
    # fp16's scaler skips single steps of infinite gradient; a whole window of them is no longer training
    lost = len(table) == CHECK_EVERY and not torch.isfinite(table[:, 2]).any()
    for row, (loss, largest, norm) in enumerate(table.tolist()):
        at = step - len(health) + row + 1
        if not math.isfinite(largest):
            cause = f"the encoder's outputs are not finite (precision {precision}, learning rate {learning_rate:g})"
        elif not math.isfinite(loss):
            cause = f"the objective is {loss} on finite embeddings (largest entry {largest:.3g})"
        elif not math.isfinite(norm) and (precision != "fp16" or lost):
            cause = f"the gradient norm is {norm} at a finite loss of {loss:.4g}"
        else:
            continue
        raise Diverged(f"training diverged at step {at}: {cause}. Lower the learning rate, or use precision fp32")
    return table[:, 0].tolist()


class Progress:
    """Where a training stands, in memory and on disk."""

    def __init__(self, state: Path, workload: Workload, optimizer, schedule, accelerator: Accelerator):
        self.state, self.workload = state, workload
        self.optimizer, self.schedule, self.accelerator = optimizer, schedule, accelerator
        self.step = 0
        self.best_step, self.best_score = 0, float("-inf")
        self.history: list[dict] = []
        self.losses: list[float] = []

    def note(self, scores: dict[str, float], learning_rate: float) -> bool:
        """Record an evaluation and export the checkpoint if it is the best so far; whether it is."""
        mean = sum(self.losses) / len(self.losses)
        self.history.append({"step": self.step, "loss": mean, "learning_rate": learning_rate, **scores})
        self.losses = []
        score = next(iter(scores.values()))
        best = not self.best_step or score > self.best_score  # the first one counts even if it is NaN
        if best:
            self.best_step, self.best_score = self.step, score
            fresh = self.state / "best.new"
            shutil.rmtree(fresh, ignore_errors=True)
            self.workload.export(fresh)
            shutil.rmtree(best_folder(self.state, self.step), ignore_errors=True)
            os.replace(fresh, best_folder(self.state, self.step))
        return best

    def save(self) -> None:
        content = {
            "step": self.step,
            "best": (self.best_step, self.best_score),
            "history": self.history,
            "losses": self.losses,
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
            content = torch.load(file, map_location=device, weights_only=True)
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
        self.best_step, self.best_score = content["best"]


def best_folder(state: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return state / f"best-{step}"


class StopFlag:
    """While it is open, SIGTERM sets a flag instead of ending the process in the middle of a step."""

    def __init__(self):
        self.requested = False

    def __enter__(self) -> "StopFlag":
        self.here = threading.current_thread() is threading.main_thread()
        if self.here:
            self.before = signal.signal(signal.SIGTERM, self.request)
        return self

    def request(self, *_) -> None:
        self.requested = True

    def __exit__(self, *_) -> None:
        if self.here:
            signal.signal(signal.SIGTERM, self.before)


def seed_everything(seed: int) -> None:
    """One seed for the head's weights and the dropout masks; the order of the data has its own generator."""
    random.seed(seed)
    torch.manual_seed(seed)
