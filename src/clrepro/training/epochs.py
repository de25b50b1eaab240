"""Epochs cut into batches: what every modality trains, and what plans price. Imports no torch."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Epochs:
    """Batches of ``batch_size`` examples; the last one of an epoch is smaller where they do not divide.

    A last batch of a single example has no negatives and is left out.
    """

    examples: int
    batch_size: int

    @property
    def steps(self) -> int:
        """Of one epoch."""
        return math.ceil(self.examples / self.batch_size) - (self.examples % self.batch_size == 1)

    @property
    def smallest_batch(self) -> int:
        return min(self.batch_size, self.examples - (self.steps - 1) * self.batch_size)

    def steps_of(self, epochs: float) -> int:
        """Of so many epochs, a part of one counts as begun; at least one."""
        return max(1, math.ceil(epochs * self.steps))
