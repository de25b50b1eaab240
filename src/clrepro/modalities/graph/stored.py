"""Stored embeddings of a run with the graphs' labels, as evaluations take them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.modalities.run import Run
from clrepro.paths import read_json
from clrepro.settings import Common


@dataclass(frozen=True)
class Embedded:
    """Embeddings (G, D) and labels (G,) of the graphs of a set; seed: of the training, which draws folds as well."""

    vectors: np.ndarray
    labels: np.ndarray
    seed: int


def load(run: Run, config: Common, file: Path, uses_gpu: bool) -> Embedded:
    """The embeddings in a file, if they are of today's graphs."""
    with np.load(file) as stored:
        if stored["data"] != read_json(run.backbone.records[0])["sha256"]:
            raise UserError(
                f"{file} holds embeddings of other graphs than today's; delete {file.parent} and embed again"
            )
        return Embedded(stored["vectors"], stored["labels"], run.seed)
