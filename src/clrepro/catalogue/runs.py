"""A run is one training: backbone, objective, parameters, data, seed. Its identity is a hash of these."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from clrepro.config import Config, Precision
from clrepro.errors import UserError, unknown
from clrepro.evaluation.pooling import Pooling
from clrepro.objectives import resolve, signatures
from clrepro.paths import DATA, RESULTS, STATE
from clrepro.sources.source import source
from clrepro.workflow import fingerprint


class Recipe(BaseModel):
    """How a sentence encoder is trained: what papers and released codes fix besides the objective."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    precision: Precision = "fp32"
    # torch's, or transformers' own, in which epsilon weighs more at first (clrepro.training.optimisers)
    optimiser: Literal["adamw", "adamw_transformers"] = "adamw"
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


SWITCHES = ("held_out", "checkpoint_every", "optimiser")


class Projector(BaseModel):
    """The layers between an image encoder and its objective (clrepro.modalities.image.encoder.make_projector)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hidden: Annotated[int, Field(gt=0)]
    output: Annotated[int, Field(gt=0)]
    layers: Annotated[int, Field(gt=0)]
    norm: Literal["hidden", "all", "none"] = "hidden"


class ImageRecipe(BaseModel):
    """How an image encoder is trained. What a framework does not have is null."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    framework: Literal["plain", "simclr", "moco", "nnclr"]
    augmentation: str
    projector: Projector | None = None
    symmetric: bool = False
    key_momentum: Annotated[float, Field(ge=0, le=1)] | None = None  # of moco's momentum encoder
    queue: Annotated[int, Field(gt=0)] | None = None
    predictor_hidden: Annotated[int, Field(gt=0)] | None = None  # of nnclr's predictor
    support: Annotated[int, Field(gt=0)] | None = None
    labelled: Annotated[float, Field(gt=0, le=1)] = 0.1  # share of the training labels that anchors see
    optimiser: Literal["adam", "adamw", "sgd", "lars"]
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9  # of sgd and lars
    learning_rate: Annotated[float, Field(gt=0)]
    learning_rate_rule: Literal["fixed", "linear", "square_root", "linear_above_256"] = "fixed"
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup_epochs: Annotated[float, Field(ge=0)] = 0.0
    epochs: Annotated[float, Field(gt=0)]
    batch_size: Annotated[int, Field(ge=2)]
    precision: Precision = "fp32"
    clip: Annotated[float, Field(gt=0)] | None = None

    @property
    def identity(self) -> dict:
        """All fields; every one decides what is trained."""
        return self.model_dump()


def split_settings(
    settings: dict[str, Any], objective: str | None, place: str, form: type[BaseModel] = Recipe
) -> tuple[Any, dict[str, Any]]:
    """Settings of a run as (recipe of that form, parameters of its objective); an unknown one is refused."""
    around = [objective, settings.get("base")] if objective else []  # `oar` takes its base's parameters as well
    parameters = {key for name in filter(None, around) for variant in signatures(name).values() for key in variant}
    for key in settings:
        if key not in form.model_fields and key not in parameters:
            raise unknown("setting", key, {*form.model_fields, *parameters}, place)
    try:
        how = form(**{key: value for key, value in settings.items() if key in form.model_fields})
    except ValidationError as failure:
        error = failure.errors()[0]
        raise UserError(f"{place}: {'.'.join(map(str, error['loc']))}: {error['msg']}") from None
    return how, {key: value for key, value in settings.items() if key in parameters}


def resolved(objective: str, definition: dict, params: dict, place: str) -> tuple[str, dict]:
    """The variant and all parameters of a run's objective."""
    try:
        return resolve(objective, definition.get("variant"), **params)
    except UserError as failure:
        raise UserError(f"{place}: {failure}") from None


def result_file(score: str) -> str:
    """The file beside a run's record that holds a score, which is named kind/task."""
    kind = score.split("/")[0].removesuffix("_dev")
    together = {"knn_plain": "knn", "detection_voc07": "detection"}
    return together.get(kind, "finetune" if kind.startswith("finetune_") else kind) + ".json"


def readable(key: str, value: float | bool | str) -> str:
    """A parameter in a folder's name: temperature0.05, reweight_false, negatives_cross."""
    if isinstance(value, bool | str):
        return f"{key}_{str(value).lower()}"
    return f"{key}{value:.4g}"


def digest(content: Any) -> str:
    """The first 8 hexadecimal digits of the sha256 of a canonical JSON text."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, eq=False)
class BackboneBuild:
    """A backbone made ready: weights, tokenizer, and the corpus tokenised for it."""

    key: str
    spec: dict
    corpus: dict
    max_length: int
    scale: str
    modality = "sentence"

    @property
    def identity(self) -> dict:
        if self.spec["kind"] == "scratch":
            return {**self.spec, "corpus": self.corpus}
        if self.weights:
            return {"kind": "pretrained", "weights": self.weights.identity}
        # a record names no folder of this machine; the digest tells folders of one name apart
        path = self.spec["path"]
        return {"kind": "pretrained", "weights": f"{Path(path).name}@{digest(path)}"}

    @property
    def weights(self):
        """The source of pretrained weights, or None."""
        return source(self.spec["source"]) if self.spec.get("source") else None

    @property
    def local_weights(self) -> tuple[int, int] | None:
        """Size and time of a local folder's weights: when they are replaced, the backbone is prepared again."""
        if not self.spec.get("path"):
            return None
        status = (Path(self.spec["path"]) / "model.safetensors").stat()
        return status.st_size, status.st_mtime_ns

    @cached_property
    def folder(self) -> Path:
        name = digest({"backbone": self.identity, "corpus": self.corpus, "max_length": self.max_length})
        return DATA / "prepared" / self.scale / f"{self.key}-{name}"

    @property
    def records(self) -> tuple[Path, Path]:
        return self.folder / "tokens.json", self.folder / "backbone.json"


@dataclass(frozen=True, eq=False)
class ImageBuild:
    """An image encoder to be trained, and its image set made ready."""

    key: str
    spec: dict  # of config.ImageBackbone
    scale: str
    modality = "image"

    @property
    def identity(self) -> dict:
        """The encoder; its image set is the run's data."""
        return {name: self.spec[name] for name in ("architecture", "stem", "side")}

    @property
    def source(self):
        return source(self.spec["data"], f"image.backbones.{self.key}")

    @property
    def data(self) -> dict:
        return {"images": self.source.identity, "classes": self.spec["classes"]}

    @property
    def encoder(self) -> dict:
        """What training needs to build the encoder and to show it images."""
        return {**self.identity, "statistics": self.source.images["statistics"]}

    @cached_property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / f"{self.source.name}-{digest(self.data)}"

    @property
    def records(self) -> tuple[Path, ...]:
        return (self.folder / "record.json",)


@dataclass(frozen=True, eq=False)
class Run:
    """One training with one seed; an evaluation of raw pretrained weights is a run without an objective.

    Two runs are the same if their folders, and so their identities, are.
    """

    scale: str
    modality: str
    backbone: BackboneBuild | ImageBuild
    objective: str | None
    variant: str | None
    params: dict[str, float | int | bool | str | None]
    recipe: Recipe | ImageRecipe
    data: dict[str, Any]
    seed: int
    # settings of an image run's probes: they decide scores, not the run
    evaluation: dict[str, dict] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.folder == other.folder

    def __hash__(self) -> int:
        return hash(self.folder)

    @property
    def identity(self) -> dict:
        """Everything that decides the result but the seed and the code, in canonical form."""
        settings = self.recipe.identity
        if not self.objective:  # nothing is trained, but statistics of a held-out part are taken
            settings = {key: settings[key] for key in ("pooling", "held_out") if key in settings}
        return {
            "modality": self.modality,
            "backbone": self.backbone.identity,
            "objective": {"name": self.objective, "variant": self.variant, "params": self.params},
            "training": settings,
            "data": self.data,
        }

    @cached_property
    def hash8(self) -> str:
        return digest(self.identity)

    @property
    def slug(self) -> str:
        if not self.objective:
            return self.recipe.pooling
        values = [readable(key, value) for key, value in sorted(self.params.items()) if value is not None]
        how = {}
        if self.modality == "sentence":
            how = {"dropout": self.recipe.dropout, "held_out": self.recipe.held_out or None}
        values += [readable(key, value) for key, value in how.items() if value is not None]
        return "-".join([self.variant, *values, f"lr{self.recipe.learning_rate:g}", f"b{self.recipe.batch_size}"])

    @property
    def code(self) -> str:
        """The fingerprint of the code that trains it today; with the objective's goes that of the one it is around."""
        stage = "train" if self.modality == "sentence" else "train_image"
        return fingerprint.of_stage(stage, *filter(None, (self.objective, self.params.get("base"))))

    @property
    def group(self) -> str:
        """What the fingerprint and the folders call the run: its objective, or `pretrained`."""
        return self.objective or "pretrained"

    @cached_property
    def folder(self) -> Path:
        name = f"{self.slug}-{self.hash8}"
        return (
            RESULTS / self.scale / "runs" / self.modality / self.backbone.key / self.group / name / f"seed{self.seed}"
        )

    @property
    def record(self) -> Path:
        return self.folder / "record.json"

    @property
    def has_statistics(self) -> bool:
        """Whether statistics are recorded beside the run: of a training, or of an untrained encoder's held-out part."""
        return bool(self.objective or self.recipe.held_out)

    @property
    def probes_need_images(self) -> bool:
        """Whether a probe of features needs the images and the encoder as well, not only stored features."""
        parts = self.feature_probes.values()
        return any(part.get("augmentation", "none") != "none" or not part.get("frozen", True) for part in parts)

    @property
    def feature_probes(self) -> dict[str, dict]:
        """The settings of its probes of features: all but those of fine-tuning as a detector."""
        return {kind: part for kind, part in self.evaluation.items() if kind != "detection"}

    def state(self, code: str, inputs: str) -> Path:
        """Where training keeps what it must not lose; other code or other input bytes start anew."""
        return STATE / self.scale / f"{self.hash8}-seed{self.seed}-{code}-{inputs}"


def backbone_build(config: Config, key: str, max_length: int) -> BackboneBuild:
    sentence = config.sentence
    spec = sentence.backbones[key].model_dump()
    if spec["kind"] == "pretrained" and (spec["source"] is None) == (spec["path"] is None):
        raise UserError(f"sentence.backbones.{key}: give either `source` or `path`")
    if spec.get("source"):
        source(spec["source"], f"sentence.backbones.{key}")
    if spec.get("path"):
        for needed in ("config.json", "model.safetensors"):
            if not (Path(spec["path"]) / needed).is_file():
                raise UserError(f"sentence.backbones.{key}: '{Path(spec['path']) / needed}' is missing")
    return BackboneBuild(key, spec, corpus_identity(config), max_length, config.scale)


def image_build(config: Config, key: str) -> ImageBuild:
    place = f"image.backbones.{key}"
    spec = config.image.backbones[key].model_dump()
    about = source(spec["data"], f"{place}.data")
    if not about.images:
        raise UserError(f"{place}.data: '{about.name}' is no image set")
    if (spec["architecture"] in ("conv3", "resnet8")) != (spec["stem"] is None):
        raise UserError(f"{place}: resnet18 and resnet50 need `stem: cifar` or `stem: imagenet`, the others have none")
    return ImageBuild(key, spec, config.scale)


def corpus_identity(config: Config) -> dict:
    sentence = config.sentence
    return {
        "source": source(sentence.corpus, "sentence.corpus").identity,
        "lines": sentence.corpus_lines,
        "blank_lines": sentence.blank_lines,
    }
