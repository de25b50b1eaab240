"""The settings that fine-tuning on molecules takes."""

from typing import Annotated

from pydantic import Field

from clrepro.settings import Model, PositiveFloat, PositiveInt


class FineTuningForm(Model):
    """Encoder and a linear layer, trained together (clrepro.modalities.graph.molecules.fine_tuning)."""

    epochs: PositiveInt
    batch_size: PositiveInt
    learning_rate: PositiveFloat
    dropout: Annotated[float, Field(ge=0, lt=1)]
