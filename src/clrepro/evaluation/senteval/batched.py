"""SentEval's classifiers of all folds and strengths as one batched problem, for a GPU.

The same training as ``classifier.fit``, problem by problem, in tensors of shape (problems, strengths, ...): one
gather, one batched product and one update serve all of them. On a CPU the compiled version is faster.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from clrepro.evaluation.senteval.classifier import Fit
from clrepro.evaluation.senteval.kernels import MOST_PASSES
from clrepro.evaluation.senteval.protocols import Protocol


def padded(parts: Sequence[np.ndarray], device: torch.device) -> Tensor:
    """(problems, longest) int64, -1 behind the shorter ones."""
    table = np.full((len(parts), max(len(part) for part in parts)), -1, np.int64)
    for place, part in enumerate(parts):
        table[place, : len(part)] = part
    return torch.from_numpy(table).to(device)


class Optimiser:
    """Adam or RMSprop with torch's defaults and coupled weight decay, on (P, S, ...) tensors; idle problems stay."""

    def __init__(self, tensors: list[Tensor], strengths: Tensor, adam: bool):
        self.tensors, self.strengths, self.adam = tensors, strengths, adam
        self.means = [torch.zeros_like(tensor) for tensor in tensors]
        self.squares = [torch.zeros_like(tensor) for tensor in tensors]
        self.steps = torch.zeros(len(strengths), device=strengths.device)

    def step(self, gradients: list[Tensor], busy: Tensor) -> None:
        """One step of the problems that are busy, (P,) bool."""
        self.steps += busy
        for tensor, mean, square, gradient in zip(self.tensors, self.means, self.squares, gradients, strict=True):
            shape = (-1, *(1,) * (tensor.ndim - 1))
            slope = gradient + self.strengths.reshape(*self.strengths.shape, *shape[2:]) * tensor
            on = busy.reshape(shape)
            if self.adam:
                steps = self.steps.clamp(min=1).reshape(shape)
                mean.copy_(torch.where(on, 0.9 * mean + 0.1 * slope, mean))
                square.copy_(torch.where(on, 0.999 * square + 0.001 * slope**2, square))
                change = mean / (1 - 0.9**steps) / ((square / (1 - 0.999**steps)).sqrt() + 1e-8)
                tensor.sub_(torch.where(on, 1e-3 * change, 0.0))
            else:
                square.copy_(torch.where(on, 0.99 * square + 0.01 * slope**2, square))
                tensor.sub_(torch.where(on, 1e-2 * slope / (square.sqrt() + 1e-8), 0.0))

    def keep(self, places: Tensor) -> None:
        """Forget all problems but these."""
        self.tensors, self.means, self.squares = (
            [tensor[places] for tensor in group] for group in (self.tensors, self.means, self.squares)
        )
        self.strengths, self.steps = self.strengths[places], self.steps[places]


@torch.no_grad()
def fit_together(
    x: np.ndarray,
    y: np.ndarray,
    trains: list[np.ndarray],
    devs: list[np.ndarray],
    orders: list[np.ndarray],
    strengths: np.ndarray,
    initial: tuple[np.ndarray, np.ndarray],
    protocol: Protocol,
    device: torch.device,
) -> list[Fit]:
    """Train every problem for every one of its strengths; a Fit a problem, as from ``classifier.fit``.

    x (N, D), y (N,); trains, devs: rows of each problem; orders: (passes, n) of each; strengths (P, S).
    """
    features, labels = torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)
    train, dev = padded(trains, device), padded(devs, device)
    decay = torch.from_numpy(np.asarray(strengths, np.float32)).to(device)
    shape = decay.shape
    weights, biases = (torch.from_numpy(part).to(device).expand(*shape, *part.shape).clone() for part in initial)
    optimiser = Optimiser([weights, biases], decay, protocol.optimiser == "adam")
    best = torch.full(shape, -1, device=device)
    best_weights, best_biases = weights.clone(), biases.clone()
    misses, rounds = torch.zeros_like(best), torch.zeros_like(best)
    stopped = torch.zeros(shape, dtype=torch.bool, device=device)
    alive = torch.arange(len(trains), device=device)
    done = 0
    while len(alive) and done <= MOST_PASSES:
        for _ in range(protocol.passes):
            shuffled = padded([orders[place][done] for place in alive.tolist()], device)
            rows = torch.where(shuffled >= 0, train[alive].gather(1, shuffled.clamp(min=0)), -1)
            done += 1
            for start in range(0, rows.shape[1], protocol.batch):
                chosen = rows[:, start : start + protocol.batch]
                delta = logits(features, chosen, *optimiser.tensors).softmax(-1)
                delta -= torch.nn.functional.one_hot(labels[chosen.clamp(min=0)], delta.shape[-1])[:, :, None]
                present = chosen >= 0
                delta *= (present / present.sum(1, keepdim=True).clamp(min=1))[..., None, None]
                slopes = torch.einsum("pbsc,pbd->pscd", delta, features[chosen.clamp(min=0)])
                optimiser.step([slopes, delta.sum(1)], present.any(1))
        held = dev[alive]
        guesses = logits(features, held, *optimiser.tensors).argmax(-1)
        right = ((guesses == labels[held.clamp(min=0)][..., None]) & (held >= 0)[..., None]).sum(1)
        running = ~stopped[alive]
        rounds[alive] += running
        better = running & (right > best[alive])
        best[alive] = torch.where(better, right, best[alive])
        best_weights[alive] = torch.where(better[..., None, None], optimiser.tensors[0], best_weights[alive])
        best_biases[alive] = torch.where(better[..., None], optimiser.tensors[1], best_biases[alive])
        worse = running & ~better
        stopped[alive] |= worse & (misses[alive] >= protocol.tenacity)
        misses[alive] += worse
        going = (~stopped[alive]).any(1)
        alive = alive[going]
        optimiser.keep(going)
    accuracy = best.cpu().numpy() / np.array([[len(rows)] for rows in devs])
    parts = zip(accuracy, best_weights.cpu().numpy(), best_biases.cpu().numpy(), rounds.cpu().numpy(), strict=True)
    return [Fit(*part) for part in parts]


def logits(features: Tensor, rows: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
    """(P, B, S, C) of rows (P, B), -1 being any row, by weights (P, S, C, D) and biases (P, S, C)."""
    return torch.einsum("pbd,pscd->pbsc", features[rows.clamp(min=0)], weights) + biases.unsqueeze(1)
