"""An objective ready to call: checks the views and fixes the precision, then calls the pure function."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Objective:
    """A loss on two views, ready to call: ``objective(view1, view2) -> scalar``.

    view1, view2: (N, D) raw encoder outputs, row i of both being views of example i, N >= 2. The objective
    normalises as its equation does. float64 stays float64; half precision is computed in float32, also under
    autocast. State that an equation needs besides (labels, a queue's keys) is passed by keyword.
    """

    name: str
    variant: str
    params: dict[str, float]
    function: Callable

    def __call__(self, view1: Tensor, view2: Tensor, **state) -> Tensor:
        if view1.ndim != 2 or view1.shape != view2.shape or len(view1) < 2:
            raise ValueError(
                f"{self.name} needs two views of the same shape (N, D) with N >= 2, "
                f"got {tuple(view1.shape)} and {tuple(view2.shape)}"
            )
        with torch.autocast(view1.device.type, enabled=False):
            if view1.dtype in (torch.float16, torch.bfloat16):
                view1, view2 = view1.float(), view2.float()
            return self.function(view1, view2, **self.params, **state)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{key}={value:g}" for key, value in self.params.items())
        return f"{self.name}[{self.variant}]({arguments})"
