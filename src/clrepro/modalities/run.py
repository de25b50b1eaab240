"""A run is one training: backbone, objective, parameters, data, seed. Its identity is a hash of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from clrepro.paths import RESULTS, STATE, digest
from clrepro.settings import Common, Precision
from clrepro.sources.source import Source
from clrepro.workflow import fingerprint

RUNTIME_GB = 1.5  # of a GPU's memory: CUDA's own, and what its libraries work in
HALF_SHARE = 0.6  # of what fp32 keeps for the backward pass, in bf16 and fp16: norms and sums stay in fp32


@dataclass(frozen=True)
class Cost:
    """What a run, or an evaluation of one, costs; hours are of the unit that `hardware` names.

    training: hours of a training, the looks at development data included. embedding: hours. fine_tuning: hours of
    evaluations that train on. probing: hours of a CPU core, of evaluations of stored features. decoding: hours of a CPU
    core, of reading images. gigabytes: the checkpoint of a trained run.
    """

    training: float = 0.0
    embedding: float = 0.0
    fine_tuning: float = 0.0
    probing: float = 0.0
    decoding: float = 0.0
    gigabytes: float = 0.0

    @property
    def hours(self) -> float:
        """Of the unit that trains."""
        return self.training + self.embedding + self.fine_tuning

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            *(mine + theirs for mine, theirs in zip(vars_of(self).values(), vars_of(other).values(), strict=True))
        )


class Recipe(BaseModel):
    """How an encoder is trained: what papers and released codes fix besides the objective.

    Every modality's recipe has `learning_rate` and `batch_size` besides; the other fields are its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    precision: Precision = "fp32"

    @property
    def identity(self) -> dict:
        """The fields that decide what is trained."""
        return self.model_dump()

    @property
    def untrained_identity(self) -> dict:
        """Those that decide what an encoder is that nothing trains."""
        return {}

    @property
    def in_name(self) -> dict[str, Any]:
        """Fields that stand in the name of a run's folder beside learning rate and batch size."""
        return {}

    @property
    def untrained_name(self) -> str:
        return "untrained"

    @property
    def untrained_by_seed(self) -> bool:
        """Whether the weights of an encoder that nothing trains are drawn by the run's seed, so that seeds count."""
        return False

    @property
    def measures_untrained(self) -> bool:
        """Whether statistics are taken of an encoder that nothing trains."""
        return False


@dataclass(frozen=True, eq=False)
class Build:
    """Data and weights made ready once for all runs that share them.

    work: module:function(build, config), which makes it and writes `records` last. code: the modules that decide it.
    """

    work: ClassVar[str]
    code: ClassVar[tuple[str, ...]]

    key: str
    scale: str

    @property
    def folder(self) -> Path:
        raise NotImplementedError

    @property
    def records(self) -> tuple[Path, ...]:
        """The small files that name what was made by sha256."""
        return (self.folder / "record.json",)

    @property
    def manifest(self) -> Path:
        """What the workflow waits for: a list of the records."""
        return self.folder / "manifest.json"

    @property
    def sources(self) -> list[Source]:
        raise NotImplementedError

    @property
    def outside(self) -> Any:
        """What is read from outside the project and may change there, so that it must be made again."""
        return None

    @property
    def given(self) -> dict[str, Any]:
        """What a job that reads it is handed; see `Modality.build_from`."""
        return {"build": type(self).__name__, **vars_of(self)}

    @property
    def to_prepare(self) -> dict[str, Any]:
        """What the job that makes it is handed: the same, without what does not decide it."""
        return self.given


def vars_of(instance: Any) -> dict[str, Any]:
    """The fields of a dataclass, without what is cached beside them."""
    return {one.name: getattr(instance, one.name) for one in fields(instance)}


class Plan(Protocol):
    """What a run has to know of its modality."""

    key: ClassVar[str]
    code: ClassVar[Mapping[str, tuple[str, ...]]]

    def training_code(self, run: "Run") -> tuple[str, ...]: ...


@dataclass(frozen=True, eq=False)
class Run:
    """One training with one seed; an evaluation of weights that nothing trains is a run without an objective.

    Two runs are the same if their folders, and so their identities, are.
    """

    scale: str
    plan: Plan
    backbone: Build
    objective: str | None
    variant: str | None
    params: dict[str, float | int | bool | str | None]
    recipe: Recipe
    data: dict[str, Any]
    seed: int
    # settings of its evaluations: they decide scores, not the run
    evaluation: dict[str, dict] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.folder == other.folder

    def __hash__(self) -> int:
        return hash(self.folder)

    @property
    def modality(self) -> str:
        return self.plan.key

    @property
    def identity(self) -> dict:
        """Everything that decides the result but the seed and the code, in canonical form."""
        return {
            "modality": self.modality,
            "backbone": self.backbone.identity,
            "objective": {"name": self.objective, "variant": self.variant, "params": self.params},
            "training": self.recipe.identity if self.objective else self.recipe.untrained_identity,
            "data": self.data,
        }

    @cached_property
    def hash8(self) -> str:
        return digest(self.identity)

    @property
    def slug(self) -> str:
        if not self.objective:
            return self.recipe.untrained_name
        values = {**dict(sorted(self.params.items())), **self.recipe.in_name}
        named = [readable(key, value) for key, value in values.items() if value is not None]
        return "-".join([self.variant, *named, f"lr{self.recipe.learning_rate:g}", f"b{self.recipe.batch_size}"])

    @property
    def settings(self) -> dict[str, Any]:
        """The recipe's fields and the objective's parameters, as experiments name them."""
        return {**self.recipe.model_dump(), **self.params}

    @property
    def code(self) -> str:
        """The fingerprint of the code that trains it today; with the objective's goes that of the one it is around."""
        return fingerprint.of_objectives(self.plan.training_code(self), self.objective, self.params.get("base"))

    @property
    def group(self) -> str:
        """What the folders call the run: its objective, or `pretrained`."""
        return self.objective or "pretrained"

    @cached_property
    def folder(self) -> Path:
        name = f"{self.slug}-{self.hash8}"
        return (
            RESULTS / self.scale / "runs" / self.modality / self.backbone.key / self.group / name / f"seed{self.seed}"
        )

    @property
    def repetition(self) -> int | None:
        """The seed, where one decides the weights; None for an encoder that comes with its weights."""
        return self.seed if self.objective or self.recipe.untrained_by_seed else None

    @property
    def name(self) -> str:
        """Short and of this run alone."""
        return f"{self.hash8}-seed{self.seed}"

    @property
    def record(self) -> Path:
        return self.folder / "record.json"

    @property
    def has_statistics(self) -> bool:
        """Whether statistics are recorded beside the run: of a training, or of an encoder that nothing trains."""
        return bool(self.objective) or self.recipe.measures_untrained

    @property
    def files(self) -> list[Path]:
        """What its training leaves, besides the models that the record names."""
        return [self.record, *([self.folder / "statistics.json"] if self.has_statistics else [])]

    def is_called(self, name: str) -> bool:
        """Whether `accept_stale` means this run by a name: objective, hash, or path with or without the seed."""
        return name in (self.objective, self.hash8, str(self.folder), str(self.folder.parent))

    def is_accepted(self, config: Common) -> bool:
        """Whether its finished results are kept though code changed."""
        return any(map(self.is_called, config.accept_stale))

    def is_stale(self, record: dict) -> bool:
        """Whether a record is of older code; an encoder that nothing trains has no code to be older."""
        return bool(self.objective) and record["code"] != self.code

    def state(self, code: str, inputs: str) -> Path:
        """Where training keeps what it must not lose; other code or other input bytes start anew."""
        return STATE / self.scale / f"{self.name}-{code}-{inputs}"

    @property
    def given(self) -> dict[str, Any]:
        """What a job that trains or embeds it is handed; see `Modality.run_from`."""
        given = vars_of(self)
        del given["plan"], given["evaluation"]
        return given | {
            "modality": self.modality,
            "backbone": self.backbone.given,
            "recipe": self.recipe.identity,  # a new field that is off changes no job
        }


@dataclass(frozen=True)
class Wanted:
    """A run as papers and configuration ask for it, on one backbone.

    settings: of recipe, run and backbone, None where experiments.yaml has none for this backbone. changes: what a
    table or figure sets of its own. as_trained: an untrained encoder that shares what a scale changes in training.
    """

    objective: str | None
    variant: str | None
    backbone: str
    settings: dict[str, Any] | None
    changes: dict[str, Any]
    place: str
    as_trained: bool = False


def readable(key: str, value: float | bool | str) -> str:
    """A parameter in a folder's name: temperature0.05, reweight_false, negatives_cross."""
    if isinstance(value, bool | str):
        return f"{key}_{str(value).lower()}"
    return f"{key}{value:.4g}"
