"""Fixed orthonormal anchors, one a class (oar2024, section 3)."""

import torch
from torch import Tensor


def orthonormal_anchors(classes: int, width: int, seed: int = 0) -> Tensor:
    """(classes, width) orthonormal rows in float64; classes <= width."""
    if classes > width:
        raise ValueError(f"{classes} classes need as many orthonormal anchors, embeddings have only {width} dimensions")
    gaussian = torch.randn(width, classes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.linalg.qr(gaussian).Q.T.contiguous()
