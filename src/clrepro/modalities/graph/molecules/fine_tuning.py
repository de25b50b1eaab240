"""Fine-tuning of an encoder of molecules on a set with properties, and its scores.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/finetune.py.
"""

import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from clrepro.errors import UserError
from clrepro.modalities.graph.molecules.encoder import Inputs, MoleculeEncoder
from clrepro.modalities.graph.molecules.storage import Molecules
from clrepro.training.resuming import Resumable

LINES = 50  # of a log, in a whole training
TESTED = 256  # molecules in a batch of a test


class Classifier(nn.Module):
    """An encoder with one linear layer: Inputs -> (B, tasks) logits."""

    def __init__(self, encoder: MoleculeEncoder, tasks: int, dropout: float):
        super().__init__()
        self.encoder = encoder
        self.encoder.dropout = dropout
        self.head = nn.Linear(encoder.width, tasks)

    def forward(self, inputs: Inputs, generator: torch.Generator | None = None) -> Tensor:
        return self.head(self.encoder(inputs, generator))


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean binary cross entropy in double precision over the labels (B, T) that are there: 1 or -1; 0 is missing."""
    logits, known = logits.double(), labels != 0
    each = functional.binary_cross_entropy_with_logits(logits, (labels.double() + 1) / 2, reduction="none")
    return torch.where(known, each, 0.0).sum() / known.sum().clamp(min=1)


def roc_auc(logits: np.ndarray, labels: np.ndarray) -> float | None:
    """Percent: the mean over the tasks of the area under the ROC curve of their labels that are there.

    Tasks without both classes are left out; None where no task has both.
    """
    found = []
    for task in range(labels.shape[1]):
        known = labels[:, task] != 0
        truth = labels[known, task] > 0
        if truth.any() and not truth.all():
            found.append(roc_auc_score(truth, logits[known, task]))
    return 100 * float(np.mean(found)) if found else None


def order_of(rows: np.ndarray, epoch: int, seed: int) -> np.ndarray:
    """The rows in the order of an epoch, which follows from it and the seed alone."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    return rows[torch.randperm(len(rows), generator=generator).numpy()]


def fine_tune(
    model: Classifier, molecules: Molecules, rows: np.ndarray, settings: dict, seed: int, state: Path, stop
) -> list[float]:
    """Fine-tune on some rows, on the device where the model is; returns the loss of every step.

    settings: epochs, batch_size, learning_rate of Adam. Everything that a step draws follows from ``seed`` and its
    number. The state is saved in ``state`` every few minutes and once ``stop`` was requested, which raises Interrupted;
    if it is there, training goes on from it and ends, on a CPU, in the same weights to the bit.
    """
    size = settings["batch_size"]
    steps_per_epoch = math.ceil(len(rows) / size)
    total = settings["epochs"] * steps_per_epoch
    device = next(model.parameters()).device
    optimiser = torch.optim.Adam(model.parameters(), settings["learning_rate"], fused=device.type in ("cpu", "cuda"))
    kept = Resumable(state, model, optimiser, stop)
    losses, first = kept.losses, kept.step
    if first == total:
        return losses
    started = time.monotonic()
    order = np.empty(0, int)
    model.train()
    with tqdm(total=total, initial=first, desc="fine-tune", unit="step", disable=None, leave=False) as bar:
        for step in range(first, total):
            kept.between_steps(step, total)
            epoch, place = divmod(step, steps_per_epoch)
            if place == 0 or step == first:
                order = order_of(rows, epoch, seed)
            part = order[place * size : (place + 1) * size]
            losses.append(update(model, optimiser, molecules, part, seed * 1_000_003 + step))
            if not math.isfinite(losses[-1]):
                raise UserError(
                    f"fine-tuning diverged at step {step}, the loss is {losses[-1]}: lower `learning_rate` in the "
                    "evaluation's settings"
                )
            bar.update()
            if bar.disable and len(losses) % math.ceil(total / LINES) == 0:  # no terminal: lines in the log
                speed = (len(losses) - first) / (time.monotonic() - started)
                left = (total - len(losses)) / speed / 60
                line = f"    step {len(losses)}/{total}: loss {losses[-1]:.3f}, {speed:.1f}/s, {left:.0f} min left"
                print(line, file=sys.stderr, flush=True)
    kept.save(total)
    return losses


def update(
    model: Classifier, optimiser: torch.optim.Optimizer, molecules: Molecules, rows: np.ndarray, seed: int
) -> float:
    """One step of training; its loss. A batch of a single atom, which batch norm cannot take, changes nothing."""
    batch = molecules.batch(rows)
    if len(batch.atoms) == 1:
        return 0.0
    device = next(model.parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    logits = model(Inputs.of(batch, device), generator)
    loss = loss_of(logits.cpu(), torch.from_numpy(molecules.labels[rows]))  # not every GPU has double precision
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss.item()


@torch.no_grad()
def logits_of(model: Classifier, molecules: Molecules, rows: np.ndarray) -> np.ndarray:
    """(len(rows), T) in evaluation mode."""
    model.eval()
    device = next(model.parameters()).device
    parts = [rows[start : start + TESTED] for start in range(0, len(rows), TESTED)]
    return np.concatenate([model(Inputs.of(molecules.batch(part), device)).cpu().double().numpy() for part in parts])
