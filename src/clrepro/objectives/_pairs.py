"""What the objectives share on all pairs of rows: sums of exponentials, weights and hardest negatives.

A batch has N x N cosines (2N x 2N with both views as anchors). They are computed in blocks of rows, and all that is
kept of them are the softmax weights, where the gradient needs them. ``excluded`` names the diagonals that are no
negatives: 0 is the pair (i, i), k the pair (i, i + k).
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clrepro.objectives._similarity import with_gradient_of

BLOCK = 1 << 20  # entries of a block: small enough to stay in a processor's cache, 8 MB in float64
CUDA_BLOCK = 1 << 26  # a GPU wants large blocks: fewer launches


def similarity_blocks(anchors: Tensor, keys: Tensor, excluded: tuple[int, ...]) -> Iterator[tuple[slice, Tensor]]:
    """(rows, anchors[rows] @ keys.T) with -inf on the excluded diagonals; the block is the caller's to change."""
    size = max(1, (CUDA_BLOCK if anchors.is_cuda else BLOCK) // len(keys))
    for start in range(0, len(anchors), size):
        rows = slice(start, start + size)
        block = anchors[rows] @ keys.T
        for offset in excluded:
            block.diagonal(start + offset).fill_(float("-inf"))
        yield rows, block


def softmax_blocks(
    anchors: Tensor, keys: Tensor, temperature: float | Tensor, excluded: tuple[int, ...]
) -> tuple[Tensor, list[Tensor]]:
    """(A,) log sum_j exp(s_ij / tau), and the softmax weights of the same rows as blocks of rows (a, K)."""
    sums, weights = [], []
    for _, block in similarity_blocks(anchors / temperature, keys, excluded):
        weights.append(block.softmax(1))
        # the log of the sum from the largest entry and its weight: no second pass over the exponentials
        sums.append(block.amax(1) - weights[-1].amax(1).log_())
    return torch.cat(sums), weights


class _LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, anchors: Tensor, keys: Tensor, temperature: float | Tensor, excluded: tuple[int, ...]) -> Tensor:
        sums, weights = softmax_blocks(anchors, keys, temperature, excluded)
        ctx.temperature = temperature
        ctx.save_for_backward(anchors, keys, *weights)
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        anchors, keys, *weights = ctx.saved_tensors
        scale = (gradient / ctx.temperature).unsqueeze(1)
        to_anchors = to_keys = to_temperature = None
        if ctx.needs_input_grad[0] or ctx.needs_input_grad[2]:
            to_anchors = torch.cat([block @ keys for block in weights]).mul_(scale)
            if ctx.needs_input_grad[2]:
                to_temperature = -(anchors * to_anchors).sum() / ctx.temperature
        if ctx.needs_input_grad[1]:
            to_keys, scaled = torch.zeros_like(keys), anchors * scale
            start = 0
            for block in weights:
                to_keys.addmm_(block.T, scaled[start : start + len(block)])
                start += len(block)
        return to_anchors, to_keys, to_temperature, None


def log_sum_exp(anchors: Tensor, keys: Tensor, temperature: float | Tensor, excluded: tuple[int, ...] = (0,)) -> Tensor:
    """(A,): log sum_j exp(anchors_i . keys_j / tau), over the pairs that are not excluded; tau may be learned."""
    return _LogSumExp.apply(anchors, keys, temperature, excluded)


@torch.no_grad()
def pair_weights(
    anchors: Tensor, keys: Tensor, temperature: float, power: int | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Log of every row's total weight, (N,), and the weights over j != i that sum to 1, as blocks of rows (n, N).

    The weight of the pair (i, j) is exp(s_ij / tau), or max(s_ij, 1e-4)^power where a power is given.
    """
    if power is None:
        return softmax_blocks(anchors, keys, temperature, (0,))
    sums, weights = [], []
    for rows, block in similarity_blocks(anchors, keys, ()):
        block.clamp_(min=1e-4).diagonal(rows.start).zero_()
        # relative to the row's largest: a high power of small cosines alone would vanish
        largest = block.amax(1, keepdim=True)
        block = block.div_(largest).pow_(power)
        block.diagonal(rows.start).zero_()  # 0 to the power of 0 is 1
        totals = block.sum(1, keepdim=True)
        sums.append((totals.log() + power * largest.log()).squeeze(1))
        weights.append(block.div_(totals))
    return torch.cat(sums), weights


@torch.no_grad()
def attend(
    anchors: Tensor, keys: Tensor, values: Tensor, temperature: float, power: int | None = None
) -> tuple[Tensor, Tensor]:
    """Log of every row's total weight, (N,), and the weighted means of the values, (N, D); without gradient."""
    sums, weights = pair_weights(anchors, keys, temperature, power)
    return sums, torch.cat([block @ values for block in weights])


@torch.no_grad()
def hardest(anchors: Tensor, keys: Tensor, excluded: tuple[int, ...] = (0,)) -> Tensor:
    """(N,) int64: the row of the key with the largest cosine to each anchor, the excluded ones left out."""
    return torch.cat([block.argmax(1) for _, block in similarity_blocks(anchors, keys, excluded)])


def decoupled(unit1: Tensor, unit2: Tensor, temperature: float | Tensor, queue: Tensor | None = None) -> Tensor:
    """v_i = log sum_{j != i} exp(s_ij / tau) - s_ii / tau: (N,), anchors in view 1, negatives across the views.

    The positive's probability is sigmoid(-v_i): InfoNCE is the mean of softplus(v), DCL that of v. With a queue
    (K, D) its rows are the negatives, and view 2, the momentum encoder's keys, is a constant like them.
    """
    if queue is not None:
        unit2 = unit2.detach()
    positives = torch.linalg.vecdot(unit1, unit2) / temperature
    if queue is not None:
        return log_sum_exp(unit1, queue.detach(), temperature, ()) - positives
    return log_sum_exp(unit1, unit2, temperature) - positives


def decoupled_both(unit1: Tensor, unit2: Tensor, temperature: float | Tensor) -> Tensor:
    """v of 2N anchors, (2N,): the rows of both views, each against the 2N - 2 rows that are not of its example."""
    count = len(unit1)
    rows = torch.cat([unit1, unit2])
    positives = torch.linalg.vecdot(unit1, unit2).repeat(2) / temperature
    return log_sum_exp(rows, rows, temperature, (0, count, -count)) - positives


def reduced(values: Tensor, reduction: str) -> Tensor:
    """The mean over the anchors, or their sum: the same minimum, and with SGD another axis of learning rates."""
    return values.sum() if reduction == "sum" else values.mean()


def softplus(v: Tensor) -> Tensor:
    """log(1 + exp(v)), exact in every precision (torch's own cuts off at 20)."""
    return -torch.nn.functional.logsigmoid(-v)


def energy_and_shares(unit: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """log sum_{i != j} exp(h_i . h_j / tau) of one view's rows, a scalar, and every row's share of the sum, (N,).

    The sum is symmetric, so its gradient at h_i is 2 / tau sum_j p_ij h_j with p the softmax over all pairs: one
    product less than by way of the rows' sums. The shares have no gradient.
    """
    sums, means = attend(unit, unit, unit, temperature)
    total = sums.logsumexp(0)
    shares = (sums - total).exp()
    gradient = (2 / temperature) * shares.unsqueeze(1) * means
    return with_gradient_of(total, (unit * gradient).sum()), shares


def energy(unit: Tensor, temperature: float) -> Tensor:
    """log sum_{i != j} exp(h_i . h_j / tau) of one view's rows, a scalar."""
    return energy_and_shares(unit, temperature)[0]
