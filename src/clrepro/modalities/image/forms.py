"""The settings that evaluations of image features take in a recipe, checked before anything starts."""

from typing import Annotated, Literal

from pydantic import Field

from clrepro.settings import Model, PositiveFloat, PositiveInt

Share = Annotated[float, Field(gt=0, le=1)]
Momentum = Annotated[float, Field(ge=0, lt=1)]
NotNegative = Annotated[float, Field(ge=0)]


class LinearForm(Model):
    """Of a linear probe (clrepro.evaluation.linear_probe); augmentation: of images, every epoch anew, or none."""

    augmentation: str = "none"
    epochs: PositiveInt
    batch_size: PositiveInt
    learning_rate: PositiveFloat
    momentum: Momentum = 0.9
    weight_decay: NotNegative = 0.0
    nesterov: bool = False
    schedule: Literal["constant", "cosine", "steps"] = "constant"
    seed: int = 0


class NeighbourForm(Model):
    """Of nearest neighbours (clrepro.evaluation.knn)."""

    k: PositiveInt
    weighting: Literal["weighted", "plain"]
    temperature: PositiveFloat = 0.1


class HeadForm(Model):
    """Of a head, or of encoder and head, trained on a share of the labels (clrepro.evaluation.fine_tune)."""

    share: Share
    hidden: list[PositiveInt]
    frozen: bool = True
    epochs: PositiveInt
    batch_size: PositiveInt
    learning_rate: PositiveFloat
    momentum: Momentum = 0.9
    weight_decay: NotNegative = 0.0
    seed: int = 0
