"""Pictures of rectangles and a network of a few thousand weights, for detectors that train in seconds."""

import numpy as np
from torch import nn
from torchvision.models.resnet import BasicBlock

from tests.modalities.image.detection.truths import overlap, truth

COLOURS = np.array([[220, 40, 40], [40, 60, 220]], np.uint8)
SMALL = {"sides": [64], "longest_side": 64, "anchors": [16, 24, 32], "regions": 32, "region_size": 4}


class TinyResNet(nn.Module):
    """The parts of a ResNet that a detector takes, with a block a stage."""

    def __init__(self, widths=(8, 16, 24, 32)):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, widths[0], 3, 2, 1, bias=False), nn.BatchNorm2d(widths[0])
        self.relu, self.maxpool, self.width = nn.ReLU(), nn.Identity(), widths[-1]
        before = widths[0]
        for number, width in enumerate(widths, start=1):
            stride = 1 if number == 1 else 2
            shortcut = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))
            setattr(self, f"layer{number}", nn.Sequential(BasicBlock(before, width, stride, shortcut)))
            before = width


def pictures(count, seed, side=64):
    """Red and blue rectangles, one or two a picture, that do not touch."""
    rng, items = np.random.default_rng(seed), []
    for _ in range(count):
        image, boxes, labels = rng.integers(90, 130, (3, side, side)).astype(np.uint8), [], []
        for _ in range(rng.integers(1, 3)):
            width, height = rng.integers(16, 33, 2)
            left, top = rng.integers(0, side - width), rng.integers(0, side - height)
            box = [left, top, left + width, top + height]
            if any(overlap(box, other) > 0 for other in boxes):
                continue
            boxes.append(box)
            labels.append(int(rng.integers(2)))
            image[:, top : top + height, left : left + width] = COLOURS[labels[-1]][:, None, None]
        items.append({"image": image, **truth(*boxes, labels=labels)})
    return items
