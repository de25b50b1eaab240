"""Features of images: each image once per encoder, as a test shows it."""

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.data.augment import Recipe, augment
from clrepro.data.images import ImageSet

RESIDENT_BYTES = 2 * 10**9  # an image set up to this size lies on the device as a whole
BATCH = 512  # images that are embedded at once


class Pixels:
    """The images of a split by index, from the device if they fit there, else a batch at a time."""

    def __init__(self, split: ImageSet, device: torch.device):
        self.split, self.device, self.resident = split, device, None
        pixels = split.images
        if isinstance(pixels, np.ndarray) and pixels.nbytes <= RESIDENT_BYTES:
            self.resident = torch.from_numpy(np.array(pixels)).to(device)

    def view(self, rows: np.ndarray, recipe: Recipe, seed: int, epoch: int, view: int) -> Tensor:
        """One augmented view of some images, (k, C, side, side) float32."""
        if self.resident is not None:
            chosen = self.resident[torch.from_numpy(rows).to(self.device)]
        else:
            chosen = torch.from_numpy(np.ascontiguousarray(self.split.images[rows])).to(self.device)
        sizes = None if self.split.sizes is None else self.split.sizes[rows]
        return augment(chosen, recipe, seed, epoch, rows, view, sizes)


@torch.no_grad()
def embed(encoder: nn.Module, split: ImageSet, recipe: Recipe, device: torch.device) -> np.ndarray:
    """Features (n, width) float32 of all images of a split as a test recipe shows them, batch norm at rest."""
    encoder = encoder.to(device).eval()
    pixels, rows = Pixels(split, device), np.arange(len(split.labels))
    parts = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    return np.concatenate([encoder(pixels.view(part, recipe, 0, 0, 0)).float().cpu().numpy() for part in parts])


def test_recipe(augmentation: str, encoder: dict) -> Recipe:
    """How images are shown to a trained encoder: as a whole, on the side of its training; ImageNet's by its centre."""
    side = Recipe(augmentation, encoder["side"], encoder["statistics"]).settings.side
    name = "test_centre" if encoder["statistics"] == "imagenet" else "test"
    return Recipe(name, encoder["side"] or side, encoder["statistics"])
