"""Features whose classes overlap."""

import numpy as np


def noisy(count, classes=6, width=12, seed=0, noise=2.0):
    """Features (n, D) float32 whose classes overlap, and labels; some classes are rarer than others."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(classes, count, p=np.arange(1, classes + 1) / sum(range(1, classes + 1)))
    centres = np.random.default_rng(99).normal(size=(classes, width))
    return (centres[labels] + noise * rng.normal(size=(count, width))).astype(np.float32), labels
