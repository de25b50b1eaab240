"""The image workload: two augmented views of every image through a framework; the last checkpoint is the result."""

import math
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import torch
from torch import nn

from clrepro.errors import UserError
from clrepro.modalities.image import frameworks, image_sets
from clrepro.modalities.image.augment import Augmentation
from clrepro.modalities.image.encoder import make_encoder, save
from clrepro.modalities.image.image_sets import ImageSet
from clrepro.modalities.image.label_shares import label_subset
from clrepro.modalities.image.pixels import Pixels
from clrepro.training import optimisers
from clrepro.training.epochs import Epochs
from clrepro.training.loop import StopFlag, Terms, fit, seed_everything
from clrepro.training.recorder import Recorder

EVALUATIONS = 10  # how often a training notes its loss and its batch's statistics, at least
LONGEST = 1000  # steps between two of them: state is saved there
# how a framework's own names for settings read in a recipe, where `momentum` is the optimiser's
SETTINGS = {
    "plain": {"symmetric": "symmetric"},
    "simclr": {"projector": "projector", "symmetric": "symmetric"},
    "moco": {"projector": "projector", "momentum": "key_momentum", "queue": "queue"},
    "nnclr": {"projector": "projector", "hidden": "predictor_hidden", "support": "support"},
}


class ImageWorkload:
    """Augmentations drawn from (seed, epoch, index, view), order from seed and epoch; no data selects a checkpoint."""

    keeps_last = True

    def __init__(self, split: ImageSet, encoder: dict, settings: dict, seed: int, anchored: bool = False):
        self.split, self.seed = split, seed
        self.batch_size, count = settings["batch_size"], len(split.labels)
        if self.batch_size > count:
            raise UserError(
                f"batch_size {self.batch_size} is larger than the {count:,} training images; raise "
                "`image.training.batch_divisor`"
            )
        classes = len(split.classes) if anchored else None
        self.model = make_model(encoder, settings, split.images.shape[1], classes)
        self.augmentation = Augmentation(settings["augmentation"], encoder["side"], encoder["statistics"])
        epochs = Epochs(count, self.batch_size)
        self.steps_per_epoch, self.smallest_batch = epochs.steps, epochs.smallest_batch
        self.steps = epochs.steps_of(settings["epochs"])
        self.labels = None
        if anchored:
            known = np.full(count, -1)
            rows = label_subset(split.labels, settings["labelled"], 0)
            known[rows] = split.labels[rows]
            self.labels = torch.from_numpy(known)
        self.orders: dict[int, np.ndarray] = {}
        self.pixels: Pixels | None = None
        self.step = 0

    def order_of(self, step: int) -> np.ndarray:
        """The images of a step; the order of an epoch is drawn from seed and epoch alone."""
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch not in self.orders:
            generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
            drawn = torch.randperm(len(self.split.labels), generator=generator).numpy()
            # the epoch before stays: at its last step this one's first images are read ahead
            self.orders = {**{known: self.orders[known] for known in self.orders if known == epoch - 1}, epoch: drawn}
        return self.orders[epoch][position * self.batch_size : (position + 1) * self.batch_size]

    def terms(self, model: nn.Module, step: int, device: torch.device, part: int = 0, parts: int = 1) -> Terms:
        if parts > 1:  # batch norm, queues and momentum weights would differ between the processes
            raise UserError("image encoders are trained by a single process; start it without torchrun")
        self.pixels = self.pixels or Pixels(self.split, device)
        self.step, epoch, rows = step + 1, step // self.steps_per_epoch, self.order_of(step)
        following = self.order_of(step + 1) if step + 1 < self.steps else None
        images = self.pixels.images(rows, following)
        view1, view2 = (self.pixels.view(images, rows, self.augmentation, self.seed, epoch, view) for view in (0, 1))
        labels = None if self.labels is None else self.labels[torch.from_numpy(rows)].to(device, non_blocking=True)
        return model(view1, view2, labels)

    def embed(self, device: torch.device) -> None:
        """Nothing: the papers choose no checkpoint, and another pass would move batch norm."""

    def select(self, vectors: None, device: torch.device) -> dict[str, float]:
        """The step itself, so that the last checkpoint is the one that is kept, as in the papers."""
        return {"last_step": float(self.step)}

    def measure(self, recorder: Recorder, step: int, vectors: None, device: torch.device) -> None:
        """Nothing: the loop records the views of training batches."""

    def export(self, folder: Path) -> None:
        save(self.model.encoder, folder)

    def close(self) -> None:
        """Read no image any more."""
        if self.pixels is not None:
            self.pixels.close()


def make_model(encoder: dict, settings: dict, channels: int, classes: int | None) -> nn.Module:
    """The framework of a recipe around a fresh encoder; classes: how many anchors it needs, or None."""
    backbone = make_encoder(encoder["architecture"], encoder["stem"], channels)
    names = SETTINGS[settings["framework"]]
    given = {name: settings[of] for name, of in names.items() if settings[of] is not None}
    if classes is not None:
        given["classes"] = classes
    model = frameworks.make(settings["framework"], backbone, **given)
    # as augmented images lie; with a single channel both orders are the same
    return model.to(memory_format=torch.channels_last) if channels > 1 else model


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
    anchored: bool = False,
) -> dict | None:
    """Train an image encoder with one seed; the last checkpoint is left in ``state/best-<step>``.

    settings: the fields of an image recipe. data: folder of the prepared image set. encoder: architecture, stem, side
    of the augmented images (None: the augmentation's), statistics that normalise them. anchored: the objective takes
    labels, of the recipe's share of rows, and orthonormal anchors. Returns what the loop returns; a training that
    diverged has `diverged` there, with step and cause, and its weights are what is left of them.
    """
    seed_everything(seed)
    workload = ImageWorkload(image_sets.load(data / "train"), encoder, settings, seed, anchored)
    rate = optimisers.scaled_learning_rate(
        settings["learning_rate"], settings["batch_size"], settings["learning_rate_rule"]
    )
    warmup = round(settings["warmup_epochs"] * workload.steps_per_epoch)
    every = min(LONGEST, math.ceil(workload.steps / EVALUATIONS))
    how = {**settings, "learning_rate": rate, "warmup": warmup, "evaluate_every": every}
    with closing(workload):
        return fit(workload, objective, how, device, state, stop, title)
