"""Pre-training on molecules: two augmented views of each through encoder and head.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/pretrain_graphcl.py.
"""

import math
from collections.abc import Callable
from pathlib import Path

import torch

from clrepro.modalities.graph.molecules import storage
from clrepro.modalities.graph.molecules.augment import Augmentation
from clrepro.modalities.graph.molecules.encoder import Inputs, MoleculeEncoder, Projected
from clrepro.modalities.graph.molecules.storage import Molecules
from clrepro.modalities.graph.workload import TwoViews
from clrepro.training.loop import StopFlag, fit, seed_everything

EVALUATIONS = 10  # how often a training notes its loss and its batch's statistics, at least
LONGEST = 1000  # steps between two of them


class MoleculeWorkload(TwoViews):
    """Views drawn from (seed, epoch, molecule). encoder: width and layers. settings: the fields of a graph recipe."""

    def __init__(self, molecules: Molecules, encoder: dict, settings: dict, seed: int):
        model = Projected(MoleculeEncoder(encoder["width"], encoder["layers"]))
        super().__init__(model, len(molecules), settings, seed, "graph.molecules.pretraining.batch_size")
        self.molecules, self.augmentation = molecules, Augmentation.of(settings)

    def views(self, step: int, device: torch.device) -> tuple[Inputs, Inputs]:
        """With `identical_views` both are the same."""
        epoch, rows = self.rows_of(step)
        batch = self.molecules.batch(rows)
        numbers = (0,) if self.settings["identical_views"] else (0, 1)
        found = [self.augmentation.view(batch, rows, self.seed, epoch, number) for number in numbers]
        inputs = [Inputs.of(view, device) for view in found]
        return inputs[0], inputs[-1]


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
