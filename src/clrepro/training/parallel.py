"""Several processes that train one model: each has a part of every batch, all have the same weights."""

import random

import numpy as np
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
        """Other dropout masks in every process; the first one keeps the masks that it has on its own."""
        if not self.first:
            torch.manual_seed(torch.initial_seed() + 1_000_003 * step + self.rank)

    def generators(self) -> list[dict]:
        """The random numbers of every process, by rank; all must ask."""
        own = read_generators(self.accelerator.device)
        if self.count == 1:
            return [own]
        every: list[dict] = [{}] * self.count
        torch.distributed.all_gather_object(every, own)
        return every

    def go_on(self, saved: list[dict], step: int) -> None:
        """Continue with the saved random numbers, if there are as many processes as then; else draw other masks."""
        if len(saved) == self.count:
            write_generators(saved[self.rank], self.accelerator.device)
        else:
            if saved and self.first:
                write_generators(saved[0], self.accelerator.device)
            self.vary_dropout(step)

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


def read_generators(device: torch.device) -> dict:
    """The states of all generators of random numbers that an objective or a workload may use."""
    kind, numbers, *rest = np.random.get_state()
    found = {"torch": torch.get_rng_state(), "python": random.getstate(), "numpy": (kind, numbers.tolist(), *rest)}
    if device.type != "cpu":
        found[device.type] = getattr(torch, device.type).get_rng_state()
    return found


def write_generators(saved: dict, device: torch.device) -> None:
    torch.set_rng_state(saved["torch"])
    random.setstate(saved["python"])
    kind, numbers, *rest = saved["numpy"]
    np.random.set_state((kind, np.array(numbers, np.uint32), *rest))
    if device.type in saved:
        getattr(torch, device.type).set_rng_state(saved[device.type])
