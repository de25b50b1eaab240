"""SentEval for any encoder, exactly as SimCSE's fork computes it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from clrepro.errors import UserError, unknown
from clrepro.evaluation.senteval.files import EXTRA_TASKS, REGRESSION_TASKS, TRANSFER_TASKS, distinct_sentences
from clrepro.evaluation.senteval.pairs import SPLITS, STS_SUBSETS, STS_TASKS
from clrepro.evaluation.senteval.protocols import PROTOCOLS
from clrepro.evaluation.senteval.sts import Similarities, correlations, similarities
from clrepro.evaluation.senteval.transfer import evaluate_relatedness_tasks, evaluate_transfer

DEFAULT_TASKS = (*STS_TASKS, *TRANSFER_TASKS)
TASKS = (*DEFAULT_TASKS, *EXTRA_TASKS, *REGRESSION_TASKS)


def evaluate(
    encode: Callable[[list[str]], np.ndarray],
    root: Path,
    tasks: Sequence[str] | None = None,
    protocol: str = "test",
    device: str = "cpu",
    keep: Path | None = None,
) -> pd.DataFrame:
    """Evaluate an encoder, list[str] -> (n, D) float32, on a folder that holds STS/, SICK/, MR/ ...

    tasks: SentEval's names, by default the seven STS and the seven transfer tasks; also SST5, SICKEntailment, and with
    a trained regressor STSBenchmark-finetune and SICKRelatedness-finetune.
    protocol: "test" (10 folds, Adam), "fast" (5 folds, RMSprop) or "dev" ("fast", development scores only).
    device: where the classifiers train. keep: an npz file for the cosine and the gold score of every STS pair, if any.

    Returns the columns task, split, metric, value: accuracy and f1 in percent, correlations from -1 to 1; splits train,
    dev and test. A missing file is a FileNotFoundError, a wrong one a UserError.
    """
    tasks = list(dict.fromkeys(DEFAULT_TASKS if tasks is None else tasks))
    for task in tasks:
        if task not in TASKS:
            raise unknown("task", task, TASKS)
    if protocol not in (*PROTOCOLS, "dev"):
        raise unknown("protocol", protocol, (*PROTOCOLS, "dev"))
    splits = SPLITS
    if protocol == "dev":  # STS12-16 are test sets only
        tasks, splits = [task for task in tasks if task not in STS_SUBSETS], ("dev",)
    sentences = distinct_sentences(root, tuple(tasks), splits)
    vectors = np.asarray(encode(sentences), np.float32)
    if vectors.ndim != 2 or len(vectors) != len(sentences):
        raise UserError(f"the encoder returned {vectors.shape} for {len(sentences)} sentences, expected one row each")
    found = similarities(vectors, sentences, root, [task for task in tasks if task in STS_TASKS], splits)
    if keep is not None and found:
        columns = {}
        for key, (cosine, gold) in found.items():
            name = " ".join(filter(None, key))
            columns |= {f"{name} cosine": cosine, f"{name} gold": gold}
        np.savez_compressed(keep, **columns)
    rows = correlations(found)
    folds = "fast" if protocol == "dev" else protocol
    classified = tuple(task for task in tasks if task in (*TRANSFER_TASKS, *EXTRA_TASKS))
    rows += evaluate_transfer(vectors, sentences, root, folds, classified, device)
    rows += evaluate_relatedness_tasks(
        vectors, sentences, root, tuple(task for task in tasks if task in REGRESSION_TASKS)
    )
    table = pd.DataFrame(rows, columns=["task", "split", "metric", "value"])
    return table[table["split"] == "dev"].reset_index(drop=True) if protocol == "dev" else table


def kept_pairs(file: Path) -> Similarities:
    """What `evaluate` kept: the cosine and the gold score of every STS pair."""
    found: Similarities = {}
    with np.load(file) as columns:
        for name in columns:
            key, _, kind = name.rpartition(" ")
            if kind == "cosine":
                task, split, *subset = key.split(" ")
                found[task, split, "".join(subset)] = columns[name], columns[f"{key} gold"]
    return found
