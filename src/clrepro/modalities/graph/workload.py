"""What the trainings on graphs and on molecules share: batches of two views; the last checkpoint is the result."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from clrepro.errors import UserError
from clrepro.modalities.graph.weights import save
from clrepro.training.epochs import Epochs
from clrepro.training.loop import StopFlag, Terms, fit, seed_everything
from clrepro.training.recorder import Recorder

EVALUATIONS = 20  # how often a training notes its loss and its batch's statistics, at least
LONGEST = 1000  # steps between two of them


class TwoViews:
    """A workload whose examples lie in an order that is drawn from the seed, once or in every epoch anew.

    model: encoder and head. count: of the examples. settings: the fields of a graph recipe. key: of the configuration,
    where a batch that is too large is made smaller.
    """

    keeps_last = True

    def __init__(self, model: nn.Module, count: int, settings: dict, seed: int, key: str):
        self.model, self.count, self.settings, self.seed = model, count, settings, seed
        self.batch_size = settings["batch_size"]
        if self.batch_size > count:
            raise UserError(f"batch_size {self.batch_size} is larger than the {count:,} examples; set `{key}`")
        epochs = Epochs(count, self.batch_size)
        self.steps_per_epoch, self.smallest_batch = epochs.steps, epochs.smallest_batch
        self.steps = epochs.steps_of(settings["epochs"])
        self.step, self.drawn, self.order = 0, -1, np.empty(0, int)

    def rows_of(self, step: int) -> tuple[int, np.ndarray]:
        """The epoch of a step, and its examples."""
        epoch, position = divmod(step, self.steps_per_epoch)
        drawn = epoch if self.settings["order"] == "every_epoch" else 0
        if drawn != self.drawn:
            generator = torch.Generator().manual_seed(self.seed * 1_000_003 + drawn)
            self.drawn, self.order = drawn, torch.randperm(self.count, generator=generator).numpy()
        return epoch, self.order[position * self.batch_size : (position + 1) * self.batch_size]

    def views(self, step: int, device: torch.device) -> tuple:
        """Two views of the examples of a step, as the model takes them."""
        raise NotImplementedError

    def terms(self, model: nn.Module, step: int, device: torch.device, part: int = 0, parts: int = 1) -> Terms:
        if parts > 1:  # the statistics of batch norm would differ between the processes
            raise UserError("graph encoders are trained by a single process; start it without torchrun")
        self.step = step + 1
        # one after the other: each has its own statistics of batch norm
        view1, view2 = (model(view) for view in self.views(step, device))
        return [(view1, view2, {})]

    def embed(self, device: torch.device) -> None:
        """Nothing: no checkpoint is chosen, and another pass would move batch norm."""

    def select(self, vectors: None, device: torch.device) -> dict[str, float]:
        """The step itself, so that the last checkpoint is the one that is kept, as in GraphCL."""
        return {"last_step": float(self.step)}

    def measure(self, recorder: Recorder, step: int, vectors: None, device: torch.device) -> None:
        """Nothing: the loop records the views of training batches."""

    def export(self, folder: Path) -> None:
        save(self.model.encoder, folder)


def train_encoder(
    make: Callable[[], TwoViews],
    objective: Callable,
    settings: dict,
    seed: int,
    *,
    device: str,
    state: Path,
    stop: StopFlag,
    title: str = "",
) -> dict | None:
    """Train with one seed, which draws the weights that `make` begins with.

    settings: the fields of a graph recipe. The last checkpoint is left in ``state/best-<step>``. Returns what the loop
    returns; a training that diverged has `diverged` there, with step and cause.
    """
    seed_everything(seed)
    workload = make()
    how = {**settings, "evaluate_every": min(LONGEST, math.ceil(workload.steps / EVALUATIONS))}
    return fit(workload, objective, how, device, state, stop, title)
