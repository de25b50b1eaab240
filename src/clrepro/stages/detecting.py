"""Fine-tune trained encoders as detectors and test them."""

import time
from pathlib import Path

from clrepro.catalogue import Catalogue, Run
from clrepro.catalogue.detection import FILE
from clrepro.catalogue.runs import digest
from clrepro.errors import Interrupted
from clrepro.paths import STATE, read_json, write_json
from clrepro.stages.common import checked_model, say
from clrepro.stages.exporting import link_file
from clrepro.stages.training import environment
from clrepro.workflow import fingerprint, provenance

POINTS = 20  # of the loss in the record


def detect(catalogue: Catalogue, runs: list[Run]) -> None:
    """Fine-tune and test what is not yet finished, and write rows [task, split, metric, value] beside each record."""
    import torch

    from clrepro.training import saved
    from clrepro.training.loop import StopFlag

    torch.set_num_threads(catalogue.config.jobs.threads)
    with StopFlag() as stop:
        for number, run in enumerate(runs, 1):
            say(f"[{number}/{len(runs)}] {run.folder}")
            state = state_of(catalogue, run)
            if not (state / FILE).exists():
                write_json(state / FILE, {**inputs(catalogue, run), **detected(catalogue, run, state, stop)})
                saved.finish(state)
            link_file(state / FILE, run.folder / FILE)
            if stop.requested and number < len(runs):
                raise Interrupted(f"stopped after run {number} of {len(runs)}; what is finished is kept")


def inputs(catalogue: Catalogue, run: Run) -> dict:
    """What decides a detector's scores: settings, code, seed, the encoder's weights and the images."""
    return {
        "protocol": run.evaluation["detection"],
        "code": fingerprint.of_stage("detect"),
        "seed": run.seed,
        "model": read_json(run.record)["model"]["sha256"],
        "data": read_json(catalogue.detection.records[0])["sha256"],
    }


def state_of(catalogue: Catalogue, run: Run) -> Path:
    """Where fine-tuning keeps what it must not lose."""
    name = f"detection-{run.hash8}-seed{run.seed}-{digest(inputs(catalogue, run))}"
    return STATE / run.scale / name


def detected(catalogue: Catalogue, run: Run, state: Path, stop) -> dict:
    """The scores of one run's detector; 0 where its encoder's training diverged."""
    import torch

    from clrepro.modalities.image.augmentations import STATISTICS
    from clrepro.modalities.image.detection.boxes import VOC_CLASSES, Annotated
    from clrepro.modalities.image.detection.detector import make_detector
    from clrepro.modalities.image.detection.fine_tuning import fine_tune
    from clrepro.modalities.image.detection.precision import (
        COCO_POINTS,
        NAMES,
        VOC07_POINTS,
        answers,
        average_precision,
    )
    from clrepro.modalities.image.encoder import load
    from clrepro.training.loop import choose_device

    points = {"detection": COCO_POINTS, "detection_voc07": VOC07_POINTS}
    if "diverged" in read_json(run.record):
        return {"rows": [[task, "test", name, 0.0] for task in points for name in NAMES]}
    settings, statistics = run.evaluation["detection"], STATISTICS[run.backbone.encoder["statistics"]]
    device, threads = choose_device(catalogue.config.device), catalogue.config.jobs.threads
    workers = threads if threads > 1 else 0
    train, test = (Annotated(catalogue.detection.folder / f"{split}.json") for split in ("train", "test"))
    started, energy = time.perf_counter(), provenance.Energy()
    torch.manual_seed(run.seed)
    model = make_detector(load(checked_model(run)), len(VOC_CLASSES), settings, statistics).to(device)
    losses = fine_tune(model, train, settings, run.seed, state, stop, workers)
    found = answers(model, test, stop, workers)
    scores = {task: average_precision(*found, count) for task, count in points.items()}
    seconds = time.perf_counter() - started
    say(f"    {', '.join(f'{name} {value:.1f}' for name, value in scores['detection'].items())}, {seconds:.1f} s")
    return {
        "rows": [[task, "test", name, round(scores[task][name], 6)] for task in points for name in NAMES],
        "history": history(losses),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else device.type,
        "seconds": round(seconds, 2),
        "energy_wh": energy.used(),
        "commit": provenance.commit(),
        "hardware": provenance.hardware(device.type),
        "environment": environment(),
    }


def history(losses: list[float]) -> list[list[float]]:
    """[iteration, mean loss since the one before], at most ``POINTS`` of them."""
    every = -(-len(losses) // POINTS)
    parts = [losses[start : start + every] for start in range(0, len(losses), every)]
    return [[min((number + 1) * every, len(losses)), sum(part) / len(part)] for number, part in enumerate(parts)]
