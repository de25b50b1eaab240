"""Features of images: each image once per encoder, as a test shows it; and the images, for probes that need them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.evaluation.linear_probe import Batches
from clrepro.modalities.image.augment import Augmentation
from clrepro.modalities.image.image_sets import ImageSet
from clrepro.modalities.image.pixels import Pixels

BATCH = 512  # images that are embedded at once


@dataclass(frozen=True)
class Images:
    """The images of both splits, how tests show them, and the encoder of a run; for probes beyond stored features."""

    encoder: Callable[[], nn.Module]
    splits: dict[str, ImageSet]
    augmentation: Augmentation
    device: torch.device

    def steps_per_epoch(self, batch_size: int) -> int:
        return math.ceil(len(self.splits["train"].labels) / batch_size)

    def augmented(self, name: str, batch_size: int) -> Callable[..., Iterator[tuple[Tensor, Tensor]]]:
        """Batches of features of training images that are augmented every epoch anew, by another augmentation."""
        augmentation = replace(
            self.augmentation, name=name, side=self.augmentation.output_side(*self.splits["train"].images.shape[2:])
        )
        return augmented(self.encoder(), self.splits["train"], augmentation, batch_size, self.device)

    def shuffled(self, rows: np.ndarray, batch_size: int, seed: int = 0) -> Batches:
        """Batches of these training images as tests show them."""
        return shuffled(self.splits["train"], rows, self.augmentation, batch_size, self.device, seed)

    def in_order(self, split: str, rows: np.ndarray | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of images of a split, all of them or these rows, as tests show them."""
        return in_order(self.splits[split], rows, self.augmentation, self.device)


def in_order(
    split: ImageSet, rows: np.ndarray | None, augmentation: Augmentation, device: torch.device
) -> Iterator[tuple[Tensor, Tensor]]:
    """(images, labels) on the device, all of a split or these rows."""
    pixels, labels = Pixels(split, device), labels_of(split, device)
    rows = np.arange(len(labels)) if rows is None else rows
    for part, images in pixels.batches(pieces(rows)):
        yield pixels.view(images, part, augmentation, 0, 0, 0), labels[torch.from_numpy(part).to(device)]


def shuffled(
    split: ImageSet, rows: np.ndarray, augmentation: Augmentation, batch_size: int, device: torch.device, seed: int = 0
) -> Batches:
    """Batches of (images, labels) of these rows, drawn and shown every epoch anew, in the order of `linear_probe`."""
    pixels, labels = Pixels(split, device), labels_of(split, device)

    def epoch_of(epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        for part, images in pixels.batches(drawn(rows, batch_size, seed, epoch)):
            yield pixels.view(images, part, augmentation, seed, epoch, 0), labels[torch.from_numpy(part).to(device)]

    return epoch_of


def drawn(rows: np.ndarray, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """The rows of every batch of an epoch."""
    numbers = torch.Generator().manual_seed(1_000_003 * seed + epoch)
    return [rows[part.numpy()] for part in torch.randperm(len(rows), generator=numbers).split(batch_size)]


def pieces(rows: np.ndarray) -> list[np.ndarray]:
    """Rows in pieces that are embedded at once."""
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]


def labels_of(split: ImageSet, device: torch.device) -> Tensor:
    return torch.from_numpy(np.array(split.labels, np.int64)).to(device)


@torch.no_grad()
def embed(encoder: nn.Module, split: ImageSet, augmentation: Augmentation, device: torch.device) -> np.ndarray:
    """Features (n, width) float32 of all images of a split as tests show them, batch norm at rest."""
    encoder = encoder.to(device).eval()
    shown = in_order(split, None, augmentation, device)
    return np.concatenate([encoder(images).float().cpu().numpy() for images, _ in shown])


def augmented(
    encoder: nn.Module,
    split: ImageSet,
    augmentation: Augmentation,
    batch_size: int,
    device: torch.device,
    seed: int = 0,
) -> Callable[..., Iterator[tuple[Tensor, Tensor]]]:
    """Batches of features of freshly augmented images, every epoch in an order of its own; batch norm at rest.

    epoch_of(epoch, first) leaves out the batches of the epoch before this one. Large batches are embedded in pieces.
    """
    encoder = encoder.to(device).eval()
    pixels, labels = Pixels(split, device), labels_of(split, device)

    def epoch_of(epoch: int, first: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        batches = drawn(np.arange(len(labels)), batch_size, seed, epoch)[first:]
        shown = pixels.batches([piece for batch in batches for piece in pieces(batch)])
        for batch in batches:
            features = []
            for rows, images in islice(shown, len(pieces(batch))):
                with torch.no_grad():
                    features.append(encoder(pixels.view(images, rows, augmentation, seed, epoch, 0)).float())
            yield torch.cat(features), labels[torch.from_numpy(batch).to(device)]

    return epoch_of


def augmentation_of_tests(of_training: str, encoder: dict) -> Augmentation:
    """How images are shown to a trained encoder: as a whole, on the side of its training; ImageNet's by its centre."""
    side = Augmentation(of_training, encoder["side"], encoder["statistics"]).operations.side
    name = "test_centre" if encoder["statistics"] == "imagenet" else "test"
    return Augmentation(name, encoder["side"] or side, encoder["statistics"])
