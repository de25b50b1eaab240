"""An objective ready to call: checks the views, gathers processes, fixes the precision, calls the pure function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clrepro.objectives._distributed import gather, world_size


@dataclass(frozen=True)
class Objective:
    """A loss on two views, ready to call: ``objective(view1, view2) -> scalar``.

    view1, view2: (N, D) raw encoder outputs, row i of both being views of example i, N >= 2. The objective
    normalises as its equation does. float64 stays float64; half precision is computed in float32, also under
    autocast. State that an equation needs besides is passed by keyword: labels (N,), a queue's keys (K, D).

    Under torch.distributed with several processes, the views (and labels) of all of them form one batch: every
    process gets the loss of the whole, and the mean over the processes of the parameters' gradients is its gradient.
    """

    name: str
    variant: str
    params: dict[str, Any]
    function: Callable

    def __call__(self, view1: Tensor, view2: Tensor, **state: Tensor) -> Tensor:
        if view1.ndim != 2 or view1.shape != view2.shape:
            raise ValueError(
                f"{self.name} needs two views of the same shape (N, D), "
                f"got {tuple(view1.shape)} and {tuple(view2.shape)}"
            )
        if world_size() > 1:
            view1, view2 = gather(view1), gather(view2)
            if "labels" in state:
                state["labels"] = gather(state["labels"])
        if len(view1) < 2:
            raise ValueError(f"{self.name} needs two views of at least two rows, got {tuple(view1.shape)}")
        if view1.dtype in (torch.float16, torch.bfloat16):
            view1, view2 = view1.float(), view2.float()
        state = {key: value.to(view1.dtype) if value.is_floating_point() else value for key, value in state.items()}
        if not torch.is_autocast_enabled(view1.device.type):
            return self.function(view1, view2, **self.params, **state)
        with torch.autocast(view1.device.type, enabled=False):
            return self.function(view1, view2, **self.params, **state)

    def __repr__(self) -> str:
        arguments = ", ".join(
            f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in self.params.items()
        )
        return f"{self.name}[{self.variant}]({arguments})"
