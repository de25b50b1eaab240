"""Several processes that train one model: each has a part of every batch, all have the same weights."""

import torch
from accelerate import Accelerator
from torch import nn


class Processes:
    """The processes of one training, started by torchrun or accelerate; a single one where nothing started more.

    ``rank`` is this process's number, ``count`` how many there are. Only the first one evaluates, saves and prints.
    """

    def __init__(self, accelerator: Accelerator):
        self.accelerator = accelerator
        self.rank, self.count = accelerator.process_index, accelerator.num_processes

    @property
    def first(self) -> bool:
        return self.rank == 0

    def wait(self) -> None:
        self.accelerator.wait_for_everyone()

    def vary_dropout(self, step: int) -> None:
        """Other dropout masks in every process; the first one keeps the masks that it has on its own.

        A resumed training draws new masks in all processes but the first, whose generator alone is saved.
        """
        if not self.first:
            torch.manual_seed(torch.initial_seed() + 1_000_003 * step + self.rank)

    def average_gradients(self, parameters: list[nn.Parameter]) -> None:
        """Replace every gradient by its mean over the processes, in one exchange."""
        if self.count == 1:
            return
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        torch.distributed.all_reduce(flat)
        flat /= self.count
        parts = flat.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def any(self, flag: bool) -> bool:
        """Whether any process raised its flag; all must ask."""
        if self.count == 1:
            return flag
        flags = torch.tensor(int(flag), device=self.accelerator.device)
        torch.distributed.all_reduce(flags)
        return bool(flags)
