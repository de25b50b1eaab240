"""What several stages share."""

import sys
from pathlib import Path

from clrepro.catalogue import Catalogue, Run
from clrepro.catalogue.runs import digest
from clrepro.errors import UserError
from clrepro.paths import read_json, sha256


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def inputs_digest(catalogue: Catalogue, run: Run) -> str:
    """What a training read, by content: the backbone's weights, the tokens, the evaluation sets; or the images."""
    if run.modality == "image":
        return read_json(run.backbone.records[0])["sha256"]
    tokens, backbone = map(read_json, run.backbone.records)
    return digest([tokens["sha256"], backbone["sha256"], read_json(catalogue.tasks.record)["sha256"]])


def checked_model(run: Run) -> Path:
    """The folder of a run's model, if its weights are still those of the record."""
    model = read_json(run.record)["model"]
    weights = Path(model["path"]) / "model.safetensors"
    if not weights.is_file() or sha256(weights) != model["sha256"]:
        state = "does not match the sha256 in" if weights.is_file() else "is missing, but named by"
        raise UserError(f"{weights} {state} {run.record}; delete that record to make the run again")
    return weights.parent
