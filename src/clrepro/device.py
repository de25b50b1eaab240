"""Which device computes."""

import torch

from clrepro.errors import UserError, unknown


def choose_device(device: str) -> torch.device:
    """auto: a GPU where there is one, then Apple's, then the CPU."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if device not in ("cpu", "cuda", "mps"):
        raise unknown("device", device, ("auto", "cpu", "cuda", "mps"))
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device: 'cuda' is not available on this machine; use `device: auto` or `device: cpu`")
    return torch.device(device)
