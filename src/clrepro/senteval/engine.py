"""SentEval's ``engine.SE`` on clrepro's implementation of its protocol, for scripts that were written for SentEval.

Results have the shape of SimCSE's fork: correlations of all pairs together (``all``), STSBenchmark and SICKRelatedness
without a regressor. What is not computed here is refused by name: scikit-learn's classifier, hidden layers, optimisers
other than Adam and RMSprop at PyTorch's learning rates, probing tasks, SNLI, COCO.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc

from clrepro.errors import UserError, unknown
from clrepro.evaluation.senteval.files import (
    EXTRA_TASKS,
    REGRESSION_TASKS,
    TRANSFER_TASKS,
    Labelled,
    load_regression,
    load_transfer,
)
from clrepro.evaluation.senteval.functions import in_turns
from clrepro.evaluation.senteval.kernels import MOST_PASSES
from clrepro.evaluation.senteval.pairs import SPLITS, STS_SUBSETS, STS_TASKS, Pairs, load_pairs, load_sts_subset
from clrepro.evaluation.senteval.protocols import SEED, Protocol
from clrepro.evaluation.senteval.relatedness import evaluate_relatedness
from clrepro.evaluation.senteval.similarity import cosines, pearson, spearman
from clrepro.evaluation.senteval.transfer import evaluate_transfer, features, rows_of
from clrepro.sources import evaluation_sets

TASKS = (*STS_TASKS, *TRANSFER_TASKS, *EXTRA_TASKS, *REGRESSION_TASKS)
# what SentEval takes where a script says nothing
DEFAULTS = {"usepytorch": True, "seed": SEED, "batch_size": 128, "kfold": 5}
CLASSIFIER = {
    **{"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 5, "epoch_size": 4},
    **{"max_epoch": MOST_PASSES, "dropout": 0.0},  # the latter is of hidden layers
}


class Params(dict):
    """Settings that are attributes as well, as `prepare` and `batcher` know them; one that is not there is None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Correlation(NamedTuple):
    """(r, p) under the names that SciPy's results have."""

    correlation: float
    pvalue: float

    @property
    def statistic(self) -> float:
        return self.correlation


class SE:
    """An evaluation of one encoder.

    params: `task_path` (the folder that holds downstream/; left out, the data are fetched once, see
    docs/senteval.md), `usepytorch`, `kfold`, `seed`, `batch_size`, `classifier`, `similarity`, and whatever the
    functions need of one's own. batcher(params, batch): the vectors (n, D) of n tokenised sentences, an array or a
    tensor; it is asked for each distinct sentence of a task once, and has to give a sentence the same vector in any
    batch. prepare(params, samples): called before, with all sentences of a task, tokenised; `params.current_task` is
    its name. Bad parameters are a UserError.
    """

    def __init__(
        self,
        params: Mapping[str, Any],
        batcher: Callable[[Params, list[list[str]]], Any],
        prepare: Callable[[Params, list[list[str]]], Any] | None = None,
    ):
        self.params = Params({**DEFAULTS, **params})
        self.protocol = protocol_of(self.params)
        self.batcher, self.prepare = batcher, prepare
        self.list_tasks = list(TASKS)

    def eval(self, name: str | list[str]) -> dict[str, Any]:
        """A task's results, or {task: results} of several.

        STS: {subset or split: {pearson: (r, p), spearman: (r, p), nsamples}, all: {pearson: {all, mean, wmean},
        spearman: ...}}, -1 to 1. Transfer: {devacc, acc, ndev, ntest}, MRPC also f1, in percent. The -finetune tasks:
        {devspearman, pearson, spearman, mse, yhat, ndev, ntest}.
        """
        if not isinstance(name, str):
            self.results = {task: self.eval(task) for task in name}
            return self.results
        if name not in TASKS:
            raise unknown("task", name, TASKS)
        root = self.root()
        parts = load(root, name)
        samples = [text for part in parts.values() for side in (part.first, part.second) for text in side or ()]
        self.params.current_task = name
        if self.prepare:
            self.prepare(self.params, [text.split() for text in samples])
        sentences = list(dict.fromkeys(samples))
        vectors = in_turns(
            lambda batch: self.batcher(self.params, [text.split() for text in batch]),
            sentences, self.params.batch_size, "batcher", name,
        )  # fmt: skip
        if name in STS_TASKS:
            self.results = self.sts(parts, sentences, vectors)
        elif name in REGRESSION_TASKS:
            self.results = self.regression(parts, sentences, vectors)
        else:
            self.results = self.transfer(name, root, parts, sentences, vectors)
        return self.results

    def root(self) -> Path:
        """The folder that holds STS/, SICK/, MR/ ..."""
        given = self.params.task_path
        if given is None:
            return evaluation_sets.senteval().root
        for folder in (Path(given) / "downstream", Path(given)):
            if folder.is_dir():
                return folder
        raise UserError(f"params['task_path']: there is no folder {given}; leave it out and the data are fetched, once")

    def sts(self, parts: Mapping[str, Pairs], sentences: list[str], vectors: np.ndarray) -> dict[str, Any]:
        rows = {sentence: row for row, sentence in enumerate(sentences)}
        similarity = self.params.similarity
        found = {}
        for name, pairs in parts.items():
            if similarity is None:
                values = cosines(vectors, rows, pairs)
            else:
                sides = zip(pairs.first, pairs.second, strict=True)
                values = np.array([similarity(vectors[rows[one]], vectors[rows[other]]) for one, other in sides])
            found[name] = values, np.asarray(pairs.gold)
        return correlated(found)

    def regression(self, parts: Mapping[str, Pairs], sentences: list[str], vectors: np.ndarray) -> dict[str, Any]:
        rows = rows_of(vectors, sentences)
        made = {split: features(part, vectors, rows) for split, part in parts.items()}
        found = evaluate_relatedness(**made, seed=self.params.seed)
        return {
            "devspearman": found["dev"],
            "pearson": found["pearson"],
            "spearman": found["spearman"],
            "mse": float(np.mean((found["scores"] - made["test"][1]) ** 2)),
            "yhat": found["scores"],
            "ndev": len(parts["dev"].gold),
            "ntest": len(parts["test"].gold),
        }

    def transfer(
        self, name: str, root: Path, parts: Mapping[str, Labelled], sentences: list[str], vectors: np.ndarray
    ) -> dict[str, Any]:
        rows = evaluate_transfer(vectors, sentences, root, self.protocol, (name,), device())
        values = {(split, metric): value for _, split, metric, value in rows}
        results = {"devacc": values["dev", "accuracy"], "acc": values["test", "accuracy"]}
        if ("test", "f1") in values:
            results["f1"] = values["test", "f1"]
        sizes = {split: len(part.labels) for split, part in parts.items()}
        # without development sentences of its own, a task is developed on its training sentences, or on all
        developed = next(split for split in ("dev", "train", "all") if split in sizes)
        return {**results, "ndev": sizes[developed], "ntest": sizes["all" if "all" in sizes else "test"]}


def load(root: Path, task: str) -> dict[str, Any]:
    """{subset or split: its Pairs or Labelled sentences}."""
    if task in STS_SUBSETS:
        return {subset: load_sts_subset(root, task, subset) for subset in STS_SUBSETS[task]}
    if task in STS_TASKS:
        return {split: load_pairs(root, task, split) for split in SPLITS}
    return load_regression(root, task) if task in REGRESSION_TASKS else load_transfer(root, task)


def correlated(parts: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """SentEval's results of an STS task from {subset: similarities (n,), gold scores (n,)}."""
    sizes = {name: len(gold) for name, (_, gold) in parts.items()}
    together = [np.concatenate(column) for column in zip(*parts.values(), strict=True)]
    results: dict[str, Any] = {name: {"nsamples": size} for name, size in sizes.items()}
    results["all"] = {}
    for metric, correlate in (("pearson", pearson), ("spearman", spearman)):
        values = {name: correlate(*arrays) for name, arrays in parts.items()}
        for name, value in values.items():
            results[name][metric] = Correlation(value, p_value(value, sizes[name]))
        results["all"][metric] = {
            "all": correlate(*together),
            "mean": float(np.mean(list(values.values()))),
            "wmean": float(np.average(list(values.values()), weights=list(sizes.values()))),
        }
    return results


def p_value(r: float, count: int) -> float:
    """The chance that unrelated normal variables correlate as far from 0, two-sided: Student's t of r."""
    return float(betainc(count / 2 - 1, 0.5, 1 - r * r))


def protocol_of(params: Mapping[str, Any]) -> Protocol:
    """The protocol that `params` of SentEval describe."""
    if not params["usepytorch"]:
        raise UserError("params['usepytorch'] is False: scikit-learn's classifier is not computed here, only PyTorch's")
    given = params.get("classifier") or {}
    for key in given:
        if key not in CLASSIFIER:
            raise unknown("key", key, CLASSIFIER, "params['classifier']")
    classifier = {**CLASSIFIER, **given}
    for key in ("nhid", "max_epoch"):
        if classifier[key] != CLASSIFIER[key]:
            raise UserError(
                f"params['classifier']['{key}'] is {classifier[key]}; only {CLASSIFIER[key]} is computed here"
            )
    if classifier["optim"] not in ("adam", "rmsprop"):
        raise unknown("optimiser", classifier["optim"], ("adam", "rmsprop"), "params['classifier']['optim']")
    return Protocol(
        folds=params["kfold"],
        optimiser=classifier["optim"],
        batch=classifier["batch_size"],
        tenacity=classifier["tenacity"],
        passes=classifier["epoch_size"],
        seed=params["seed"],
    )


def device() -> str:
    """Where classifiers train: on a GPU, if the script uses PyTorch and there is one."""
    torch = sys.modules.get("torch")
    return "cuda" if torch is not None and torch.cuda.is_available() else "cpu"
