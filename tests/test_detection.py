from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn
from torchvision.models.resnet import BasicBlock

from clrepro.errors import Interrupted, UserError
from clrepro.modalities.image.augmentations import STATISTICS
from clrepro.modalities.image.detection import detector
from clrepro.modalities.image.detection.fine_tuning import as_input, factor, fine_tune
from clrepro.modalities.image.detection.precision import answers, average_precision
from clrepro.modalities.image.encoder import load, make_encoder, save

COLOURS = np.array([[220, 40, 40], [40, 60, 220]], np.uint8)
SMALL = {"sides": [64], "longest_side": 64, "anchors": [16, 24, 32], "regions": 32, "region_size": 4}
HOW = {"batch_size": 4, "learning_rate": 0.02, "momentum": 0.9, "weight_decay": 1e-4}


class Stop:
    """Asks to stop at its given look, or never."""

    def __init__(self, after=None):
        self.after, self.looks = after, 0

    @property
    def requested(self):
        self.looks += 1
        return self.looks == self.after


def make_detector(encoder, **changes):
    return detector.make_detector(encoder, 2, {**SMALL, **changes}, STATISTICS["imagenet"])


def evaluate(model, dataset):
    return average_precision(*answers(model, dataset, Stop()))


def truth(*boxes, labels=None, difficult=None):
    count = len(boxes)
    return {
        "boxes": np.array(boxes, float).reshape(-1, 4),
        "labels": np.array(labels if labels is not None else [0] * count, int),
        "difficult": np.array(difficult if difficult is not None else [False] * count, bool),
    }


def found(*boxes, labels=None):
    """Detections in falling order of their scores."""
    count = len(boxes)
    return {
        "boxes": np.array(boxes, float).reshape(-1, 4),
        "labels": np.array(labels if labels is not None else [0] * count, int),
        "scores": 1 - np.arange(count) / 10,
    }


A, B, ELSEWHERE = (0, 0, 10, 10), (20, 0, 30, 10), (50, 50, 60, 60)
HALF_OF_A = (0, 0, 10, 5)


@pytest.mark.parametrize(
    ("detections", "target", "points", "at_50", "at_75", "overall"),
    [
        # a perfect answer; nothing found; an overlap of exactly one half counts at 0.5 only, one of the ten thresholds
        (found(A, B), truth(A, B), 101, 1, 1, 1),
        (found(), truth(A), 101, 0, 0, 0),
        (found(HALF_OF_A), truth(A), 101, 1, 0, Fraction(1, 10)),
        # a wrong one first: precision 1/2 up to recall 1/2, which is 51 of 101 points and 6 of 11
        (found(ELSEWHERE, A), truth(A, B), 101, Fraction(51, 202), Fraction(51, 202), Fraction(51, 202)),
        (found(ELSEWHERE, A), truth(A, B), 11, Fraction(6, 22), Fraction(6, 22), Fraction(6, 22)),
        # the second detection of one box is wrong: precision 1 up to recall 1/2, 2/3 beyond
        (found(A, A, B), truth(A, B), 101, *[Fraction(153 + 100, 303)] * 3),
        # difficult boxes are neither missed nor found, however often they are hit
        (found(B, B, A), truth(A, B, difficult=[False, True]), 101, 1, 1, 1),
        (found(A), truth(A, B, difficult=[False, True]), 101, 1, 1, 1),
        # classes do not mix, and their mean is taken; one that has difficult boxes alone is left out
        (found(A, B, labels=[0, 0]), truth(A, B, labels=[0, 1]), 101, *[Fraction(1, 2)] * 3),
        (found(A), truth(A, B, labels=[0, 1], difficult=[False, True]), 101, 1, 1, 1),
    ],
)
def test_average_precision_of_cases_by_hand(detections, target, points, at_50, at_75, overall):
    result = average_precision([detections], [target], points)
    expected = {"AP_all": overall, "AP_50": at_50, "AP_75": at_75}
    assert result == pytest.approx({key: 100 * float(value) for key, value in expected.items()})


def overlap(one, other):
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0) * max(height, 0)
    area1, area2 = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / (area1 + area2 - shared)


def slow_average_precision(detections, targets, label, threshold, points):
    """The definition, one detection at a time."""
    boxes = {
        image: [[box, hard, False] for box, own, hard in zip(*target.values(), strict=True) if own == label]
        for image, target in enumerate(targets)
    }
    count = sum(not hard for image in boxes.values() for _, hard, _ in image)
    every = [
        (score, image, box)
        for image, result in enumerate(detections)
        for box, own, score in zip(*result.values(), strict=True)
        if own == label
    ]
    curve, right, wrong = [], 0, 0
    for _, image, box in sorted(every, key=lambda detection: -detection[0]):
        near = [true for true in boxes[image] if overlap(box, true[0]) >= threshold]
        free = [true for true in near if not true[1] and not true[2]]
        if free:
            max(free, key=lambda true: overlap(box, true[0]))[2] = True
            right += 1
        elif any(hard for _, hard, _ in near):
            continue
        else:
            wrong += 1
        curve.append((Fraction(right, count), right / (right + wrong)))
    best = [
        max((precision for recall, precision in curve if recall >= Fraction(point, points - 1)), default=0)
        for point in range(points)
    ]
    return sum(best) / points


@pytest.mark.parametrize("points", [11, 101])
def test_average_precision_is_its_definition(points):
    rng = np.random.default_rng(0)
    targets, results = [], []
    for _ in range(30):
        corners = rng.uniform(0, 60, (rng.integers(0, 6), 2))
        boxes = np.hstack([corners, corners + rng.uniform(10, 50, corners.shape)])
        labels, difficult = rng.integers(0, 3, len(boxes)), rng.random(len(boxes)) < 0.2
        targets.append({"boxes": boxes, "labels": labels, "difficult": difficult})
        near = np.repeat(boxes, 2, axis=0) + rng.normal(0, 2, (2 * len(boxes), 4))
        guesses = np.where(rng.random(len(near)) < 0.8, np.repeat(labels, 2), 0)
        results.append({"boxes": near, "labels": guesses, "scores": rng.random(len(near))})
    thresholds = [(50 + 5 * step) / 100 for step in range(10)]
    table = np.array(
        [
            [slow_average_precision(results, targets, label, threshold, points) for threshold in thresholds]
            for label in range(3)
        ]
    )
    expected = 100 * table.mean(0)
    assert 5 < expected.mean() < 95  # a case that can tell
    result = average_precision(results, targets, points)
    assert result == pytest.approx({"AP_all": expected.mean(), "AP_50": expected[0], "AP_75": expected[5]})


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


def test_a_detector_learns_rectangles(tmp_path):
    torch.manual_seed(0)
    model, test = make_detector(TinyResNet()), pictures(12, seed=1)
    before = evaluate(model, test)
    settings = {**HOW, "iterations": 60, "warmup": 10, "precise_norm": 6}
    losses = fine_tune(model, pictures(24, seed=0), settings, 0, tmp_path, Stop())
    after = evaluate(model, test)
    assert len(losses) == 60
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert before["AP_50"] < 5
    assert after["AP_50"] > 60
    assert after["AP_all"] > 30
    assert after["AP_75"] < after["AP_50"]


@pytest.mark.parametrize("look", [4, 9])  # while it trains, and while batch norm's statistics are computed anew
def test_an_interrupted_fine_tuning_ends_in_the_same_weights_to_the_bit(tmp_path, look):
    settings = {**HOW, "sides": [48, 64], "iterations": 7, "warmup": 3, "precise_norm": 4}
    data = pictures(10, seed=0)

    def model():
        torch.manual_seed(5)
        return make_detector(TinyResNet(), sides=[48, 64])

    whole, parts = model(), model()
    losses = fine_tune(whole, data, settings, 1, tmp_path / "whole", Stop())
    with pytest.raises(Interrupted, match=f"stopped at iteration {min(look - 1, 7)} of 7; the state is saved"):
        fine_tune(parts, data, settings, 1, tmp_path / "parts", Stop(look))
    parts = model()
    torch.manual_seed(99)  # of a new process
    assert fine_tune(parts, data, settings, 1, tmp_path / "parts", Stop()) == losses
    found, expected = parts.state_dict(), whole.state_dict()
    assert all(torch.equal(found[key], expected[key]) for key in expected)
    # a finished one is only read
    again = model()
    assert fine_tune(again, [{}], settings, 1, tmp_path / "parts", Stop(1)) == losses
    assert all(torch.equal(again.state_dict()[key], expected[key]) for key in expected)
    other = fine_tune(model(), data, settings, 2, tmp_path / "other", Stop())
    assert other != losses


def test_a_loss_that_is_not_finite_is_one_clear_error(tmp_path):
    settings = {**HOW, "iterations": 20, "warmup": 0, "precise_norm": 1, "learning_rate": 1e6}
    torch.manual_seed(0)
    with pytest.raises(UserError, match="detection diverged at iteration [1-9].*lower `learning_rate`"):
        fine_tune(make_detector(TinyResNet()), pictures(4, seed=0), settings, 0, tmp_path, Stop())


def test_the_detector_holds_the_exported_backbone(tmp_path):
    save(make_encoder("resnet18", "imagenet", 3), tmp_path)
    encoder = load(tmp_path)
    expected = {key: value.clone() for key, value in encoder.state_dict().items()}
    model = make_detector(encoder, region_size=2)
    stem = {"conv1": "stem.0", "bn1": "stem.1", "layer1": "stages.0", "layer2": "stages.1", "layer3": "stages.2"}
    state = model.state_dict()
    for key, value in expected.items():
        part, _, rest = key.partition(".")
        place = "roi_heads.box_head.stage" if part == "layer4" else f"backbone.{stem[part]}"
        assert torch.equal(state[f"{place}.{rest}"], value)
    assert all(parameter.requires_grad for parameter in model.parameters())
    image = torch.rand(1, 3, 64, 96)
    assert model.backbone(image).shape == (1, 256, 4, 6)
    assert model.roi_heads.box_head(torch.rand(5, 256, 14, 14)).shape == (5, 512)
    with pytest.raises(UserError, match="four stages of a ResNet"):
        make_detector(make_encoder("conv3", None, 3))


def test_a_mirrored_image_takes_its_boxes_along():
    (item,) = pictures(1, seed=3)
    image, target = as_input(item, torch.device("cpu"), flip=True)
    assert target["labels"].tolist() == (item["labels"] + 1).tolist()
    for box, label in zip(target["boxes"].int().tolist(), item["labels"], strict=True):
        inside = image[:, box[1] : box[3], box[0] : box[2]]
        colour = torch.tensor(COLOURS[label] / 255, dtype=torch.float32)
        assert torch.allclose(inside, colour[:, None, None].expand_as(inside))


def test_running_statistics_are_those_of_the_final_weights(tmp_path):
    torch.manual_seed(0)
    model, data = make_detector(TinyResNet()), pictures(4, seed=0)
    fine_tune(model, data, {**HOW, "iterations": 2, "warmup": 0, "precise_norm": 3}, 0, tmp_path, Stop())
    # every batch holds all four pictures, mirrored or not: a stride of 2 sees nearly the same in both
    first = model.backbone.stem[0](
        model.transform([as_input(item, torch.device("cpu"))[0] for item in data])[0].tensors
    )
    norm = model.backbone.stem[1]
    assert norm.num_batches_tracked == 3
    torch.testing.assert_close(norm.running_mean, first.mean((0, 2, 3)), atol=0.03, rtol=0.03)


def test_the_schedule_of_24000_iterations():
    found = [factor(iteration, 24_000, 100) for iteration in (0, 50, 100, 17_999, 18_000, 21_999, 22_000, 23_999)]
    assert found == pytest.approx([0.001, 0.5005, 1, 1, 0.1, 0.1, 0.01, 0.01])


def test_data_that_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(UserError, match="no images"):
        fine_tune(nn.Linear(1, 1), [], HOW, 0, tmp_path, Stop())
    with pytest.raises(UserError, match="no box that is not difficult"):
        average_precision([found(A)], [truth(A, difficult=[True])])
