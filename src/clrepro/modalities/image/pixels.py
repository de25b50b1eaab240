"""Images of a split on the device, as augmented views."""

import numpy as np
import torch
from torch import Tensor

from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.image_sets import ImageSet

RESIDENT_BYTES = 2 * 10**9  # an image set up to this size lies on the device as a whole


class Pixels:
    """The images of a split by index, from the device if they fit there, else a batch at a time."""

    def __init__(self, split: ImageSet, device: torch.device):
        self.split, self.device, self.resident = split, device, None
        pixels = split.images
        if isinstance(pixels, np.ndarray) and pixels.nbytes <= RESIDENT_BYTES:
            self.resident = torch.from_numpy(np.array(pixels)).to(device)

    def view(self, rows: np.ndarray, augmentation: Augmentation, seed: int, epoch: int, view: int) -> Tensor:
        """One augmented view of some images, (k, C, side, side) float32."""
        if self.resident is not None:
            chosen = self.resident[torch.from_numpy(rows).to(self.device, non_blocking=True)]
        else:
            chosen = torch.from_numpy(np.ascontiguousarray(self.split.images[rows]))
            chosen = chosen.to(self.device, non_blocking=True)
        sizes = None if self.split.sizes is None else self.split.sizes[rows]
        return augment(chosen, augmentation, seed, epoch, rows, view, sizes)
