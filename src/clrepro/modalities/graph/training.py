"""Training on a set of graphs: two views of every graph through GraphCL's encoder and head."""

import torch

from clrepro.modalities.graph.augment import Augmentation, plain
from clrepro.modalities.graph.encoder import GIN, Batch, Projected
from clrepro.modalities.graph.graph_sets import GraphSet
from clrepro.modalities.graph.workload import TwoViews


def as_seen(graphs: GraphSet, behaviour: str) -> GraphSet:
    """A set as GraphCL's code sees it, with self loops, or, `written`, as it is.

    Of sets without node labels the code would lose nodes behind the last connected one; none of table 4 has any.
    """
    return graphs.with_released_loops() if behaviour == "released" else graphs


class GraphWorkload(TwoViews):
    """Views drawn from (seed, epoch, graph).

    graphs: as `as_seen` gives them. encoder: width and layers. settings: the fields of a graph recipe.
    """

    def __init__(self, graphs: GraphSet, encoder: dict, settings: dict, seed: int):
        gin = GIN(graphs.width, encoder["width"], encoder["layers"])
        model = Projected(gin, encoder["width"] * encoder["layers"])
        super().__init__(model, len(graphs), settings, seed, "graph.training.batch_size")
        self.graphs, self.augmentation = graphs, Augmentation.of(settings)
        self.first_views: dict[int, Batch] = {}

    def views(self, step: int, device: torch.device) -> tuple[Batch, Batch]:
        return self.view(0, step, device), self.view(1, step, device)

    def view(self, number: int, step: int, device: torch.device) -> Batch:
        """One view of the graphs of a step; released first views are the graphs as they are, and kept."""
        epoch, rows = self.rows_of(step)
        is_plain = number == 0 and self.augmentation.behaviour == "released"
        kept = is_plain and self.settings["order"] == "once"
        place = step % self.steps_per_epoch
        if kept and place in self.first_views:
            return self.first_views[place]
        graphs = self.graphs.select(rows)
        view = plain(graphs) if is_plain else self.augmentation.view(graphs, rows, self.seed, epoch, number)
        found = Batch.of(view, device)
        if kept:
            self.first_views[place] = found
        return found
