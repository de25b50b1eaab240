"""How a graph encoder is trained."""

from typing import Annotated, Literal

from pydantic import Field

from clrepro.modalities import run
from clrepro.training.names import Schedule

Share = Annotated[float, Field(ge=0, le=1)]
AugmentationName = Literal[
    "drop_nodes", "permute_edges", "subgraph", "mask_nodes", "random2", "random3", "random4"
]  # random2: drop_nodes or subgraph; random3: permute_edges as well; random4: all


class GraphRecipe(run.Recipe):
    """What papers and released codes fix of a graph encoder's training.

    behaviour: whose augmentations, `released` (GraphCL's code with its defects) or `written` (as described).
    drop_share: of nodes that are dropped or masked, and of edges that are permuted. subgraph_share: of nodes that a
    subgraph keeps. order: of the graphs, drawn once or in every epoch. identical_views: both views of a molecule have
    the same draws, as the released code's worker processes most probably gave them.
    """

    precision: Literal["fp32"] = "fp32"  # torch has no sums of sparse rows in bf16 on a CPU
    augmentation: AugmentationName
    behaviour: Literal["released", "written"] = "released"
    drop_share: Share
    subgraph_share: Share
    order: Literal["once", "every_epoch"]
    identical_views: bool = False
    optimiser: Literal["adam", "adamw"]
    learning_rate: Annotated[float, Field(gt=0)]
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    schedule: Schedule = "constant"
    epochs: Annotated[float, Field(gt=0)]
    batch_size: Annotated[int, Field(ge=2)]
    clip: Annotated[float, Field(gt=0)] | None = None

    @property
    def untrained_identity(self) -> dict:
        """Whose self loops the encoder sees."""
        return {"behaviour": self.behaviour}

    @property
    def untrained_by_seed(self) -> bool:
        return True
