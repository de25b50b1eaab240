"""How a sentence encoder is trained."""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from clrepro.evaluation.pooling import Pooling
from clrepro.modalities import run
from clrepro.training.names import SentenceOptimiser


class SentenceRecipe(run.Recipe):
    """What papers and released codes fix of a sentence encoder's training besides the objective."""

    pooling: Pooling = "cls"
    head: Literal["tanh", "linear", "tanh_linear"] | None = "tanh"
    head_at_selection: bool = False
    freeze_embeddings: bool = False
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = None
    batch_size: Annotated[int, Field(ge=2)] = 64
    learning_rate: Annotated[float, Field(gt=0)] = 3e-5
    epochs: Annotated[float, Field(ge=0)] = 1.0
    evaluate_every: Annotated[int, Field(gt=0)] = 125
    max_length: Annotated[int, Field(ge=4)] = 32
    # torch's, or transformers' own, in which epsilon weighs more at first (clrepro.training.optimisers)
    optimiser: SentenceOptimiser = "adamw"
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    clip: Annotated[float, Field(gt=0)] = 1.0
    # share of the corpus held out for statistics
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.0
    # also keep a checkpoint every so many steps
    checkpoint_every: Annotated[int, Field(gt=0)] | None = None

    @field_validator("weight_decay")
    @classmethod
    def _where_there_is_one(cls, decay: float, others: ValidationInfo) -> float:
        if decay and others.data.get("optimiser") == "adamw_transformers":
            raise ValueError(f"{decay:g}, but optimiser adamw_transformers has none; set `optimiser: adamw` as well")
        return decay

    @property
    def identity(self) -> dict:
        """All fields, but those of SWITCHES only if they are on: a new one leaves finished runs what they are.

        Other fields stay even at their default, so that a changed default is a changed run.
        """
        off = {name for name in SWITCHES if getattr(self, name) == type(self).model_fields[name].default}
        return self.model_dump(exclude=off)

    @property
    def untrained_identity(self) -> dict:
        """Nothing is trained, but statistics of a held-out part are taken."""
        return {key: value for key, value in self.identity.items() if key in ("pooling", "held_out")}

    @property
    def in_name(self) -> dict[str, Any]:
        return {"dropout": self.dropout, "held_out": self.held_out or None}

    @property
    def untrained_name(self) -> str:
        return self.pooling

    @property
    def measures_untrained(self) -> bool:
        return bool(self.held_out)


SWITCHES = ("held_out", "checkpoint_every", "optimiser")
