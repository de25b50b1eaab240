"""The probes of stored image features, by the file that holds their rows [task, split, metric, value].

All but statistics are percentages. The features of a training that diverged are not finite: its accuracies are 0, and
statistics, which it has none of, have no rows.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from clrepro.evaluation import collapse, fine_tune, knn, linear_probe

SELECTED_SHARE = 0.9  # of the labels train the head whose choice of a learning rate stands for that of all labels


@dataclass(frozen=True)
class Features:
    """Features (n, D) and labels (n,) of both splits."""

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    # (augmentation, batch size) -> batches of features of augmented training images; and where these lie
    augmented: Callable[[str, int], linear_probe.Batches] | None = None
    device: torch.device | str = "cpu"

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return self.train, self.train_labels, self.test, self.test_labels


def rows(file: str, features: Features, settings: dict[str, dict[str, Any]], kinds: Iterable[str]) -> list[list]:
    """The rows of one file, such as knn.json.

    settings: those of the recipe's `evaluation`, by task. kinds: the tasks that are asked, a head's accuracy on the
    part of the training images that chooses as finetune_10_selection.
    """
    kind, kinds = file.removesuffix(".json"), set(kinds)
    wanted = {
        task: {**part, "splits": [split for split in ("test", "selection") if named(task, split) in kinds]}
        for task, part in settings.items()
        if task.split("_")[0] == kind
    }
    found = PROBES[kind](features, {task: part for task, part in wanted.items() if part["splits"]})
    return [[*place, round(value, 6)] for *place, value in found if math.isfinite(value)]


def named(task: str, split: str) -> str:
    return task if split == "test" else f"{task}_{split}"


def linear(features: Features, settings: dict[str, dict[str, Any]]) -> list[list]:
    """On stored features, or, where the recipe says so, on features of images that are augmented every epoch anew."""
    how = {key: value for key, value in settings["linear"].items() if key != "splits"}
    augmentation, how = how.pop("augmentation", "none"), linear_probe.Settings(**how)
    if augmentation == "none" or not np.isfinite(features.train).all():
        scores = linear_probe.evaluate(*features.parts, how)
    else:
        batches, device = features.augmented(augmentation, how.batch_size), features.device
        test, answers = linear_probe.paired(features.test, features.test_labels, "test", device)
        classes = int(max(features.train_labels.max(), features.test_labels.max())) + 1
        weights, biases = linear_probe.fit(batches, test.shape[1], classes, how, device)
        scores = linear_probe.accuracies(linear_probe.logits(test, weights, biases), answers)
    return [["linear", "test", metric, value] for metric, value in scores.items()]


def nearest(features: Features, settings: dict[str, dict[str, Any]]) -> list[list]:
    """k is at most the number of training images."""
    found = []
    for task, part in settings.items():
        how = {key: value for key, value in part.items() if key != "splits"}
        scores = knn.evaluate(*features.parts, **{**how, "k": min(how["k"], len(features.train))})
        found += [[task, "test", metric, value] for metric, value in scores.items()]
    return found


def finetune(features: Features, settings: dict[str, dict[str, Any]]) -> list[list]:
    """Heads of several shares of the labels; `selection`: the accuracy on images that neither they nor anchors saw."""
    parts = features.train, features.train_labels, features.test, features.test_labels
    train, labels, test, answers = (torch.from_numpy(np.array(part)) for part in parts)
    classes = int(max(labels.max(), answers.max())) + 1
    chosen = torch.from_numpy(fine_tune.selection_rows(features.train_labels))
    found = []
    for task, how in settings.items():
        how = dict(how)
        share, splits = how.pop("share"), how.pop("splits")
        how = fine_tune.Settings(**{**how, "hidden": tuple(how["hidden"])})
        heads: dict[float, torch.nn.Module] = {}
        for split in splits:
            part = share if split == "test" else min(share, SELECTED_SHARE)
            if part not in heads:
                rows = torch.from_numpy(fine_tune.label_subset(features.train_labels, part))
                heads[part] = fine_tune.train_head(train[rows], labels[rows], classes, how)
            pair = (test, answers) if split == "test" else (train[chosen], labels[chosen])
            found += [[task, split, metric, value] for metric, value in fine_tune.score(heads[part], [pair]).items()]
    return found


def collapsed(features: Features, settings: dict[str, dict[str, Any]]) -> list[list]:
    """Of the test images."""
    return [["collapse", "test", name, value] for name, value in collapse.statistics(features.test).items()]


PROBES = {"linear": linear, "knn": nearest, "finetune": finetune, "collapse": collapsed}
