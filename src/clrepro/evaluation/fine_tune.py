"""Fine-tuning of the anchors paper (oar2024, tables 3 and 4): an MLP on the encoder, a share of the labels, SGD.

    f -> [linear, ReLU] x 3 -> linear -> softmax cross-entropy;   100 epochs, batch 32

Hidden widths are 256, 128, 64 on CIFAR-10 and 512, 1024, 1024 on CIFAR-100. Whether the encoder is trained as well the
paper does not say. It speaks of fine-tuning, but its reasoning needs a frozen one: fine-tuning the classifier for
uniform embeddings yields 10 % (section 5.1), a small learning rate leaves an accuracy that relies on random embeddings
(figure 1), and 0.44 to 0.54 with all of CIFAR-10's labels is what a head reaches, not a whole ResNet-18. Hence
`frozen: true`, on stored features; `frozen: false` trains encoder and head together.
The learning rate of this phase, momentum, schedule and activation are not stated either; ours are in HeadSettings.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from clrepro.errors import UserError
from clrepro.evaluation.labels import class_count
from clrepro.evaluation.linear_probe import Batches, accuracies, initial, one_thread, paired, shuffled


@dataclass(frozen=True)
class HeadSettings:
    """How head (and encoder) are trained; hidden, epochs and batch_size are the paper's for CIFAR-10."""

    hidden: tuple[int, ...] = (256, 128, 64)
    frozen: bool = True
    epochs: int = 100
    batch_size: int = 32
    learning_rate: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 0.0
    seed: int = 0  # of the head's weights and of the order of examples


def evaluate(
    train: np.ndarray | Tensor,
    train_labels: np.ndarray | Tensor,
    test: np.ndarray | Tensor,
    test_labels: np.ndarray | Tensor,
    settings: HeadSettings | None = None,
    device: torch.device | str = "cpu",
) -> dict[str, float]:
    """{"top1", "top5"} in percent of a head on features of a frozen encoder: train (n, D), test (m, D)."""
    settings = settings or HeadSettings()
    features, labels = paired(train, train_labels, "train", device)
    tested, answers = paired(test, test_labels, "test", device)
    classes = class_count(labels, answers)
    return score(train_head(features, labels, classes, settings), [(tested, answers)])


def train_head(features: Tensor, labels: Tensor, classes: int, settings: HeadSettings) -> nn.Module:
    """A head on features (n, D) and labels (n,) of a device, which several sets may then `score`."""
    if not settings.frozen:
        raise UserError("fine-tuning with `frozen: false` needs images and the encoder; stored features are frozen")
    head = make_head(features.shape[1], settings.hidden, classes, settings.seed).to(features.device)
    with one_thread(features.device):
        fit(head, shuffled(features, labels, settings.batch_size, settings.seed), settings)
    return head


def evaluate_network(
    encoder: nn.Module,
    train: Batches,
    test: Callable[[], Iterable[tuple[Tensor, Tensor]]],
    classes: int,
    settings: HeadSettings,
    device: torch.device | str = "cpu",
) -> dict[str, float]:
    """The same with the whole network trained; test() gives the batches of the test set, on the device."""
    return score(train_network(encoder, train, classes, settings, device), test())


def train_network(
    encoder: nn.Module, train: Batches, classes: int, settings: HeadSettings, device: torch.device | str = "cpu"
) -> nn.Module:
    """Encoder and head, trained together; the encoder given, (N, C, H, W) -> (N, encoder.width), stays as it is.

    train(epoch) gives an epoch's batches of (images, labels) on the device.
    """
    if settings.frozen:
        raise UserError("fine-tuning with `frozen: true` takes stored features: embed the images once, then evaluate")
    head = make_head(encoder.width, settings.hidden, classes, settings.seed)
    network = nn.Sequential(copy.deepcopy(encoder).requires_grad_(True), head).to(device)
    # batch norm has no statistics of a single image, which a last batch may be
    fit(network, lambda epoch: (batch for batch in train(epoch) if len(batch[1]) > 1), settings)
    return network


def make_head(width: int, hidden: tuple[int, ...], classes: int, seed: int = 0) -> nn.Sequential:
    """width -> hidden widths, each followed by ReLU -> classes; torch's initial weights by the seed."""
    generator = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for before, after in pairwise((width, *hidden, classes)):
        linear = nn.utils.skip_init(nn.Linear, before, after)
        for parameter, drawn in zip(linear.parameters(), initial(before, after, generator), strict=True):
            parameter.data.copy_(drawn)
        layers += [linear, nn.ReLU(inplace=True)]
    return nn.Sequential(*layers[:-1])


def fit(network: nn.Module, batches: Batches, settings: HeadSettings) -> None:
    """Train all parameters by SGD at a constant rate."""
    network.train()
    optimiser = torch.optim.SGD(
        network.parameters(), settings.learning_rate, settings.momentum, weight_decay=settings.weight_decay, fused=True
    )
    for epoch in range(settings.epochs):
        for inputs, labels in batches(epoch):
            optimiser.zero_grad()
            functional.cross_entropy(network(inputs), labels).backward()
            optimiser.step()


@torch.no_grad()
def score(network: nn.Module, batches: Iterable[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """{"top1", "top5"} in percent over all batches."""
    network.eval()
    found = [(network(inputs), labels) for inputs, labels in batches]
    return accuracies(*(torch.cat(parts) for parts in zip(*found, strict=True)))
