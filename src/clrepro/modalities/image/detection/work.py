"""Fine-tune a trained encoder as a detector and test it."""

import time
from pathlib import Path
from typing import Any

import torch

from clrepro.console import say
from clrepro.device import choose_device
from clrepro.modalities.image.augmentations import STATISTICS
from clrepro.modalities.image.detection.boxes import VOC_CLASSES, Annotated
from clrepro.modalities.image.detection.detector import make_detector
from clrepro.modalities.image.detection.fine_tuning import fine_tune
from clrepro.modalities.image.detection.plan import boxes_build
from clrepro.modalities.image.detection.precision import COCO_POINTS, NAMES, VOC07_POINTS, answers, average_precision
from clrepro.modalities.image.encoder import load
from clrepro.modalities.run import Run
from clrepro.paths import read_json
from clrepro.settings import Common
from clrepro.training.export import checked_model

POINTS = 20  # of the loss in the record
RECALLS = {"detection": COCO_POINTS, "detection_voc07": VOC07_POINTS}


def evaluate(run: Run, config: Common, protocol: dict[str, dict], state: Path, stop: Any) -> dict[str, Any]:
    """The scores of one run's detector; 0 where its encoder's training diverged."""
    if "diverged" in read_json(run.record):
        return {"rows": [[task, "test", name, 0.0] for task in RECALLS for name in NAMES]}
    settings, statistics = protocol["detection"], STATISTICS[run.backbone.encoder["statistics"]]
    device, threads = choose_device(config.device), config.jobs.threads
    workers = threads if threads > 1 else 0
    folder = boxes_build(config).folder
    train, test = (Annotated(folder / f"{split}.json") for split in ("train", "test"))
    started = time.perf_counter()
    torch.manual_seed(run.seed)
    model = make_detector(load(checked_model(run.record)), len(VOC_CLASSES), settings, statistics).to(device)
    losses = fine_tune(model, train, settings, run.seed, state, stop, workers, train.wide)
    found = answers(model, test, stop, workers)
    scores = {task: average_precision(*found, count) for task, count in RECALLS.items()}
    seconds = time.perf_counter() - started
    say(f"    {', '.join(f'{name} {value:.1f}' for name, value in scores['detection'].items())}, {seconds:.1f} s")
    return {
        "rows": [[task, "test", name, round(scores[task][name], 6)] for task in RECALLS for name in NAMES],
        "history": history(losses),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else device.type,
    }


def history(losses: list[float]) -> list[list[float]]:
    """[iteration, mean loss since the one before], at most ``POINTS`` of them."""
    every = -(-len(losses) // POINTS)
    parts = [losses[start : start + every] for start in range(0, len(losses), every)]
    return [[min((number + 1) * every, len(losses)), sum(part) / len(part)] for number, part in enumerate(parts)]
