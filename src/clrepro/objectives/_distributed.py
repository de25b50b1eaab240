"""Global negatives: the rows of all processes, with gradients.

Every process computes the whole loss L of all rows. The gradient that reaches its own rows is then the exact dL/du of
those rows, with no second exchange; it is multiplied by the number of processes, since data-parallel training
averages parameter gradients over them. So that average is the gradient of one process with all rows.
"""

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable


def world_size() -> int:
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def lengths(rows: Tensor) -> list[int]:
    """How many rows each process holds: the last batch may not divide evenly."""
    own = torch.tensor([len(rows)], device=rows.device)
    counts = [torch.empty_like(own) for _ in range(world_size())]
    dist.all_gather(counts, own)
    return [int(count) for count in counts]


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows: Tensor) -> Tensor:
        counts = lengths(rows)
        # all_gather wants equal shapes: pad to the longest
        padded = rows.new_zeros(max(counts), *rows.shape[1:])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(parts, padded)
        start = sum(counts[: dist.get_rank()])
        ctx.own = slice(start, start + len(rows))
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> Tensor:
        return gradient[ctx.own] * world_size()


def gather(rows: Tensor) -> Tensor:
    """The rows of all processes in their order, (sum of N, ...); with one process the rows themselves."""
    return rows if world_size() == 1 else _Gather.apply(rows)
