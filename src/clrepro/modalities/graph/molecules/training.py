"""Pre-training on molecules: two augmented views of each through encoder and head.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/pretrain_graphcl.py.
"""

import torch

from clrepro.modalities.graph.molecules.augment import Augmentation
from clrepro.modalities.graph.molecules.encoder import Inputs, MoleculeEncoder, Projected
from clrepro.modalities.graph.molecules.storage import Molecules
from clrepro.modalities.graph.workload import TwoViews


class MoleculeWorkload(TwoViews):
    """Views drawn from (seed, epoch, molecule). encoder: width and layers. settings: the fields of a graph recipe."""

    def __init__(self, molecules: Molecules, encoder: dict, settings: dict, seed: int):
        model = Projected(MoleculeEncoder(encoder["width"], encoder["layers"]))
        super().__init__(model, len(molecules), settings, seed, "graph.molecules.pretraining.batch_size")
        self.molecules, self.augmentation = molecules, Augmentation.of(settings)

    def views(self, step: int, device: torch.device) -> tuple[Inputs, Inputs]:
        """With `identical_views` both are the same."""
        epoch, rows = self.rows_of(step)
        batch = self.molecules.batch(rows)
        numbers = (0,) if self.settings["identical_views"] else (0, 1)
        found = [self.augmentation.view(batch, rows, self.seed, epoch, number) for number in numbers]
        inputs = [Inputs.of(view, device) for view in found]
        return inputs[0], inputs[-1]
