"""Linear evaluation: one linear classifier on frozen features, trained by SGD, scored at its last epoch.

    L = mean over a batch of -log softmax(W f + b)_y,   v <- momentum v + g,   W <- W - rate v

with g the gradient plus weight_decay W (of b likewise), as torch.optim.SGD does it. Written out instead of calling
autograd and an optimiser: the classifier is so small that their overhead is most of the time.
Huang et al. 2023 state epochs, batch, learning rate, momentum and weight decay (appendices B.2.1 and B.3), but neither
schedule nor initial weights; here: torch's of a linear layer, uniform within 1 / sqrt(D). Features are used as they
are, neither normalised nor scaled.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.errors import UserError
from clrepro.evaluation.labels import class_count

Schedule = Literal["constant", "cosine", "steps"]
Batches = Callable[[int], Iterable[tuple[Tensor, Tensor]]]  # of an epoch: (inputs, labels), ...
TOPS = (1, 5)
STEPS = (0.6, 0.8)  # MoCo's schedule: a tenth of the rate after each of these shares of the epochs


@dataclass(frozen=True)
class ProbeSettings:
    """How a classifier is trained; the defaults are those of Huang et al. 2023 on CIFAR-10."""

    epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 0.02
    momentum: float = 0.9
    weight_decay: float = 0.0
    nesterov: bool = False
    schedule: Schedule = "constant"
    seed: int = 0  # of the initial weights and of the order of examples


def evaluate(
    train: np.ndarray | Tensor,
    train_labels: np.ndarray | Tensor,
    test: np.ndarray | Tensor,
    test_labels: np.ndarray | Tensor,
    settings: ProbeSettings | None = None,
    device: torch.device | str = "cpu",
) -> dict[str, float]:
    """{"top1", "top5"} in percent of a probe of stored features: train (n, D), test (m, D), labels 0 to C - 1."""
    settings = settings or ProbeSettings()
    features, labels = paired(train, train_labels, "train", device)
    tested, answers = paired(test, test_labels, "test", device)
    if features.shape[1] != tested.shape[1]:
        raise UserError(
            f"train features are {features.shape[1]} wide and test features {tested.shape[1]}; embed both alike"
        )
    classes = class_count(labels, answers)
    batches = shuffled(features, labels, settings.batch_size, settings.seed)
    with one_thread(device):
        weights, biases = fit(batches, features.shape[1], classes, settings, device)
    return accuracies(logits(tested, weights, biases), answers)


def fit(
    batches: Batches, width: int, classes: int, settings: ProbeSettings, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Weights (C, D) and biases (C,) after the last epoch.

    batches(epoch) gives an epoch's (features (n, D), labels (n,)) on the device: stored ones (`shuffled`), or freshly
    augmented images that a frozen encoder embeds as they come.
    """
    probe = Probe(width, classes, settings, device)
    for epoch in range(settings.epochs):
        for features, labels in batches(epoch):
            probe.learn(features, labels, epoch)
    return probe.weights, probe.biases


class Probe:
    """A classifier in training: weights (C, D), biases (C,) and the running sums of their gradients.

    classifier, pace: the same memory as modules, whose state_dict is saved and loaded to resume.
    """

    def __init__(self, width: int, classes: int, settings: ProbeSettings, device: torch.device | str = "cpu"):
        self.settings = settings
        drawn = initial(width, classes, torch.Generator().manual_seed(settings.seed))
        self.weights, self.biases = (part.to(device) for part in drawn)
        self.sums = [torch.zeros_like(self.weights), torch.zeros_like(self.biases)]
        self.classifier, self.pace = as_module([self.weights, self.biases]), as_module(self.sums)

    @torch.no_grad()
    def learn(self, features: Tensor, labels: Tensor, epoch: int) -> None:
        """One step on a batch (n, D), (n,)."""
        # delta: (n, C), the gradient of the mean cross-entropy by the logits
        delta = logits(features, self.weights, self.biases).softmax(1)
        delta[torch.arange(len(labels), device=delta.device), labels] -= 1
        delta /= len(labels)
        gradients = [delta.T @ features, delta.sum(0)]
        rate = learning_rate(self.settings, epoch)
        step([self.weights, self.biases], gradients, self.sums, rate, self.settings)


def as_module(tensors: list[Tensor]) -> nn.ParameterList:
    return nn.ParameterList(nn.Parameter(tensor, requires_grad=False) for tensor in tensors)


def step(
    parameters: list[Tensor], gradients: list[Tensor], pace: list[Tensor], rate: float, how: ProbeSettings
) -> None:
    """One step of SGD with momentum, in place; pace: the running sums of gradients."""
    for parameter, gradient, speed in zip(parameters, gradients, pace, strict=True):
        if how.weight_decay:
            gradient = gradient.add(parameter, alpha=how.weight_decay)
        speed.mul_(how.momentum).add_(gradient)
        parameter.add_(gradient.add(speed, alpha=how.momentum) if how.nesterov else speed, alpha=-rate)


def learning_rate(settings: ProbeSettings, epoch: int) -> float:
    """The rate of an epoch, 0 the first: constant; lr (1 + cos(pi epoch / epochs)) / 2; or tenths at 60 and 80 %."""
    share = epoch / settings.epochs
    match settings.schedule:
        case "constant":
            return settings.learning_rate
        case "cosine":
            return settings.learning_rate * (1 + math.cos(math.pi * share)) / 2
        case "steps":
            return settings.learning_rate * 0.1 ** sum(share >= mark for mark in STEPS)
    raise UserError(f"unknown schedule '{settings.schedule}' of a probe. Known: {', '.join(get_args(Schedule))}.")


def initial(width: int, classes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Weights (C, D) and biases (C,), uniform within 1 / sqrt(D), drawn on the CPU: the same for every device."""
    bound = 1 / math.sqrt(width)
    weights, biases = torch.empty(classes, width), torch.empty(classes)
    return weights.uniform_(-bound, bound, generator=generator), biases.uniform_(-bound, bound, generator=generator)


def shuffled(inputs: Tensor, labels: Tensor, batch_size: int, seed: int) -> Batches:
    """Batches of stored inputs (n, ...), every epoch in an order of its own; the last batch may be smaller."""

    def epoch_of(epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        numbers = torch.Generator().manual_seed(1_000_003 * seed + epoch)  # orders of two seeds never coincide
        order = torch.randperm(len(labels), generator=numbers).to(labels.device)
        for rows in order.split(batch_size):
            yield inputs[rows], labels[rows]

    return epoch_of


def logits(features: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
    """(n, C)."""
    return torch.addmm(biases, features, weights.T)


def accuracies(scores: Tensor, labels: Tensor) -> dict[str, float]:
    """{"top1", "top5"} in percent: how often the label (n,) is among the highest of the scores (n, C).

    Of equal scores the lower class ranks first. A row with a score that is not finite, as a diverged training leaves,
    counts as wrong.
    """
    classes = torch.arange(scores.shape[1], device=scores.device)
    own = scores.gather(1, labels[:, None])
    # ahead: (n,), how many classes rank before the label
    ahead = ((scores > own) | ((scores == own) & (classes < labels[:, None]))).sum(1)
    ahead = ahead.masked_fill(~scores.isfinite().all(1), max(TOPS))
    return {f"top{top}": 100 * float((ahead < top).double().mean()) for top in TOPS}


def paired(
    features: np.ndarray | Tensor, labels: np.ndarray | Tensor, part: str, device: torch.device | str
) -> tuple[Tensor, Tensor]:
    """Features (n, D) float32 and labels (n,) int64 as tensors on the device; what does not fit together is refused."""
    rows = tensor(features, torch.float32, device)
    known = tensor(labels, torch.int64, device)
    if rows.ndim != 2 or len(rows) == 0 or known.shape != rows.shape[:1]:
        raise UserError(
            f"{part} features of shape {tuple(rows.shape)} do not go with labels of shape {tuple(known.shape)}: "
            "give (n, D) features and one label a row"
        )
    if int(known.min()) < 0:
        raise UserError(f"{part} labels hold {int(known.min())}: leave unlabelled rows out, classes count from 0")
    return rows, known


def tensor(values: np.ndarray | Tensor, dtype: torch.dtype, device: torch.device | str = "cpu") -> Tensor:
    """The same numbers as a tensor; a file that is mapped read-only is copied, of which torch would warn."""
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.copy()
    return torch.as_tensor(values, dtype=dtype, device=device)


@contextmanager
def one_thread(device: torch.device | str) -> Iterator[None]:
    """On a CPU a single thread meanwhile: for batches this small more threads only wait for each other."""
    before = torch.get_num_threads()
    if torch.device(device).type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
