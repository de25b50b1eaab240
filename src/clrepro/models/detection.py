"""Detection transfer: Faster R-CNN on a pretrained ResNet's C4 features, fine-tuned, and average precision.

A dataset is a sequence of {"image": uint8 (3, H, W), "boxes": (k, 4) as left, top, right, bottom in pixels,
"labels": (k,) class numbers from 0, "difficult": (k,) bool}. The recipe is that of MoCo's and mmselfsup's VOC07+12
benchmark, which huang2023 (table 2) names by its detector and schedule alone.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from clrepro.errors import UserError

# sizes in pixels; warmup, precise_norm in iterations; the learning rate belongs to the batch size
SETTINGS = {
    "iterations": 24_000,
    "batch_size": 16,
    "learning_rate": 0.02,
    "momentum": 0.9,
    "weight_decay": 1e-4,
    "warmup": 100,
    "precise_norm": 200,
    "workers": 8,  # processes that read images
    "seed": 0,
}
SHAPE = {
    "sides": tuple(range(480, 801, 32)),  # of the shorter side: one at random in training, the last one in tests
    "longest_side": 1333,
    "anchors": (32, 64, 128, 256, 512),
    "regions": 512,
    "region_size": 14,
    "mean": (0.485, 0.456, 0.406),
    "std": (0.229, 0.224, 0.225),
}
FALLS = (18 / 24, 22 / 24)  # shares of the training after which the learning rate falls to a tenth
THRESHOLDS = np.arange(50, 100, 5) / 100  # overlaps (intersection over union) that count as found
COCO_POINTS, VOC07_POINTS = 101, 11


class C4(nn.Module):
    """A ResNet up to its third stage: images (N, 3, H, W) -> features (N, out_channels, H / 16, W / 16).

    With the CIFAR stem the features are those of every fourth pixel.
    """

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.stem = nn.Sequential(encoder.conv1, encoder.bn1, encoder.relu, encoder.maxpool)
        self.stages = nn.Sequential(encoder.layer1, encoder.layer2, encoder.layer3)
        self.out_channels = encoder.layer4[0].conv1.in_channels

    def forward(self, images: Tensor) -> Tensor:
        return self.stages(self.stem(images))


class Res5(nn.Module):
    """A ResNet's last stage on regions, with the extra batch norm of MoCo's recipe: (R, C, S, S) -> (R, width)."""

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.stage, self.norm = encoder.layer4, nn.BatchNorm2d(encoder.width)

    def forward(self, regions: Tensor) -> Tensor:
        return self.norm(self.stage(regions)).mean((2, 3))


def make_detector(encoder: nn.Module, classes: int, **shape) -> nn.Module:
    """Faster R-CNN with region proposals on C4 and the last stage as box head, as Detectron2's R50-C4.

    encoder: one of ``models.image`` with a ResNet's stages; they become the detector's and are all fine-tuned, batch
    norm on the statistics of the batch. shape: replaces entries of ``SHAPE``. Two details are torchvision's, not
    Detectron2's: region pooling without a half-pixel shift, and a smooth box loss (beta 1/9) in place of L1.
    """
    from torchvision.models.detection import FasterRCNN
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
    from torchvision.ops import MultiScaleRoIAlign

    if not all(hasattr(encoder, f"layer{number}") for number in (1, 2, 3, 4)):
        raise UserError("detection needs an encoder with the four stages of a ResNet: resnet18 or resnet50")
    size = {**SHAPE, **shape}
    return FasterRCNN(
        C4(encoder),
        min_size=size["sides"],
        max_size=size["longest_side"],
        image_mean=size["mean"],
        image_std=size["std"],
        rpn_anchor_generator=AnchorGenerator((size["anchors"],), ((0.5, 1.0, 2.0),)),
        rpn_pre_nms_top_n_train=12_000,
        rpn_pre_nms_top_n_test=6_000,
        rpn_post_nms_top_n_train=2_000,
        rpn_post_nms_top_n_test=1_000,
        box_roi_pool=MultiScaleRoIAlign(["0"], size["region_size"], sampling_ratio=0),
        box_head=Res5(encoder),
        box_predictor=FastRCNNPredictor(encoder.width, classes + 1),
        box_batch_size_per_image=size["regions"],
    )


def factor(iteration: int, iterations: int, warmup: int) -> float:
    """Of the learning rate: linear from 1/1000 to 1 over the warm-up, and a tenth after each of ``FALLS``."""
    rising = min(1.0, 0.001 + 0.999 * iteration / warmup) if warmup else 1.0
    return rising * 0.1 ** sum(iteration >= round(share * iterations) for share in FALLS)


def draws(examples: int, count: int, seed: int) -> list[int]:
    """``count`` places of the examples: one random order after the other."""
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(examples, generator=generator) for _ in range(math.ceil(count / examples))]
    return torch.cat(orders)[:count].tolist()


def as_input(item: dict, device: torch.device, flip: bool = False) -> tuple[Tensor, dict[str, Tensor]]:
    """torchvision's (image in [0, 1], target), mirrored left to right where asked; its class 0 is the background."""
    image = torch.as_tensor(item["image"]).to(device) / 255
    boxes = torch.as_tensor(item["boxes"], dtype=torch.float32, device=device).reshape(-1, 4)
    if flip:
        image = image.flip(2)
        left, top, right, bottom = boxes.unbind(1)
        boxes = torch.stack([image.shape[2] - right, top, image.shape[2] - left, bottom], dim=1)
    labels = torch.as_tensor(item["labels"], dtype=torch.int64, device=device).reshape(-1)
    return image, {"boxes": boxes, "labels": labels + 1}


def train(model: nn.Module, dataset: Sequence[dict], settings: dict | None = None) -> list[float]:
    """Fine-tune on the device where the model is; the loss of every iteration.

    settings: replaces entries of ``SETTINGS``; without them the 1x schedule of VOC07+12. SGD; each image is mirrored
    with probability one half; difficult boxes are trained on, an image without boxes is background. At the end
    the running statistics of batch norm are computed anew over ``precise_norm`` batches with the final weights.
    """
    settings = {**SETTINGS, **(settings or {})}
    iterations, size = settings["iterations"], settings["batch_size"]
    if not len(dataset):
        raise UserError("detection: the training set has no images")
    torch.manual_seed(settings["seed"])
    device = next(model.parameters()).device
    optimiser = torch.optim.SGD(
        model.parameters(), settings["learning_rate"], settings["momentum"], weight_decay=settings["weight_decay"]
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda iteration: factor(iteration, iterations, settings["warmup"])
    )
    order = draws(len(dataset), (iterations + settings["precise_norm"]) * size, settings["seed"])
    loader = DataLoader(dataset, size, sampler=order, collate_fn=list, num_workers=settings["workers"])
    model.train()
    losses = []
    for iteration, items in enumerate(loader):
        if iteration == iterations:
            averaging(model)
        flips = (torch.rand(len(items)) < 0.5).tolist()
        inputs = [as_input(item, device, flip) for item, flip in zip(items, flips, strict=True)]
        images, targets = (list(part) for part in zip(*inputs, strict=True))
        if iteration >= iterations:
            with torch.no_grad():
                model(images, targets)
            continue
        loss = sum(model(images, targets).values())
        if not torch.isfinite(loss):
            raise UserError(f"detection diverged at iteration {iteration}: lower learning_rate, or lengthen warmup")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def averaging(model: nn.Module) -> None:
    """From now on batch norm's running statistics are plain means over batches."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
            module.momentum = None


@torch.no_grad()
def evaluate(model: nn.Module, dataset: Sequence[dict], points: int = COCO_POINTS) -> dict[str, float]:
    """{"AP_all", "AP_50", "AP_75"} in percent of the model's detections on a dataset; see ``average_precision``."""
    device = next(model.parameters()).device
    model.eval()
    found, truth = [], []
    for place in range(len(dataset)):
        item = dataset[place]
        (result,) = model([as_input(item, device)[0]])
        result = {key: value.cpu().numpy() for key, value in result.items()}
        found.append({**result, "labels": result["labels"] - 1})
        truth.append({key: np.asarray(item[key]) for key in ("boxes", "labels", "difficult")})
    return average_precision(found, truth, points)


def overlaps(boxes1: np.ndarray, boxes2: np.ndarray) -> np.ndarray:
    """Intersection over union of every pair of boxes: (m, 4), (n, 4) -> (m, n)."""
    corner1 = np.maximum(boxes1[:, None, :2], boxes2[None, :, :2])
    corner2 = np.minimum(boxes1[:, None, 2:], boxes2[None, :, 2:])
    # shared, area: (m, n), (m,) and (n,)
    shared = (corner2 - corner1).clip(0).prod(2)
    area1, area2 = ((boxes[:, 2:] - boxes[:, :2]).prod(1) for boxes in (boxes1, boxes2))
    return shared / (area1[:, None] + area2 - shared)


def match(overlap: np.ndarray, difficult: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which detections of one image and class are right, and which count for nothing, at every threshold.

    overlap: (d, k) of detections, best score first, with true boxes; difficult: (k,). Returns two (d, thresholds).
    A detection takes the free true box that it overlaps most, if that suffices; one that has none but lies on a
    difficult box counts for nothing, however many do.
    """
    enough = overlap[:, None, :] >= THRESHOLDS[:, None]  # (d, thresholds, k)
    right = np.zeros(enough.shape[:2], bool)
    free = np.tile(~difficult, (len(THRESHOLDS), 1))
    for row in np.flatnonzero(enough.any((1, 2))):
        candidates = enough[row] & free
        right[row] = candidates.any(1)
        best = np.where(candidates, overlap[row], -1).argmax(1)
        free[right[row], best[right[row]]] = False
    return right, ~right & (enough & difficult).any(2)


def average_precision(found: list[dict], truth: list[dict], points: int = COCO_POINTS) -> dict[str, float]:
    """Mean over the classes of the average precision, in percent: at overlap 0.5, at 0.75, and the mean of 0.5 to 0.95.

    found: of every image boxes (d, 4), labels (d,), scores (d,); truth: boxes (k, 4), labels (k,), difficult (k,).
    Average precision of a class: the mean, over ``points`` recalls from 0 to 1, of the highest precision at that
    recall or a higher one: 101 points as COCO; 11 as VOC2007, which Detectron2's and mmdetection's programs use for
    its test set. A class that has only difficult boxes is left out.
    """
    classes = sorted({int(label) for item in truth for label in item["labels"][~item["difficult"].astype(bool)]})
    if not classes:
        raise UserError("detection: the test set has no box that is not difficult; nothing can be measured")
    # precisions: (classes, thresholds)
    precisions = np.array([_of_class(found, truth, label, points) for label in classes])
    by_threshold = 100 * precisions.mean(0)
    return {
        "AP_all": float(by_threshold.mean()),
        "AP_50": float(by_threshold[0]),
        "AP_75": float(by_threshold[5]),
    }


def _of_class(found: list[dict], truth: list[dict], label: int, points: int) -> list[float]:
    """Average precision of one class at every threshold."""
    scores, right, ignored, count = [], [], [], 0
    for detections, item in zip(found, truth, strict=True):
        ours, true = detections["labels"] == label, item["labels"] == label
        order = np.argsort(-detections["scores"][ours], kind="stable")
        difficult = item["difficult"][true].astype(bool)
        boxes = detections["boxes"][ours][order].astype(float)
        results = match(overlaps(boxes, item["boxes"].reshape(-1, 4)[true].astype(float)), difficult)
        scores.append(detections["scores"][ours][order])
        right.append(results[0])
        ignored.append(results[1])
        count += (~difficult).sum()
    order = np.argsort(-np.concatenate(scores), kind="stable")
    # right, ignored: (detections of all images, thresholds)
    right, ignored = np.concatenate(right)[order], np.concatenate(ignored)[order]
    return [_interpolated(right[:, column][~ignored[:, column]], count, points) for column in range(len(THRESHOLDS))]


def _interpolated(right: np.ndarray, count: int, points: int) -> float:
    """Average precision of detections, best score first, each right or wrong, of ``count`` true boxes."""
    hits = right.cumsum()
    recall, precision = hits / count, hits / np.arange(1, len(right) + 1)
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(recall, np.arange(points) / (points - 1))
    return float(np.append(highest, 0.0)[places].mean())
