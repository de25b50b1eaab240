"""The probes of stored image features, by the file that holds their rows [task, split, metric, value].

All but statistics are percentages. The features of a training that diverged are not finite: its accuracies are 0, and
statistics, which it has none of, have no rows.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clrepro.evaluation import collapse, fine_tune, knn, linear_probe
from clrepro.evaluation.labels import class_count
from clrepro.modalities.image import augmented_probe
from clrepro.modalities.image.features import Images
from clrepro.modalities.image.label_shares import label_subset, selection_rows

SELECTED_SHARE = 0.9  # of the labels train the head whose choice of a learning rate stands for that of all labels


@dataclass(frozen=True)
class Features:
    """Features (n, D) and labels (n,) of both splits; images, for what is probed on more than stored features."""

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    images: Images | None = None

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return self.train, self.train_labels, self.test, self.test_labels


def rows(
    file: str, features: Features, settings: dict[str, dict[str, Any]], kinds: Iterable[str], **resuming: Any
) -> list[list]:
    """The rows of one file, such as knn.json.

    settings: those of the recipe's `evaluation`, by task. kinds: the tasks that are asked, a head's accuracy on the
    part of the training images that chooses as finetune_10_selection. resuming: state and stop, for what resumes.
    """
    kind, kinds = file.removesuffix(".json"), set(kinds)
    wanted = {
        task: {**part, "splits": [split for split in ("test", "selection") if named(task, split) in kinds]}
        for task, part in settings.items()
        if task.split("_")[0] == kind
    }
    found = PROBES[kind](features, {task: part for task, part in wanted.items() if part["splits"]}, **resuming)
    return [[*place, round(value, 6)] for *place, value in found if math.isfinite(value)]


def named(task: str, split: str) -> str:
    return task if split == "test" else f"{task}_{split}"


def linear(
    features: Features, settings: dict[str, dict[str, Any]], state: Path | None = None, stop: Any = None
) -> list[list]:
    """On stored features, or, where the recipe says so, on features of images that are augmented every epoch anew.

    state, stop: of the latter, which resumes (`augmented_probe`).
    """
    how = {key: value for key, value in settings["linear"].items() if key != "splits"}
    augmentation, how = how.pop("augmentation", "none"), linear_probe.ProbeSettings(**how)
    if augmentation == "none" or not np.isfinite(features.train).all():
        scores = linear_probe.evaluate(*features.parts, how)
    else:
        test, answers = linear_probe.paired(features.test, features.test_labels, "test", features.images.device)
        classes = class_count(features.train_labels, features.test_labels)
        weights, biases = augmented_probe.fit(features.images, augmentation, test.shape[1], classes, how, state, stop)
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
    """By shares of the labels; `selection`: the accuracy on images that neither these nor anchors saw.

    Of a frozen encoder a head on stored features; else encoder and head, on images as a test shows them.
    """
    labels = features.train_labels
    classes = class_count(features.train_labels, features.test_labels)
    chosen = {"test": None, "selection": selection_rows(labels)}
    found = []
    for task, how in settings.items():
        how = dict(how)
        share, splits = how.pop("share"), how.pop("splits")
        how = fine_tune.HeadSettings(**{**how, "hidden": tuple(how["hidden"])})
        if not np.isfinite(features.train).all():
            how = replace(how, frozen=True)  # there is nothing to train on: the head names no class
        trained: dict[float, torch.nn.Module] = {}
        for split in splits:
            part = share if split == "test" else min(share, SELECTED_SHARE)
            if part not in trained:
                trained[part] = fine_tuned(features, label_subset(labels, part), classes, how)
            shown = tested(features, chosen[split], how.frozen)
            found += [[task, split, metric, value] for metric, value in fine_tune.score(trained[part], shown).items()]
    return found


def fine_tuned(features: Features, rows: np.ndarray, classes: int, how: fine_tune.HeadSettings) -> torch.nn.Module:
    """What is trained on some of the training images: a head, or encoder and head."""
    if how.frozen:
        train, labels = (torch.from_numpy(np.array(part))[rows] for part in features.parts[:2])
        return fine_tune.train_head(train, labels, classes, how)
    images = features.images
    batches = images.shuffled(rows, how.batch_size, how.seed)
    return fine_tune.train_network(images.encoder(), batches, classes, how, images.device)


def tested(features: Features, rows: np.ndarray | None, frozen: bool) -> Iterable:
    """Batches of features or images, with their labels: the test split, or rows of the training split."""
    if not frozen:
        return features.images.in_order("test" if rows is None else "train", rows)
    pair = features.parts[2:] if rows is None else (part[rows] for part in features.parts[:2])
    return [tuple(torch.from_numpy(np.array(part)) for part in pair)]


def collapsed(features: Features, settings: dict[str, dict[str, Any]]) -> list[list]:
    """Of the test images."""
    found = collapse.statistics(features.test)
    found["class_contrast"] = collapse.class_contrast(features.test, features.test_labels)
    return [["collapse", "test", name, value] for name, value in found.items()]


PROBES = {"linear": linear, "knn": nearest, "finetune": finetune, "collapse": collapsed}


def content(
    name: str, features: Features, protocol: dict[str, dict], kinds: list[str], **resuming: Any
) -> dict[str, Any]:
    """What an evaluation's file holds: its settings and the rows that are asked."""
    return {"protocol": protocol, "rows": rows(f"{name}.json", features, protocol, kinds, **resuming)}


evaluate_linear = partial(content, "linear")
evaluate_neighbours = partial(content, "knn")
evaluate_heads = partial(content, "finetune")
evaluate_collapse = partial(content, "collapse")
