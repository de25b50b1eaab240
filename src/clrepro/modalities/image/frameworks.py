"""Frameworks: from two augmented batches of images to an objective's arguments.

    terms = framework(images1, images2, labels)
    loss = sum(objective(view1, view2, **extras) for view1, view2, extras in terms) / len(terms)

All they keep (momentum weights, queue, anchors) is in ``state_dict``. A forward pass changes it only in training
mode with gradients on, so that nothing else leaves a trace, but for the running statistics of batch norm, which any
pass in training mode moves.
"""

import copy
import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from clrepro.errors import UserError, unknown
from clrepro.modalities.image.encoder import make_projector
from clrepro.objectives._anchors import orthonormal_anchors
from clrepro.objectives.memory import KeyQueue

Terms = list[tuple[Tensor, Tensor, dict[str, Tensor]]]


def random_seed() -> int:
    """From torch's generator, as the weights are: one seed fixes all that a training starts from."""
    return int(torch.randint(2**31, ()))


class Memory(nn.Module, KeyQueue):
    """A KeyQueue of (size, width) unit rows whose rows and position are buffers: moved and saved with the module."""

    def __init__(self, size: int, width: int):
        nn.Module.__init__(self)
        self.register_buffer("keys", KeyQueue(size, width, random_seed()).keys)
        self.register_buffer("position", torch.tensor(0))


def both(network: nn.Module, images1: Tensor, images2: Tensor) -> tuple[Tensor, Tensor]:
    """The outputs for both views, 2 x (N, D), from one pass of 2N rows: batch norm takes its statistics from both.

    So do SimCLR's code and mmselfsup, with which huang2023 trained; other public codes (lightly's examples, the CIFAR
    recipe of DCL) pass each view apart. Together, batch norm tells no view from the other.
    """
    return network(torch.cat([images1, images2])).chunk(2)


class Plain(nn.Module):
    """The encoder's outputs are the views (oar2024 trains without a projector).

    symmetric: the objective is applied in both directions. classes: how many orthonormal anchors oar needs; they are
    drawn with the weights and stay fixed, (classes, D).
    """

    def __init__(self, encoder: nn.Module, symmetric: bool = False, classes: int | None = None):
        super().__init__()
        self.encoder, self.projector, self.symmetric = encoder, nn.Identity(), symmetric
        self.draw_anchors(classes, encoder.width)

    def draw_anchors(self, classes: int | None, width: int) -> None:
        if classes is not None and classes > width:
            raise UserError(f"{classes} classes need as many dimensions for their anchors, the views have {width}")
        anchors = None if classes is None else orthonormal_anchors(classes, width, random_seed()).float()
        self.register_buffer("anchors", anchors)

    def forward(self, images1: Tensor, images2: Tensor, labels: Tensor | None = None) -> Terms:
        """images: (N, C, H, W); labels: (N,) int64, negative where unknown, only for oar. One or two terms."""
        view1, view2 = both(nn.Sequential(self.encoder, self.projector), images1, images2)
        extras = {} if labels is None else {"labels": labels, "anchors": self.labelled_anchors()}
        return [(view1, view2, extras), (view2, view1, extras)] if self.symmetric else [(view1, view2, extras)]

    def labelled_anchors(self) -> Tensor:
        if self.anchors is None:
            raise UserError(
                "labels were given without anchors; set `classes` of the framework to the number of classes"
            )
        return self.anchors


class SimCLR(Plain):
    """One encoder and a projector for both views (Chen et al. 2020). projector: arguments of ``make_projector``."""

    def __init__(self, encoder: nn.Module, projector: dict, symmetric: bool = False, classes: int | None = None):
        super().__init__(encoder, symmetric)
        self.projector = make_projector(encoder.width, **projector)
        self.draw_anchors(classes, projector["output"])


class MoCo(nn.Module):
    """Queries against keys of a momentum encoder, with a queue of earlier keys as negatives (He et al. 2020).

    view 1: query encoder and projector; view 2, without gradient: their momentum copies, k = m k + (1 - m) q before
    every step; extras: ``queue`` (K, D), the keys of earlier steps. One direction, as in MoCo v2. projector: arguments
    of ``make_projector``; momentum m; queue K.
    MoCo shuffles keys among devices so that a query and its key do not share a device's batch statistics. On one
    device there is one group of images, and shuffling it would change nothing.
    """

    def __init__(self, encoder: nn.Module, projector: dict, momentum: float = 0.999, queue: int = 65_536):
        super().__init__()
        self.encoder, self.projector = encoder, make_projector(encoder.width, **projector)
        self.key_encoder, self.key_projector = copy.deepcopy(self.encoder), copy.deepcopy(self.projector)
        self.key_encoder.requires_grad_(False)
        self.key_projector.requires_grad_(False)
        self.queue = Memory(queue, projector["output"])
        self.follow = get_ema_multi_avg_fn(momentum)

    def forward(self, images1: Tensor, images2: Tensor, labels: Tensor | None = None) -> Terms:
        """images: (N, C, H, W). One term; labels are not used."""
        queries = self.projector(self.encoder(images1))
        updating = self.training and torch.is_grad_enabled()
        with torch.no_grad():
            if updating:
                self.follow(list(self.keys_parameters()), list(self.query_parameters()), None)
            keys = self.key_projector(self.key_encoder(images2))
        extras = {"queue": self.queue.keys}
        if updating:
            self.queue.push(keys)  # makes a new tensor: the objective still sees the old one
        return [(queries, keys, extras)]

    def query_parameters(self):
        yield from self.encoder.parameters()
        yield from self.projector.parameters()

    def keys_parameters(self):
        yield from self.key_encoder.parameters()
        yield from self.key_projector.parameters()


class NNCLR(nn.Module):
    """Each view's nearest neighbour in a support set against the other view's prediction (Dwibedi et al. 2021).

    Terms: (NN(z1), p2) and (NN(z2), p1) with z = projector(encoder(x)), p = predictor(z); gradients reach p only. An
    objective such as macl takes them as it takes any two views: its alignment is that of neighbour and prediction
    (huang2023, B.2.2, does not say more). Each step's z1 then enter the support set, as in the paper's pseudocode.
    projector: arguments of ``make_projector``; hidden: width of the predictor's hidden layer; support: size of the set.
    """

    def __init__(self, encoder: nn.Module, projector: dict, hidden: int = 4096, support: int = 65_536):
        super().__init__()
        width = projector["output"]
        self.encoder, self.projector = encoder, make_projector(encoder.width, **projector)
        self.predictor = make_projector(width, hidden, width, layers=2)
        self.support = Memory(support, width)

    def forward(self, images1: Tensor, images2: Tensor, labels: Tensor | None = None) -> Terms:
        """images: (N, C, H, W). Two terms; labels are not used."""
        z1, z2 = both(nn.Sequential(self.encoder, self.projector), images1, images2)
        p1, p2 = both(self.predictor, z1, z2)
        terms = [(self.support.nearest(z1), p2, {}), (self.support.nearest(z2), p1, {})]
        if self.training and torch.is_grad_enabled():
            self.support.push(z1)
        return terms


FRAMEWORKS: dict[str, type[nn.Module]] = {"plain": Plain, "simclr": SimCLR, "moco": MoCo, "nnclr": NNCLR}


def make(name: str, encoder: nn.Module, **settings: Any) -> nn.Module:
    """The framework around an encoder, ``.encoder``, which is what is exported; settings: its class's arguments."""
    if name not in FRAMEWORKS:
        raise unknown("framework", name, FRAMEWORKS)
    known = inspect.signature(FRAMEWORKS[name]).parameters
    for setting in settings:
        if setting not in known or setting == "encoder":
            raise unknown("setting", setting, set(known) - {"encoder"}, f"framework {name}")
    if "projector" in known and "projector" not in settings:
        raise UserError(f"framework {name} needs a projector: {{hidden, output, layers, norm}}")
    return FRAMEWORKS[name](encoder, **settings)
