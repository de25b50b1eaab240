"""Images of a split on the device, as augmented views; those that are read from disk are read ahead."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.image_sets import ImageSet

RESIDENT_BYTES = 2 * 10**9  # an image set up to this size lies on the device as a whole


@dataclass(frozen=True)
class Batch:
    """Images of some rows while they are read: uint8 (k, C, H, W), complete once every part is done."""

    rows: np.ndarray
    images: np.ndarray
    parts: list[Future]


class Pixels:
    """The images of a split by index, from the device if they fit there, else a batch at a time.

    Those of a batch are read, which decodes photographs, in as many threads as torch has; meanwhile the batch before
    is in use.
    """

    def __init__(self, split: ImageSet, device: torch.device):
        self.split, self.device, self.resident = split, device, None
        self.ahead: Batch | None = None
        pixels = split.images
        if isinstance(pixels, np.ndarray) and pixels.nbytes <= RESIDENT_BYTES:
            self.resident = torch.from_numpy(np.array(pixels)).to(device)
        else:
            self.threads = ThreadPoolExecutor(torch.get_num_threads(), "images")

    def images(self, rows: np.ndarray, following: np.ndarray | None = None) -> Tensor:
        """Images of these rows, uint8 (k, C, H, W); following: the rows that are asked for next, None: unknown."""
        if self.resident is not None:
            return self.resident[torch.from_numpy(rows).to(self.device, non_blocking=True)]
        known = self.ahead is not None and np.array_equal(self.ahead.rows, rows)
        batch = self.ahead if known else self.begin(rows)
        self.ahead = None if following is None else self.begin(following)
        for part in batch.parts:
            part.result()
        return torch.from_numpy(batch.images).to(self.device, non_blocking=True)

    def begin(self, rows: np.ndarray) -> Batch:
        """Read a batch in the background; Pillow lets other threads work while it decodes."""
        images = np.empty((len(rows), *self.split.images.shape[1:]), np.uint8)

        def read(place: int) -> None:
            images[place] = self.split.images[rows[place]]

        return Batch(rows, images, [self.threads.submit(read, place) for place in range(len(rows))])

    def batches(self, parts: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, Tensor]]:
        """(rows, images) of one part after the other."""
        try:
            for rows, following in zip(parts, [*parts[1:], None], strict=True):
                yield rows, self.images(rows, following)
        finally:
            self.close()

    def view(
        self, images: Tensor, rows: np.ndarray, augmentation: Augmentation, seed: int, epoch: int, view: int
    ) -> Tensor:
        """One augmented view of the images of these rows, (k, C, side, side) float32."""
        sizes = None if self.split.sizes is None else self.split.sizes[rows]
        return augment(images, augmentation, seed, epoch, rows, view, sizes)

    def close(self) -> None:
        """Give up what is read ahead: the interpreter would wait for it before it ends."""
        for part in self.ahead.parts if self.ahead else ():
            part.cancel()
        self.ahead = None
