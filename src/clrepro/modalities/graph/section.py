"""The section `graph` of the configuration."""

from typing import Annotated, Literal

from pydantic import Field

from clrepro.settings import Model, Names, PositiveFloat, PositiveInt


class GraphBackbone(Model):
    """A graph encoder, trained from random weights on one set of graphs or molecules."""

    data: str = Field(description="source of a set of graphs, or of molecules for pre-training")
    architecture: Literal["gin", "gin_bonds"] = Field(
        description="gin: GraphCL's, for graphs with or without node labels; gin_bonds: that of Hu et al. (2020), for "
        "molecules"
    )
    width: PositiveInt = Field(description="width of every layer")
    layers: PositiveInt = Field(description="number of layers")


class GraphTrainingOverrides(Model):
    """What a scale changes in the papers' settings of graph encoders; null keeps the paper's value."""

    epochs: PositiveFloat | None = Field(None, description="passes over the graphs, may be a fraction")
    batch_size: Annotated[int, Field(ge=2)] | None = Field(None, description="graphs in a batch")
    folds: Annotated[int, Field(ge=2)] | None = Field(None, description="of the SVM's cross-validation")
    inner_folds: Annotated[int, Field(ge=2)] | None = Field(
        None, description="of the search over the SVM's C within a training part"
    )


class MoleculeTrainingOverrides(Model):
    """What a scale changes in the pre-training on molecules; null keeps the paper's value."""

    epochs: PositiveFloat | None = Field(None, description="passes over the molecules, may be a fraction")
    batch_size: Annotated[int, Field(ge=2)] | None = Field(None, description="molecules in a batch")


class Molecules(Model):
    """Sets of molecules with properties: pre-trained encoders are fine-tuned on them (table 5 of huang2023)."""

    data: str = Field(description="source of the sets")
    sets: Names = Field(description="those of MoleculeNet's that encoders are fine-tuned on, as BBBP")
    seeds: Annotated[list[int], Field(min_length=1)] = Field(list(range(10)), description="fine-tunings of one encoder")
    epochs: PositiveInt | None = Field(None, description="of fine-tuning; null: the paper's")
    runtime_minutes: PositiveInt = Field(2880, description="time limit of a job of fine-tuning, for schedulers")
    pretraining: MoleculeTrainingOverrides = MoleculeTrainingOverrides()


class Graph(Model):
    """Graph encoders: data, backbones and training."""

    backbones: dict[str, GraphBackbone | None] = Field(
        {}, description="which encoder fills which tables; what is null or not there leaves their cells out"
    )
    training: GraphTrainingOverrides = GraphTrainingOverrides()
    runs_per_job: PositiveInt | None = Field(None, description="runs that share a job, at most; null: `jobs.runs`")
    molecules: Molecules | None = Field(
        None, description="sets of molecules to fine-tune pre-trained encoders on; null leaves these cells out"
    )
