import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from clrepro.objectives import make
from clrepro.paths import digest, read_json, write_json
from clrepro.training.export import checked_model
from clrepro.training.loop import fit, seed_everything
from tests.modalities.toy.plan import POINTS


class Points:
    """Two noisy views of all five points at every step; the last checkpoint counts."""

    keeps_last = True
    batch_size = smallest_batch = len(POINTS)

    def __init__(self, width, settings):
        self.model = nn.Linear(2, width)
        self.steps, self.step = settings["steps"], 0

    def terms(self, model, step, device, part=0, parts=1):
        self.step = step + 1
        noise = torch.randn(2, len(POINTS), 2, generator=torch.Generator().manual_seed(step)) / 10
        view1, view2 = (model(torch.tensor(POINTS) + part) for part in noise)
        return [(view1, view2, {})]

    def embed(self, device):
        return None

    def select(self, vectors, device):
        return {"last_step": float(self.step)}

    def measure(self, recorder, step, vectors, device):
        pass

    def export(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.model.state_dict(), folder / "model.safetensors")


def prepare(build, config):
    write_json(build.folder / "record.json", {"points": POINTS, "sha256": digest(POINTS)})


def inputs_digest(run, config):
    return read_json(run.backbone.records[0])["sha256"]


def train(run, config, state, stop):
    seed_everything(run.seed)
    settings = {**run.recipe.model_dump(), "weight_decay": 0.0, "clip": None, "evaluate_every": 2}
    workload = Points(run.backbone.spec["width"], settings)
    return fit(workload, make(run.objective, run.variant, **run.params), settings, config.device, state, stop)


def said(result):
    return f"{result['steps']} steps"


def kept_steps(run, steps):
    return []


def embed(runs, config, folder):
    for run in runs:
        weights = load_file(checked_model(run.record) / "model.safetensors")
        vectors = torch.tensor(POINTS) @ weights["weight"].T + weights["bias"]
        np.savez(folder / f"{run.name}.npz", vectors=vectors.numpy())


def load(run, config, file, uses_gpu):
    with np.load(file) as stored:
        return stored["vectors"]


def axes(vectors, protocol, kinds, seed):
    """Share of the variance on the first axes after a random turn, a repetition each seed."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(vectors.shape[1],) * 2))[0]
    variances = (vectors @ turn).var(0)
    share = 100 * variances[: protocol["axes"]["axes"]].sum() / variances.sum()
    return {"rows": [["axes", "test", "share", round(float(share), 6)]]}
