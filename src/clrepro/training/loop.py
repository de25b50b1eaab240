"""The training loop. It knows nothing of text, images or graphs: a workload brings the views."""

import math
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import Tensor, nn
from tqdm import tqdm

from clrepro.device import choose_device
from clrepro.errors import Interrupted, UserError
from clrepro.objectives._distributed import gather
from clrepro.training import optimisers
from clrepro.training.parallel import Processes
from clrepro.training.places import best_folder, checkpoint_folder
from clrepro.training.progress import Progress
from clrepro.training.recorder import Recorder, evaluation_steps, recorded_steps

PRECISIONS = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}
CHECK_EVERY = 25  # steps between looks at the loss: each look waits for the device
# a cluster sends one of the latter before its time limit, SIGURG to be ignored by the shells and launchers in between
STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG)


Terms = list[tuple[Tensor, Tensor, dict[str, Tensor]]]


class Workload(Protocol):
    """What a modality brings to the loop."""

    model: nn.Module
    steps: int
    batch_size: int
    smallest_batch: int  # the last one of an epoch may be smaller
    keeps_last: bool  # the last checkpoint is the result, and a training that diverges is a result as well

    def terms(self, model: nn.Module, step: int, device: torch.device, part: int = 0, parts: int = 1) -> Terms:
        """What the objective is applied to at this step, or in one of its consecutive parts: the loss is the mean.

        Each term is two views (N, D) and what the objective takes besides. The same step always means the same batch,
        however many parts it has.
        """

    def embed(self, device: torch.device) -> np.ndarray | None:
        """The encoder's outputs for the development data, dropout off, before the head; None where there are none."""

    def select(self, vectors: np.ndarray | None, device: torch.device) -> dict[str, float]:
        """Scores on embedded development data; the first one selects the checkpoint, higher is better."""

    def measure(self, recorder: Recorder, step: int, vectors: np.ndarray | None, device: torch.device) -> None:
        """Record what development and held-out data say of the model as it is, and leave no trace in it."""

    def export(self, folder: Path) -> None:
        """Write the model in its ecosystem's format."""


class Diverged(UserError):
    """A loss, gradient or embedding that is not finite."""


def fit(
    workload: Workload,
    objective: Callable,
    settings: dict,
    device: str,
    state: Path,
    stop: "StopFlag",
    title: str = "",
) -> dict[str, object] | None:
    """Train, and leave the best checkpoint in ``state/best-<step>`` and the statistics in ``state/statistics.json``.

    settings: learning_rate, weight_decay, clip (gradient norm; None: any), precision, evaluate_every, and
    checkpoint_every to keep the checkpoints ``state/checkpoints/step-<step>`` as well. optimiser, momentum, schedule
    and warmup (in steps) are those of ``optimisers``; left out, AdamW and a learning rate that falls linearly to 0.
    State (weights, optimiser, random numbers, step, best score, statistics) is saved in ``state`` when it is due (see
    ``progress``), after any step; if it is there, training goes on from it and ends, on a CPU, in the same weights to
    the bit. Raises Diverged with the step and the cause, but where the last checkpoint counts, ends there and says
    `diverged` in the result; raises Interrupted once ``stop`` was requested and the state is saved, which takes a step,
    perhaps with its evaluation, and a save. `earlier_seconds` in the result is what earlier starts took.

    Where torchrun or accelerate started several processes, each computes a part of every batch; the objective
    gathers the views, and the mean of its gradients over the processes is the gradient of the whole batch. Only the
    first process evaluates and saves; the others return None.
    """
    place = choose_device(device)
    precision = settings["precision"]
    if precision == "fp16" and place.type != "cuda":
        raise UserError(f"precision fp16 needs a GPU, the device is '{place}'; set `precision: fp32`")
    AcceleratorState._reset_state(reset_partial_state=True)  # several runs may share this process
    accelerator = Accelerator(mixed_precision=PRECISIONS[precision], cpu=place.type == "cpu")
    device_ = accelerator.device
    group = Processes(accelerator)
    if workload.batch_size % group.count:
        raise UserError(f"batch_size {workload.batch_size} cannot be shared equally by {group.count} processes")
    if workload.smallest_batch < group.count:
        raise UserError(
            f"the last batch of an epoch has {workload.smallest_batch} examples for {group.count} processes; change "
            "`sentence.training.batch_size`, or use fewer processes"
        )
    total, keep_every = workload.steps, settings.get("checkpoint_every")
    trained = [parameter for parameter in workload.model.parameters() if parameter.requires_grad]
    clip = math.inf if settings["clip"] is None else settings["clip"]
    # the model itself is not prepared: accelerate would put its evaluations under autocast as well
    model = workload.model.to(device_)
    optimizer = optimisers.make(
        settings.get("optimiser", "adamw"),
        trained,
        settings["learning_rate"],
        settings["weight_decay"],
        settings.get("momentum", 0.0),
    )
    factor = optimisers.schedule(settings.get("schedule", "linear"), total, settings.get("warmup", 0))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    optimizer = accelerator.prepare(optimizer)
    state.mkdir(parents=True, exist_ok=True)
    progress = Progress(state, workload, optimizer, schedule, accelerator)
    generators: list[dict] = []
    for turn in (True, False):  # the first process sets aside what cannot be used, then the others read
        if group.first == turn:
            generators = progress.load(device_)
        group.wait()
    group.go_on(generators, progress.step)
    evaluated = set(evaluation_steps(total, settings["evaluate_every"]))
    recorded = recorded_steps(total, settings["evaluate_every"])
    if workload.keeps_last:
        evaluated.add(total)
        recorded.add(total)
    diverged: Diverged | None = None
    if progress.step == 0 and 0 in recorded and group.first:
        workload.measure(progress.recorder, 0, workload.embed(device_), device_)
    # (loss, largest |embedding|, gradient norm) of the steps since the last look
    health = progress.health
    started, first = time.monotonic(), progress.step
    hide = None if group.first else True
    bar = tqdm(total=total, initial=progress.step, desc=title, unit="step", disable=hide, leave=False)
    with bar:
        while progress.step < total:
            model.train()
            with accelerator.autocast():
                terms = workload.terms(model, progress.step, device_, group.rank, group.count)
            loss = sum(objective(*views, **extras) for *views, extras in terms) / len(terms)
            accelerator.backward(loss)
            group.average_gradients(trained)
            norm = accelerator.clip_grad_norm_(trained, clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            view1, view2, _ = terms[0]
            largest = torch.stack([view.detach().abs().max() for *views, _ in terms for view in views]).max()
            health.append(torch.stack([loss.detach().float(), largest.float(), norm.detach().float()]))
            if progress.step == 0 and 0 in recorded:
                progress.recorder.batch(0, gather(view1.detach()), gather(view2.detach()), float(loss.detach()))
            progress.step += 1
            bar.update()
            evaluate = progress.step in evaluated
            keep = keep_every and progress.step % keep_every == 0
            look = progress.step % CHECK_EVERY == 0 or evaluate or progress.step == total
            # several processes must stop and save at the same step, and ask each other just now and then
            asking = group.count == 1 or look
            stopping = asking and group.any(stop.requested)
            saving = stopping or (asking and group.any(group.first and progress.due()))
            if look:
                try:
                    losses, norms = examine(health, progress.step, precision, settings["learning_rate"])
                except Diverged as failure:
                    if not workload.keeps_last:
                        raise
                    diverged = failure
                    break
                progress.losses += losses
                progress.norms += norms
                health.clear()
            if progress.step in recorded:
                views = gather(view1.detach()), gather(view2.detach())
                progress.recorder.batch(progress.step, *views, float(loss.detach()))
                progress.recorder.gradients(progress.step, progress.norms, settings["clip"])
                progress.norms = []
            if group.first and keep:
                progress.export(checkpoint_folder(state, progress.step))
            if group.first and evaluate:
                vectors = workload.embed(device_)
                scores = workload.select(vectors, device_)
                if progress.step in recorded:
                    workload.measure(progress.recorder, progress.step, vectors, device_)
                may_be_best = not workload.keeps_last or progress.step == total
                progress.note(scores, schedule.get_last_lr()[0], may_be_best)
                score, loss = next(iter(scores.values())), progress.history[-1]["loss"]
                bar.set_postfix(score=f"{score:.4f}", loss=f"{loss:.4f}")
                if bar.disable:  # no terminal: a line in the log instead of a moving bar
                    speed = (progress.step - first) / (time.monotonic() - started)
                    left = (total - progress.step) / speed / 60
                    line = f"    step {progress.step}/{total}: loss {loss:.4f}, score {score:.4f}"
                    print(f"{line}, {speed:.1f} steps/s, {left:.0f} min left", file=sys.stderr, flush=True)
            if saving and progress.step < total:
                generators = group.generators()
                if group.first:
                    progress.save(generators)
            if stopping and progress.step < total:
                group.wait()  # a launcher ends all processes as soon as one leaves
                raise Interrupted(f"stopped at step {progress.step} of {total}; the state is saved in {state}")
            if evaluate:
                group.wait()
    if not group.first:
        return None
    if diverged:  # there is no better checkpoint than what is left
        progress.best_step, progress.best_score = progress.step, 0.0
        progress.export(best_folder(state, progress.step))
    progress.recorder.write(state / "statistics.json")
    return {
        **({"diverged": {"step": progress.step, "cause": str(diverged)}} if diverged else {}),
        "steps": total,
        "best_step": progress.best_step,
        "best_score": progress.best_score,
        "history": progress.history,
        "device": torch.cuda.get_device_name() if device_.type == "cuda" else device_.type,
        "processes": group.count,
        "earlier_seconds": progress.earlier_seconds,
    }


def examine(health: list[Tensor], step: int, precision: str, learning_rate: float) -> tuple[list[float], list[float]]:
    """Losses and gradient norms of the last steps; raises Diverged at the first step that is not finite.

    Looks fall on the same steps whether a training was interrupted or not, so that one that diverges ends alike.
    """
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
    return table[:, 0].tolist(), table[:, 2].tolist()


class StopFlag:
    """While it is open, the signals that ask a job to stop set a flag and do not end the process in mid-step."""

    def __init__(self):
        self.requested = False

    def __enter__(self) -> "StopFlag":
        self.here = threading.current_thread() is threading.main_thread()
        if self.here:
            self.before = {number: signal.signal(number, self.request) for number in STOP_SIGNALS}
        return self

    def request(self, *_) -> None:
        self.requested = True

    def __exit__(self, *_) -> None:
        if self.here:
            for number, handler in self.before.items():
                signal.signal(number, handler)


def seed_everything(seed: int) -> None:
    """One seed for the head's weights and the dropout masks; the order of the data has its own generator."""
    random.seed(seed)
    torch.manual_seed(seed)
