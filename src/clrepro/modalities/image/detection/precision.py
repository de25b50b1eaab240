"""How well a detector finds objects: its answers on a dataset, and their average precision."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm

from clrepro.errors import Interrupted, UserError
from clrepro.modalities.image.detection.boxes import Annotated

THRESHOLDS = np.arange(50, 100, 5) / 100  # overlaps (intersection over union) that count as found
COCO_POINTS, VOC07_POINTS = 101, 11
NAMES = ("AP_all", "AP_50", "AP_75")


@torch.no_grad()
def answers(model: nn.Module, dataset: Annotated, stop, workers: int = 0) -> tuple[list[dict], list[dict]]:
    """(found, truth) of every image, as ``average_precision`` takes them; Interrupted once ``stop`` was requested."""
    device = next(model.parameters()).device
    model.eval()
    found, truth = [], []
    images = DataLoader(dataset, 1, collate_fn=list, num_workers=workers)
    for (item,) in tqdm(images, desc="detect", unit="image", disable=None, leave=False):
        if stop.requested:
            raise Interrupted(f"stopped after {len(found)} of {len(dataset)} test images; the detector is saved")
        (result,) = model([torch.as_tensor(item["image"]).to(device) / 255])
        boxes, labels, scores = (result[key].cpu().numpy() for key in ("boxes", "labels", "scores"))
        found.append({"boxes": boxes, "labels": labels - 1, "scores": scores})  # torchvision's class 0: background
        truth.append({key: item[key] for key in ("boxes", "labels", "difficult")})
    return found, truth


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
