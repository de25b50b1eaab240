"""The graph workload: two views of every graph through the encoder and its head; the last checkpoint counts."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from clrepro.errors import UserError
from clrepro.modalities.graph.augment import Augmentation, plain
from clrepro.modalities.graph.encoder import GIN, Batch, Projected, save
from clrepro.modalities.graph.graph_sets import GraphSet
from clrepro.training.loop import StopFlag, Terms, fit, seed_everything
from clrepro.training.recorder import Recorder

EVALUATIONS = 20  # how often a training notes its loss and its batch's statistics, at least


def as_seen(graphs: GraphSet, behaviour: str) -> GraphSet:
    """A set as GraphCL's code sees it, with self loops, or, `written`, as it is.

    Of sets without node labels the code would lose nodes behind the last connected one; none of table 4 has any.
    """
    return graphs.with_released_loops() if behaviour == "released" else graphs


class GraphWorkload:
    """Views drawn from (seed, epoch, graph); no data selects a checkpoint.

    graphs: as `as_seen` gives them. encoder: width and layers. settings: the fields of a graph recipe.
    """

    keeps_last = True

    def __init__(self, graphs: GraphSet, encoder: dict, settings: dict, seed: int):
        self.graphs, self.seed, self.settings = graphs, seed, settings
        self.batch_size, count = settings["batch_size"], len(graphs)
        if self.batch_size > count:
            raise UserError(
                f"batch_size {self.batch_size} is larger than the {count:,} graphs; set `graph.training.batch_size`"
            )
        gin = GIN(graphs.width, encoder["width"], encoder["layers"])
        self.model = Projected(gin, encoder["width"] * encoder["layers"])
        names = ("behaviour", "drop_share", "subgraph_share")
        self.augmentation = Augmentation(settings["augmentation"], **{name: settings[name] for name in names})
        # a last batch of a single graph has no negatives and is left out
        self.steps_per_epoch = math.ceil(count / self.batch_size) - (count % self.batch_size == 1)
        self.smallest_batch = min(self.batch_size, count - (self.steps_per_epoch - 1) * self.batch_size)
        self.steps = max(1, math.ceil(settings["epochs"] * self.steps_per_epoch))
        self.step, self.epoch, self.order = 0, -1, np.empty(0, int)
        self.first_views: dict[int, Batch] = {}

    def order_of(self, step: int) -> np.ndarray:
        """The graphs of a step; their order is drawn from the seed, in every epoch anew or once."""
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch != self.epoch:
            drawn = epoch if self.settings["order"] == "every_epoch" else 0
            generator = torch.Generator().manual_seed(self.seed * 1_000_003 + drawn)
            self.epoch, self.order = epoch, torch.randperm(len(self.graphs), generator=generator).numpy()
        return self.order[position * self.batch_size : (position + 1) * self.batch_size]

    def terms(self, model: nn.Module, step: int, device: torch.device, part: int = 0, parts: int = 1) -> Terms:
        if parts > 1:  # the statistics of batch norm would differ between the processes
            raise UserError("graph encoders are trained by a single process; start it without torchrun")
        self.step, rows = step + 1, self.order_of(step)
        batches = [self.batch(number, step, rows, device) for number in (0, 1)]
        view1, view2 = map(model, batches)  # one after the other: each has its own statistics of batch norm
        return [(view1, view2, {})]

    def batch(self, number: int, step: int, rows: np.ndarray, device: torch.device) -> Batch:
        """One view of the graphs of a step; released first views are the graphs as they are, and kept."""
        is_plain = number == 0 and self.augmentation.behaviour == "released"
        kept = is_plain and self.settings["order"] == "once"
        place = step % self.steps_per_epoch
        if kept and place in self.first_views:
            return self.first_views[place]
        graphs = self.graphs.select(rows)
        view = plain(graphs) if is_plain else self.augmentation.view(graphs, rows, self.seed, self.epoch, number)
        found = Batch.of(view, device)
        if kept:
            self.first_views[place] = found
        return found

    def embed(self, device: torch.device) -> None:
        """Nothing: no checkpoint is chosen, and another pass would move batch norm."""

    def select(self, vectors: None, device: torch.device) -> dict[str, float]:
        """The step itself, so that the last checkpoint is the one that is kept, as in GraphCL."""
        return {"last_step": float(self.step)}

    def measure(self, recorder: Recorder, step: int, vectors: None, device: torch.device) -> None:
        """Nothing: the loop records the views of training batches."""

    def export(self, folder: Path) -> None:
        save(self.model.encoder, folder)


def train_encoder(
    objective: Callable,
    settings: dict,
    seed: int,
    *,
    graphs: GraphSet,
    encoder: dict,
    device: str,
    state: Path,
    stop: StopFlag,
    title: str = "",
) -> dict | None:
    """Train a graph encoder with one seed; the last checkpoint is left in ``state/best-<step>``.

    Returns what the loop returns; a training that diverged has `diverged` there, with step and cause.
    """
    seed_everything(seed)
    workload = GraphWorkload(graphs, encoder, settings, seed)
    how = {**settings, "evaluate_every": math.ceil(workload.steps / EVALUATIONS)}
    return fit(workload, objective, how, device, state, stop, title)
