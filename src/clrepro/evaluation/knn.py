"""kNN accuracy of stored features: each test example is named by the votes of its k nearest training examples.

    votes_c = sum over neighbours i of class c of w_i,   w_i = exp(s_i / temperature) (weighted) or 1 (plain)

s_i: cosine of the example and its neighbour. Source: Wu et al. 2018, section 3.4 (k 200, temperature 0.07). Huang et
al. 2023 state k = 200 alone, so both weightings are offered; temperature 0.1, common in later code, is ours.
Ties: of training examples equally near at the k-th place those that come first are neighbours; of classes with equal
votes the lowest ranks first.
"""

from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from clrepro.errors import UserError, unknown
from clrepro.evaluation.labels import class_count
from clrepro.evaluation.linear_probe import accuracies, paired
from clrepro.evaluation.statistics import unit

Weighting = Literal["weighted", "plain"]
BLOCK = 256  # test rows whose cosines to all training rows are held at a time


def evaluate(
    train: np.ndarray | Tensor,
    train_labels: np.ndarray | Tensor,
    test: np.ndarray | Tensor,
    test_labels: np.ndarray | Tensor,
    k: int,
    weighting: Weighting = "weighted",
    temperature: float = 0.1,
    block: int = BLOCK,
    device: torch.device | str = "cpu",
) -> dict[str, float]:
    """{"top1", "top5"} in percent; train (n, D), test (m, D), labels 0 to C - 1.

    Memory: the training features, and cosines of a block of test rows, (block, n) float32. Features of a collapsed
    encoder are all equally near, so that their neighbours are the first k training examples.
    """
    features, labels = paired(train, train_labels, "train", device)
    tested, answers = paired(test, test_labels, "test", device)
    if not 1 <= k <= len(features):
        raise UserError(f"k = {k} neighbours of {len(features)} training examples: k must be from 1 to that number")
    if weighting not in get_args(Weighting):
        raise unknown("weighting", weighting, get_args(Weighting), "kNN")
    classes = class_count(labels, answers)
    known = unit(features)
    parts = []
    for rows in unit(tested).split(block):
        # nearest, places: (b, k)
        nearest, places = neighbours(rows @ known.T, k)
        # less the row's largest, which changes no order and overflows for no temperature
        weights = torch.ones_like(nearest)
        if weighting == "weighted":
            weights = ((nearest - nearest[:, :1]) / temperature).exp()
        # diverged features have no neighbours: their votes are NaN, which no label wins
        weights = weights.masked_fill(nearest.isnan(), torch.nan)
        votes = torch.zeros(len(rows), classes, dtype=torch.float64, device=rows.device)
        parts.append(votes.scatter_add_(1, labels[places], weights.double()))
    return accuracies(torch.cat(parts), answers)


def neighbours(cosines: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of every row of (b, n), falling, and their columns; of equal ones those of lower columns."""
    nearest, places = cosines.topk(min(k + 1, cosines.shape[1]), dim=1)
    if nearest.shape[1] > k:
        # topk takes any of equal values: only a tie across the k-th place matters, and is rare
        tied = nearest[:, k - 1] == nearest[:, k]
        if tied.any():
            ordered, columns = cosines[tied].sort(dim=1, descending=True, stable=True)
            nearest[tied], places[tied] = ordered[:, : k + 1], columns[:, : k + 1]
    return nearest[:, :k], places[:, :k]
