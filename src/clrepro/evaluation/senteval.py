"""SentEval for any encoder: the STS and transfer tasks of SimCSE's fork."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from clrepro.data.pairs import STS_TASKS
from clrepro.data.senteval import TRANSFER_TASKS, distinct_sentences
from clrepro.errors import unknown
from clrepro.evaluation.sts import evaluate_sts
from clrepro.evaluation.transfer import FOLDS, evaluate_transfer


def evaluate(
    encode: Callable[[list[str]], np.ndarray],
    root: Path,
    tasks: list[str] | None = None,
    protocol: str = "test",
) -> pd.DataFrame:
    """Evaluate an encoder, list[str] -> (n, D) float32, on a folder that holds STS/, SICK/, MR/ ...

    tasks: SentEval's names, all fourteen by default. protocol: "test" (10 folds), "fast" (5 folds) or "dev"
    (5 folds, development scores only). Returns the columns task, split, metric, value: accuracies and f1 in
    percent, correlations from -1 to 1. A missing file is a FileNotFoundError.
    """
    tasks = list(tasks or (*STS_TASKS, *TRANSFER_TASKS))
    for task in tasks:
        if task not in (*STS_TASKS, *TRANSFER_TASKS):
            raise unknown("task", task, (*STS_TASKS, *TRANSFER_TASKS))
    if protocol not in (*FOLDS, "dev"):
        raise unknown("protocol", protocol, (*FOLDS, "dev"))
    sentences = distinct_sentences(root, tuple(tasks))
    vectors = np.asarray(encode(sentences), np.float32)
    rows = evaluate_sts(vectors, sentences, root, tuple(task for task in tasks if task in STS_TASKS))
    folds = "fast" if protocol == "dev" else protocol
    rows += evaluate_transfer(vectors, sentences, root, folds, tuple(t for t in tasks if t in TRANSFER_TASKS))
    table = pd.DataFrame(rows, columns=["task", "split", "metric", "value"])
    return table[table["split"] == "dev"].reset_index(drop=True) if protocol == "dev" else table
