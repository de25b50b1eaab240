"""Image encoders, projectors, and encoders on disk as torchvision's own state dicts."""

import json
from itertools import pairwise
from pathlib import Path

from torch import Tensor, nn

from clrepro.errors import UserError, unknown

STEMS = ("cifar", "imagenet")
NORMS = ("hidden", "all", "none")
CONV3 = ((16, 2), (32, 2), (64, 1))  # (channels, stride) of its layers
WEIGHTS, DESCRIPTION = "model.safetensors", "config.json"


def make_encoder(architecture: str, stem: str | None, channels: int) -> nn.Module:
    """Images (N, channels, H, W) -> (N, width), freshly initialised; ``.width`` and ``.description`` come with it.

    resnet18, resnet50: torchvision's without the last layer. stem imagenet: 7 x 7 convolution of stride 2 and max
    pooling; cifar: 3 x 3 convolution of stride 1, no pooling (huang2023, appendix B.3). Without a choice of stem:
    conv3, three small convolutions for images of 8 x 8 pixels, and resnet8, three residual blocks for a CPU.
    """
    if architecture not in ENCODERS:
        raise unknown("encoder architecture", architecture, ENCODERS)
    if architecture in SMALL:
        encoder, stem = SMALL[architecture](channels), None
    elif stem not in STEMS:
        raise unknown("stem", stem, STEMS, f"encoder {architecture}")
    else:
        encoder = _resnet(architecture, stem, channels)
    encoder.description = {
        "architecture": architecture,
        "stem": stem,
        "channels": channels,
        "width": encoder.width,
    }
    return encoder


def _resnet(architecture: str, stem: str, channels: int) -> nn.Module:
    from torchvision import models

    encoder = getattr(models, architecture)()
    encoder.width, encoder.fc = encoder.fc.in_features, nn.Identity()
    size, stride = (3, 1) if stem == "cifar" else (7, 2)
    if stem == "cifar":
        encoder.maxpool = nn.Identity()
    if stem == "cifar" or channels != 3:
        encoder.conv1 = nn.Conv2d(channels, 64, size, stride, padding=size // 2, bias=False)
        nn.init.kaiming_normal_(encoder.conv1.weight, mode="fan_out", nonlinearity="relu")
    return encoder


class Conv3(nn.Module):
    """Three 3 x 3 convolutions with batch norm, the first two of stride 2, and the mean over the places: (N, 64)."""

    def __init__(self, channels: int):
        super().__init__()
        self.layers, self.width, before = nn.Sequential(), CONV3[-1][0], channels
        for after, stride in CONV3:
            self.layers.append(nn.Conv2d(before, after, 3, stride, padding=1, bias=False))
            self.layers.append(nn.BatchNorm2d(after))
            self.layers.append(nn.ReLU(inplace=True))
            before = after

    def forward(self, images: Tensor) -> Tensor:
        """images: (N, channels, H, W). Returns (N, 64)."""
        return self.layers(images).mean((2, 3))


class ResNet8(nn.Module):
    """He et al. 2016's residual net for CIFAR-10 with one block of each width, 16, 32, 64: (N, 64).

    Its first convolution has stride 2, where theirs has 1: a quarter of the work, for pictures of 32 x 32 on a CPU.
    """

    def __init__(self, channels: int):
        from torchvision.models.resnet import BasicBlock

        super().__init__()
        self.width = 64
        self.stem = nn.Sequential(nn.Conv2d(channels, 16, 3, 2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.blocks = nn.Sequential()
        for before, after in ((16, 16), (16, 32), (32, 64)):
            shortcut = None
            if before != after:
                shortcut = nn.Sequential(nn.Conv2d(before, after, 1, 2, bias=False), nn.BatchNorm2d(after))
            self.blocks.append(BasicBlock(before, after, 1 if shortcut is None else 2, shortcut))

    def forward(self, images: Tensor) -> Tensor:
        """images: (N, channels, H, W). Returns (N, 64)."""
        return self.blocks(self.stem(images)).mean((2, 3))


SMALL = {"conv3": Conv3, "resnet8": ResNet8}
ENCODERS = ("resnet18", "resnet50", *SMALL)


def make_projector(width: int, hidden: int, output: int, layers: int, norm: str = "hidden") -> nn.Sequential:
    """The MLP (N, width) -> (N, output) that training puts on an encoder: ``layers`` linear ones, ReLU between them.

    norm, where batch norm follows a linear layer. hidden: all but the last, as the public CIFAR recipe of DCL.
    all: the last too, as SimCLR, mmselfsup and NNCLR. none: as MoCo v2. A linear layer before batch norm has no bias.
    """
    if norm not in NORMS:
        raise unknown("norm", norm, NORMS, "projector")
    if layers < 1:
        raise UserError(f"projector: layers is {layers}; at least 1 is needed, or a framework without projector")
    projector = nn.Sequential()
    for number, (before, after) in enumerate(pairwise((width, *[hidden] * (layers - 1), output)), start=1):
        normed = norm == "all" or (norm == "hidden" and number < layers)
        projector.append(nn.Linear(before, after, bias=not normed))
        if normed:
            projector.append(nn.BatchNorm1d(after))
        if number < layers:
            projector.append(nn.ReLU(inplace=True))
    return projector


def save(encoder: nn.Module, folder: Path) -> None:
    """Write ``model.safetensors``, a torchvision state dict without ``fc``, and ``config.json``, how to load it."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    state = {key: value.detach().cpu().contiguous() for key, value in encoder.state_dict().items()}
    save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
    description = {**encoder.description, "load": loading(encoder.description)}
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=1), "utf-8")


def loading(description: dict) -> list[str]:
    """The lines of Python that load an exported encoder, in its own folder, without clrepro where that is possible."""
    if description["architecture"] in SMALL:
        return [
            "from clrepro.modalities.image.encoder import load",
            "from pathlib import Path",
            "model = load(Path('.'))",
        ]
    lines = [
        "import torch, torchvision",
        "from safetensors.torch import load_file",
        f"model = torchvision.models.{description['architecture']}()",
        "model.fc = torch.nn.Identity()",
    ]
    size, stride = (3, 1) if description["stem"] == "cifar" else (7, 2)
    if description["stem"] == "cifar":
        lines.append("model.maxpool = torch.nn.Identity()")
    if description["stem"] == "cifar" or description["channels"] != 3:
        arguments = f"{description['channels']}, 64, {size}, {stride}, padding={size // 2}, bias=False"
        lines.append(f"model.conv1 = torch.nn.Conv2d({arguments})")
    return [*lines, f"model.load_state_dict(load_file('{WEIGHTS}'))"]


def load(folder: Path) -> nn.Module:
    """The encoder that ``save`` wrote, on the CPU; UserError for a folder that holds none."""
    from safetensors.torch import load_file

    for needed in (WEIGHTS, DESCRIPTION):
        if not (folder / needed).is_file():
            raise UserError(f"image encoder: {folder / needed} is missing; an exported encoder has both files")
    try:
        description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        encoder = make_encoder(*(description[key] for key in ("architecture", "stem", "channels")))
        encoder.load_state_dict(load_file(folder / WEIGHTS))
    except UserError:
        raise
    except Exception as failure:
        raise UserError(f"image encoder: {folder} cannot be loaded ({failure}); export it again") from None
    return encoder
