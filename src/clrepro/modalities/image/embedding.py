"""Features of both splits, once per checkpoint; and these with all that evaluations of features need."""

from pathlib import Path

import numpy as np
import torch

from clrepro.console import say
from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.modalities.image import image_sets
from clrepro.modalities.image.encoder import load
from clrepro.modalities.image.features import augmentation_of_tests
from clrepro.modalities.image.features import embed as embed_split
from clrepro.modalities.run import Run
from clrepro.paths import read_json, replacing
from clrepro.settings import Common
from clrepro.training.export import checked_model


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    """Features (n, D) float32 of every run in folder/<run.name>.npz; not a number after a training that diverged."""
    torch.set_num_threads(config.jobs.threads)
    device = choose_device(config.device)
    for number, run in enumerate(runs, 1):
        encoder = load(checked_model(run.record))
        shown = augmentation_of_tests(run.recipe.augmentation, run.backbone.encoder)
        say(f"[{number}/{len(runs)}] {run.folder}")
        features = {
            split: embed_split(encoder, image_sets.load(run.backbone.folder / split), shown, device)
            for split in image_sets.SPLITS
        }
        if "diverged" in read_json(run.record):
            features = {split: np.full_like(part, np.nan) for split, part in features.items()}
        elif not all(np.isfinite(part).all() for part in features.values()):
            raise UserError(f"{run.folder}: the features are not finite; the checkpoint is broken")
        images = read_json(run.backbone.records[0])["sha256"]
        with replacing(folder / f"{run.name}.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, images=images, **features)
