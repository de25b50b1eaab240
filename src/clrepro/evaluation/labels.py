"""Labels of the splits of a set."""

import numpy as np
from torch import Tensor


def class_count(*splits: np.ndarray | Tensor) -> int:
    """How many classes there are: one for every label from 0 to the largest that occurs in any split."""
    return max(int(labels.max()) for labels in splits) + 1
