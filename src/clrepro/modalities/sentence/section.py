"""The section `sentence` of the configuration."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from clrepro.evaluation.pooling import Loadable
from clrepro.settings import Model, PositiveFloat, PositiveInt, Precision


class ScratchBackbone(Model):
    """A small BERT-shaped encoder with its own WordPiece vocabulary, pretrained briefly on the corpus."""

    kind: Literal["scratch"] = "scratch"
    layers: PositiveInt = Field(2, description="transformer layers")
    hidden_size: PositiveInt = Field(64, description="embedding dimension; a multiple of `heads`")
    heads: PositiveInt = Field(4, description="attention heads")
    intermediate_size: PositiveInt | None = Field(
        None, description="width of the feed-forward layers; null: four times `hidden_size`, as in BERT"
    )
    vocabulary: Annotated[int, Field(ge=100)] = Field(2000, description="WordPiece vocabulary, from the corpus")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(0.1, description="hidden and attention dropout")
    mlm_epochs: Annotated[int, Field(ge=0)] = Field(
        2, description="masked-language-model epochs over the corpus before any run; 0: random weights"
    )
    mlm_lines: PositiveInt | Literal["all"] | None = Field(
        None,
        description="sentences that it is pre-trained on, drawn as those of `corpus_lines` are; null: the same ones",
    )
    mlm_learning_rate: PositiveFloat = Field(2e-3, description="its peak learning rate (AdamW, batch 64)")
    seed: int = Field(0, description="seed of the initial weights and of the masks")


class PretrainedBackbone(Model):
    """Pretrained weights: a source of the catalogue, or a local folder in transformers' format."""

    kind: Literal["pretrained"] = "pretrained"
    source: str | None = Field(None, description="name of a source in the data catalogue")
    path: str | None = Field(None, description="local folder instead of a source")

    @model_validator(mode="before")
    @classmethod
    def _without_remains(cls, raw: dict) -> dict:
        """Overlaying merges key by key, so the keys of the demo's scratch encoder are still there."""
        return {key: value for key, value in raw.items() if key == "kind" or key not in ScratchBackbone.model_fields}


Backbone = Annotated[ScratchBackbone | PretrainedBackbone, Field(discriminator="kind")]


class TrainingOverrides(Model):
    """What a scale changes in the papers' training settings; null keeps the paper's value."""

    batch_size: Annotated[int, Field(ge=2)] | None = None
    learning_rate: PositiveFloat | None = None
    epochs: PositiveFloat | None = Field(None, description="passes over the corpus, may be a fraction")
    evaluate_every: PositiveInt | None = Field(None, description="steps between selections on STS-B dev")
    precision: Precision | None = None
    max_length: Annotated[int, Field(ge=4)] | None = Field(None, description="tokens, special ones included")
    pooling: Loadable | None = Field(None, description="sentence vector of the trained encoders")
    checkpoint_every: PositiveInt | None = Field(
        None, description="also keep a checkpoint every so many steps, beside the best one"
    )
    learning_rates: dict[str, PositiveFloat] = Field(
        {}, description="of single objectives, by name, before `learning_rate`; `clrepro sweep` writes them"
    )

    def of(self, objective: str | None) -> dict[str, Any]:
        """What is changed in the training of an objective, or of any."""
        found = self.model_dump(exclude_none=True, exclude={"learning_rates"})
        rate = self.learning_rates.get(objective)
        return found | ({"learning_rate": rate} if rate else {})


class LearningRateSweep(Model):
    """Each objective of the tables trained with one more seed at several learning rates; STS-B dev selects."""

    rates: Annotated[list[PositiveFloat], Field(min_length=2)]
    seed: int = Field(description="none of `seeds`, so that no reported number was selected")


class Sentence(Model):
    """Sentence encoders: data, backbones and training."""

    corpus: str = Field("wiki1m-for-simcse", description="source of training sentences, one a line")
    corpus_lines: PositiveInt | None = Field(
        None, description="train on this many sentences, drawn from all by a fixed shuffle; null: all"
    )
    blank_lines: Literal["refuse", "keep"] = Field(
        "refuse",
        description="a blank line in the corpus: an error, or an empty sentence as in the released code",
    )
    tasks: str = Field("senteval-simcse", description="source of the evaluation sets in SentEval's layout")
    protocol: Literal["test", "fast"] = Field(
        "test", description="SentEval's protocol for the transfer tasks: test (10 folds, Adam), fast (5 folds, RMSprop)"
    )
    backbones: dict[str, Backbone | None] = Field(
        description="which encoder fills which column of the papers' tables; null leaves a column out"
    )
    training: TrainingOverrides = TrainingOverrides()
    learning_rate_sweep: LearningRateSweep | None = None
