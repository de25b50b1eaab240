"""Features of images: each image once per encoder, as a test shows it."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.data.augment import Recipe
from clrepro.data.images import ImageSet
from clrepro.data.pixels import Pixels
from clrepro.evaluation.linear_probe import Batches

BATCH = 512  # images that are embedded at once


@torch.no_grad()
def embed(encoder: nn.Module, split: ImageSet, recipe: Recipe, device: torch.device) -> np.ndarray:
    """Features (n, width) float32 of all images of a split as a test recipe shows them, batch norm at rest."""
    encoder = encoder.to(device).eval()
    pixels, rows = Pixels(split, device), np.arange(len(split.labels))
    parts = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    return np.concatenate([encoder(pixels.view(part, recipe, 0, 0, 0)).float().cpu().numpy() for part in parts])


def augmented(
    encoder: nn.Module, split: ImageSet, recipe: Recipe, batch_size: int, device: torch.device, seed: int = 0
) -> Batches:
    """Batches of features of freshly augmented images, every epoch in an order of its own; batch norm at rest."""
    encoder = encoder.to(device).eval()
    pixels, labels = Pixels(split, device), torch.from_numpy(np.array(split.labels, np.int64)).to(device)

    def epoch_of(epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        numbers = torch.Generator().manual_seed(1_000_003 * seed + epoch)
        for rows in torch.randperm(len(labels), generator=numbers).split(batch_size):
            with torch.no_grad():
                features = encoder(pixels.view(rows.numpy(), recipe, seed, epoch, 0))
            yield features.float(), labels[rows.to(device)]

    return epoch_of


def recipe_of_tests(augmentation: str, encoder: dict) -> Recipe:
    """How images are shown to a trained encoder: as a whole, on the side of its training; ImageNet's by its centre."""
    side = Recipe(augmentation, encoder["side"], encoder["statistics"]).settings.side
    name = "test_centre" if encoder["statistics"] == "imagenet" else "test"
    return Recipe(name, encoder["side"] or side, encoder["statistics"])
