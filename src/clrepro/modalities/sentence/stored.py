"""Stored sentence embeddings: the vectors of every distinct test sentence, and where the tasks lie."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.evaluation.senteval.files import distinct_sentences
from clrepro.paths import digest, read_json
from clrepro.sources.source import Source


@dataclass(frozen=True)
class Stored:
    """vectors: (n, D) float32, row i for sentences[i]. root: folder of the tasks, whose identity is `tasks`."""

    vectors: np.ndarray
    sentences: list[str]
    root: Path
    tasks: str


def load(file: Path, tasks: Source) -> Stored:
    """Stored embeddings, if they are of today's sentences."""
    root = Path(read_json(tasks.record)["path"])
    sentences = distinct_sentences(root)
    with np.load(file) as stored:
        if stored["sentences"] != digest(sentences):
            raise UserError(f"{file} has vectors of other sentences; delete {file.parent} and embed again")
        return Stored(stored["vectors"], sentences, root, tasks.identity)
