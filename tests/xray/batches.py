"""Batches of views, and the components of a loss on them."""

import numpy as np
import torch

from clrepro.objectives import make
from clrepro.xray import decompose


def batch(seed: int, number: int = 9, dimensions: int = 40, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Raw views around a common direction: some anchors dissipate, some do not."""
    numbers = np.random.default_rng(seed)
    common = 1.2 * numbers.normal(size=dimensions)
    first = common + numbers.normal(size=(number, dimensions))
    second = first + noise * np.linspace(0.2, 3, number)[:, None] * numbers.normal(size=first.shape)
    return first, second


def split(name: str, variant: str | None, first: np.ndarray, second: np.ndarray, **params):
    parts = decompose(make(name, variant, **params), torch.from_numpy(first), torch.from_numpy(second))
    return [part.numpy() for part in parts]
