"""How an image encoder is trained."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from clrepro.modalities import run
from clrepro.training.names import ImageOptimiser, RateRule, Schedule


class Projector(BaseModel):
    """The layers between an image encoder and its objective (clrepro.modalities.image.encoder.make_projector)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hidden: Annotated[int, Field(gt=0)]
    output: Annotated[int, Field(gt=0)]
    layers: Annotated[int, Field(gt=0)]
    norm: Literal["hidden", "all", "none"] = "hidden"


class ImageRecipe(run.Recipe):
    """What papers fix of an image encoder's training. What a framework does not have is null."""

    framework: Literal["plain", "simclr", "moco", "nnclr"]
    augmentation: str
    projector: Projector | None = None
    symmetric: bool = False
    key_momentum: Annotated[float, Field(ge=0, le=1)] | None = None  # of moco's momentum encoder
    queue: Annotated[int, Field(gt=0)] | None = None
    predictor_hidden: Annotated[int, Field(gt=0)] | None = None  # of nnclr's predictor
    support: Annotated[int, Field(gt=0)] | None = None
    labelled: Annotated[float, Field(gt=0, le=1)] = 0.1  # share of the training labels that anchors see
    optimiser: ImageOptimiser
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9  # of sgd and lars
    learning_rate: Annotated[float, Field(gt=0)]
    learning_rate_rule: RateRule = "fixed"
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    schedule: Schedule = "constant"
    warmup_epochs: Annotated[float, Field(ge=0)] = 0.0
    epochs: Annotated[float, Field(gt=0)]
    batch_size: Annotated[int, Field(ge=2)]
    clip: Annotated[float, Field(gt=0)] | None = None
