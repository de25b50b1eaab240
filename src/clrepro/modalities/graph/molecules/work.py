"""Fine-tune a trained encoder on one set of molecules, and test it."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from clrepro.console import say
from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.modalities.graph.molecules import storage
from clrepro.modalities.graph.molecules.build import molecule_set_builds
from clrepro.modalities.graph.molecules.encoder import load
from clrepro.modalities.graph.molecules.fine_tuning import Classifier, fine_tune, logits_of, roc_auc
from clrepro.modalities.graph.molecules.scaffolds import SELECTION, TEST, TRAINING
from clrepro.modalities.run import Run
from clrepro.paths import read_json
from clrepro.settings import Common
from clrepro.training.export import checked_model

POINTS = 20  # of the loss in the record


def evaluate(run: Run, config: Common, protocol: dict[str, dict], state: Path, stop: Any, seed: int) -> dict[str, Any]:
    """The scores of one run on one set, fine-tuned with one seed; 0 where its encoder's training diverged.

    protocol: {the set's name: settings}. The last epoch counts; the score on the part that could select an epoch is
    recorded beside it.
    """
    ((name, settings),) = protocol.items()
    if "diverged" in read_json(run.record):
        return {"rows": [[name, "test", "roc_auc", 0.0]]}
    build, device = molecule_set_builds(config)[name], choose_device(config.device)
    molecules = storage.load(build.folder)
    torch.manual_seed(seed)
    model = Classifier(load(checked_model(run.record)), molecules.labels.shape[1], settings["dropout"]).to(device)
    rows = {part: np.flatnonzero(molecules.parts == part) for part in (TRAINING, SELECTION, TEST)}
    losses = fine_tune(model, molecules, rows[TRAINING], settings, seed, state, stop)
    scores = {}
    for split, part in (("test", TEST), ("selection", SELECTION)):
        score = roc_auc(logits_of(model, molecules, rows[part]), molecules.labels[rows[part]])
        if score is not None:
            scores[split] = score
    if "test" not in scores:
        raise UserError(f"{name}: no task has both classes in the test part of {build.folder}; nothing can be measured")
    say(f"    {name}, seed {seed}: ROC-AUC {scores['test']:.2f}")
    return {
        "rows": [[name, split, "roc_auc", round(score, 6)] for split, score in scores.items()],
        "history": history(losses),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else device.type,
    }


def history(losses: list[float]) -> list[list[float]]:
    """[step, mean loss since the one before], at most ``POINTS`` of them."""
    every = -(-len(losses) // POINTS)
    parts = [losses[start : start + every] for start in range(0, len(losses), every)]
    return [[min((number + 1) * every, len(losses)), sum(part) / len(part)] for number, part in enumerate(parts)]
