"""State that stays outside the equations: MoCo's queue of keys, and NNCLR's support set, which is the same queue.

queue = KeyQueue(size, width)
loss = objective(queries, keys, queue=queue.keys)      # MoCo: the queue's rows are the negatives
loss = objective(queue.nearest(view1), view2)          # NNCLR: the nearest neighbour is the positive's other view
queue.push(keys)                                       # after the loss
"""

import torch
from torch import Tensor

from clrepro.objectives._distributed import gather
from clrepro.objectives._similarity import normalise


class KeyQueue:
    """The last `size` keys, first in, first out; at first unit Gaussian vectors (He et al. 2020; Dwibedi et al. 2021).

    keys: (size, width) unit rows without gradient. Under several processes all of them push all keys, in the
    processes' order, so that their queues stay equal.
    """

    def __init__(self, size: int, width: int, seed: int = 0, device: torch.device | str = "cpu"):
        generator = torch.Generator().manual_seed(seed)
        self.keys = normalise(torch.randn(size, width, generator=generator)).to(device)
        self.position = 0

    @torch.no_grad()
    def push(self, keys: Tensor) -> None:
        """Replace the oldest rows by (N, width) new ones."""
        rows = normalise(gather(keys).to(self.keys.dtype))[-len(self.keys) :]  # half precision overflows in norms
        places = (self.position + torch.arange(len(rows), device=self.keys.device)) % len(self.keys)
        # a copy: the old tensor may be kept for a backward pass that has not run yet
        self.keys = self.keys.index_copy(0, places, rows)
        self.position = (self.position + len(rows)) % len(self.keys)

    @torch.no_grad()
    def nearest(self, view: Tensor) -> Tensor:
        """(N, width): the queue's row with the largest cosine to each row of the view, without gradient."""
        return self.keys[(normalise(view.to(self.keys.dtype)) @ self.keys.T).argmax(1)].to(view.dtype)

    def state_dict(self) -> dict[str, object]:
        return {"keys": self.keys, "position": self.position}

    def load_state_dict(self, state: dict[str, object]) -> None:
        self.keys, self.position = state["keys"].to(self.keys.device), state["position"]
