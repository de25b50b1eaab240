"""The settings that evaluations of graph encoders take."""

from typing import Annotated, Literal

from pydantic import Field

from clrepro.settings import Model, PositiveFloat

Folds = Annotated[int, Field(ge=2)]


class SvmForm(Model):
    """A support vector machine on embeddings, in two nested cross-validations (clrepro.modalities.graph.svm)."""

    folds: Folds
    inner_folds: Folds
    costs: Annotated[list[PositiveFloat], Field(min_length=1)]
    gamma: Literal["scale", "auto"]
