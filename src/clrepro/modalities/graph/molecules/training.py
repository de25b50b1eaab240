"""The workload of molecules: two augmented views of each through encoder and head; the last checkpoint is the result.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/pretrain_graphcl.py.
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from clrepro.errors import UserError
from clrepro.modalities.graph.molecules import storage
from clrepro.modalities.graph.molecules.augment import Augmentation
from clrepro.modalities.graph.molecules.encoder import Inputs, MoleculeEncoder, Projected, save
from clrepro.modalities.graph.molecules.storage import Molecules
from clrepro.training.loop import StopFlag, Terms, fit, seed_everything
from clrepro.training.recorder import Recorder

EVALUATIONS = 10  # how often a training notes its loss and its batch's statistics, at least
LONGEST = 1000  # steps between two of them


class MoleculeWorkload:
    """Views drawn from (seed, epoch, molecule); no data selects a checkpoint.

    encoder: width and layers. settings: the fields of a graph recipe.
    """

    keeps_last = True

    def __init__(self, molecules: Molecules, encoder: dict, settings: dict, seed: int):
        self.molecules, self.seed, self.settings = molecules, seed, settings
        self.batch_size, count = settings["batch_size"], len(molecules)
        if self.batch_size > count:
            raise UserError(
                f"batch_size {self.batch_size} is larger than the {count:,} molecules; set "
                "`graph.molecules.pretraining.batch_size`"
            )
        self.model = Projected(MoleculeEncoder(encoder["width"], encoder["layers"]))
        names = ("behaviour", "drop_share", "subgraph_share")
        self.augmentation = Augmentation(settings["augmentation"], **{name: settings[name] for name in names})
        # a last batch of a single molecule has no negatives and is left out
        self.steps_per_epoch = math.ceil(count / self.batch_size) - (count % self.batch_size == 1)
        self.smallest_batch = min(self.batch_size, count - (self.steps_per_epoch - 1) * self.batch_size)
        self.steps = max(1, math.ceil(settings["epochs"] * self.steps_per_epoch))
        self.step, self.epoch, self.order = 0, -1, np.empty(0, int)

    def order_of(self, step: int) -> np.ndarray:
        """The molecules of a step; their order is drawn from the seed, in every epoch anew or once."""
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch != self.epoch:
            drawn = epoch if self.settings["order"] == "every_epoch" else 0
            generator = torch.Generator().manual_seed(self.seed * 1_000_003 + drawn)
            self.epoch, self.order = epoch, torch.randperm(len(self.molecules), generator=generator).numpy()
        return self.order[position * self.batch_size : (position + 1) * self.batch_size]

    def terms(self, model: nn.Module, step: int, device: torch.device, part: int = 0, parts: int = 1) -> Terms:
        if parts > 1:  # the statistics of batch norm would differ between the processes
            raise UserError("encoders of molecules are trained by a single process; start it without torchrun")
        self.step, rows = step + 1, self.order_of(step)
        batch = self.molecules.batch(rows)
        numbers = (0,) if self.settings["identical_views"] else (0, 1)
        views = [self.augmentation.view(batch, rows, self.seed, self.epoch, number) for number in numbers]
        inputs = [Inputs.of(view, device) for view in views]
        # one after the other: each has its own statistics of batch norm
        view1, view2 = model(inputs[0]), model(inputs[-1])
        return [(view1, view2, {})]

    def embed(self, device: torch.device) -> None:
        """Nothing: no checkpoint is chosen, and another pass would move batch norm."""

    def select(self, vectors: None, device: torch.device) -> dict[str, float]:
        """The step itself, so that the last checkpoint is the one that is kept."""
        return {"last_step": float(self.step)}

    def measure(self, recorder: Recorder, step: int, vectors: None, device: torch.device) -> None:
        """Nothing: the loop records the views of training batches."""

    def export(self, folder: Path) -> None:
        save(self.model.encoder, folder)


def train_encoder(
    objective: Callable,
    settings: dict,
    seed: int,
    *,
    data: Path,
    encoder: dict,
    device: str,
    state: Path,
    stop: StopFlag,
    title: str = "",
) -> dict | None:
    """Pre-train an encoder with one seed; the last checkpoint is left in ``state/best-<step>``.

    settings: the fields of a graph recipe. data: folder of the prepared molecules. Returns what the loop returns; a
    training that diverged has `diverged` there, with step and cause.
    """
    seed_everything(seed)
    workload = MoleculeWorkload(storage.load(data), encoder, settings, seed)
    how = {**settings, "evaluate_every": min(LONGEST, math.ceil(workload.steps / EVALUATIONS))}
    return fit(workload, objective, how, device, state, stop, title)
