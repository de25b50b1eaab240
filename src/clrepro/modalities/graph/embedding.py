"""Embeddings of all graphs of a set, once per checkpoint."""

from pathlib import Path

import numpy as np
import torch

from clrepro.console import say
from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.modalities.graph import graph_sets
from clrepro.modalities.graph.encoder import embed as embed_set
from clrepro.modalities.graph.encoder import load
from clrepro.modalities.graph.training import as_seen
from clrepro.modalities.run import Run
from clrepro.paths import read_json, replacing
from clrepro.settings import Common
from clrepro.training.export import checked_model


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    """Embeddings (G, D) float32 and labels of every run in folder/<run.name>.npz; not a number where it diverged."""
    torch.set_num_threads(config.jobs.threads)
    device = choose_device(config.device)
    for number, run in enumerate(runs, 1):
        say(f"[{number}/{len(runs)}] {run.folder}")
        graphs = as_seen(graph_sets.load(run.backbone.folder), run.recipe.behaviour)
        vectors = embed_set(load(checked_model(run.record)), graphs, device)
        if "diverged" in read_json(run.record):
            vectors = np.full_like(vectors, np.nan)
        elif not np.isfinite(vectors).all():
            raise UserError(f"{run.folder}: the embeddings are not finite; the checkpoint is broken")
        data = read_json(run.backbone.records[0])["sha256"]
        with replacing(folder / f"{run.name}.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, data=data, vectors=vectors, labels=graphs.labels)
