"""Stored features of a run with their labels, and its images and encoder for evaluations that need these as well."""

from pathlib import Path

import numpy as np
import torch

from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.modalities.image import image_sets
from clrepro.modalities.image.encoder import load as load_encoder
from clrepro.modalities.image.features import Images, augmentation_of_tests
from clrepro.modalities.image.probes import Features
from clrepro.modalities.run import Run
from clrepro.paths import read_json
from clrepro.settings import Common
from clrepro.training.export import checked_model


def load(run: Run, config: Common, file: Path, uses_gpu: bool) -> Features:
    """The features in a file, if they are of today's images; uses_gpu: for evaluations that show the encoder images."""
    torch.set_num_threads(1)
    with np.load(file) as stored:
        if stored["images"] != read_json(run.backbone.records[0])["sha256"]:
            raise UserError(f"{file} holds features of other images than today's; delete {file.parent} and embed again")
        vectors = {split: stored[split] for split in image_sets.SPLITS}
    sets = {split: image_sets.load(run.backbone.folder / split) for split in image_sets.SPLITS}
    labels = {split: part.labels for split, part in sets.items()}
    shown = augmentation_of_tests(run.recipe.augmentation, run.backbone.encoder)
    device = choose_device(config.device) if uses_gpu else torch.device("cpu")
    images = Images(lambda: load_encoder(checked_model(run.record)), sets, shown, device)
    return Features(vectors["train"], labels["train"], vectors["test"], labels["test"], images)
