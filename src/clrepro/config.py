"""The configuration: one typed model that checks, completes and documents every key.

``config.yaml`` is the demo; ``config/bench.yaml`` and ``config/paper.yaml`` replace it by naming another
scale; any further file given by ``--configfile`` overlays the one before, key by key.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from clrepro.errors import UserError, unknown
from clrepro.evaluation.pooling import Loadable
from clrepro.paths import ROOT

PositiveInt = Annotated[int, Field(gt=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
Precision = Literal["fp32", "bf16", "fp16"]


def distinct(values: list) -> list:
    """A list without repetitions: a seed given twice would count as two."""
    repeated = sorted({str(value) for value in values if values.count(value) > 1})
    if repeated:
        raise ValueError(f"{', '.join(repeated)} is given more than once")
    return values


Names = Annotated[list[str], AfterValidator(distinct)]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


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


class ImageBackbone(Model):
    """An image encoder, trained from random weights on one image set."""

    data: str = Field(description="source of an image set")
    architecture: Literal["resnet18", "resnet50", "resnet8", "conv3"] = Field(
        description="torchvision's ResNets without their last layer; resnet8: three residual blocks of 16, 32, 64 "
        "channels; conv3: three small convolutions"
    )
    stem: Literal["cifar", "imagenet"] | None = Field(
        None, description="a ResNet's beginning: 3 × 3 without pooling, or 7 × 7 with it; null for resnet8 and conv3"
    )
    side: PositiveInt | None = Field(None, description="pixels that views are resized to; null: the augmentation's")
    classes: Literal["imagenet100"] | None = Field(None, description="only these classes of the image set; null: all")


class ImageTrainingOverrides(Model):
    """What a scale changes in the papers' settings of image encoders; null keeps the paper's value."""

    epochs: PositiveFloat | None = Field(
        None,
        description="passes over the training images, may be a fraction; where a table trains longer than its recipe, "
        "so many times as long; warm-up keeps its share",
    )
    batch_divisor: PositiveInt = Field(1, description="batch sizes are divided by it, to no less than 2")
    memory_divisor: PositiveInt = Field(
        1, description="MoCo's queues and NNCLR's support sets are divided by it, to no less than 1"
    )
    batch_sizes: list[PositiveInt] | None = Field(
        None, description="only runs with these of the papers' batch sizes; the cells of others are holes"
    )
    learning_rates: list[PositiveFloat] | None = Field(
        None, description="of a paper's sweep over learning rates, only these values"
    )
    augmentation: str | None = Field(
        None, description="instead of the papers': one of modalities/image/augmentations.py"
    )
    probe_epochs: PositiveInt | None = Field(None, description="of linear probes and of the heads of fine-tuning")
    hidden_divisor: PositiveInt = Field(1, description="hidden widths of the heads of fine-tuning are divided by it")
    precision: Precision | None = None


class Detection(Model):
    """Images with boxes: trained encoders are fine-tuned on them as detectors (table 2 of huang2023)."""

    train: Names = Field(description="sources of images with boxes, all of them together")
    test: str = Field(description="source of the images with boxes whose objects are then to be found")
    settings: dict[str, float | int | list[int]] = Field(
        {}, description="instead of the paper's, as `iterations: 1000`; papers/huang2023/experiments.yaml has them all"
    )
    runtime_minutes: PositiveInt = Field(2880, description="time limit of a job of fine-tuning, for schedulers")


class Image(Model):
    """Image encoders: data, backbones and training."""

    backbones: dict[str, ImageBackbone | None] = Field(
        {}, description="which encoder fills which tables; what is null or not there leaves their cells out"
    )
    training: ImageTrainingOverrides = ImageTrainingOverrides()
    detection: Detection | None = Field(
        None, description="images with boxes, to fine-tune encoders as detectors; null leaves these cells out"
    )


class SimulationOverrides(Model):
    """How far a scale thins the figures that need no trained encoder; null keeps the papers' counts.

    Thinned figures say so below their panels.
    """

    points: Annotated[int, Field(ge=2)] | None = Field(None, description="grid points an axis, at most")
    batches: PositiveInt | None = Field(None, description="sampled batches a grid point, at most")
    steps: PositiveInt | None = Field(None, description="training steps of toy networks, at most")


class Row(Model):
    """A row of your own in every table that compares objectives; one run a backbone and seed fills all of them.

    Batch 64 and learning rate 3e-5, unless `settings` (or the scale) says otherwise.
    """

    objective: str = Field(description="an objective's name, perhaps your own (docs/add-your-objective.md)")
    variant: str | None = Field(None, description="its variant; null: its default")
    recipe: str = Field("li2024.simcse", description="how it is trained: a recipe of papers/*/experiments.yaml")
    settings: dict[str, float | int | bool | str | None] = Field(
        {}, description="parameters of the objective, and what differs from the recipe, as `learning_rate: 1e-5`"
    )


class Jobs(Model):
    """How the work is cut into jobs. Imports are the price of a job: cheap runs share one."""

    runs: PositiveInt = Field(1, description="runs that share a job, in every stage, at most")
    threads: PositiveInt = Field(1, description="CPU threads of a training or embedding job")
    gpus: Annotated[int, Field(ge=0)] = Field(0, description="GPUs of a training or embedding job")
    memory_mb: PositiveInt = Field(
        4000, description="memory of a job, for schedulers; each retry asks for as much more"
    )
    runtime_minutes: PositiveInt = Field(
        60, description="time limit of a job, for schedulers; each retry asks for as much more"
    )
    processes: PositiveInt = Field(
        1,
        description="processes that train one sentence encoder together, each with `threads`, `gpus` and `memory_mb` "
        "of its own; the batch is shared, negatives and gradients are those of the whole",
    )
    per_gpu: PositiveInt = Field(
        1, description="jobs that may share a GPU of this machine at once, where no scheduler assigns GPUs"
    )


class Hardware(Model):
    """What `clrepro plan` prices with: an estimate from floating-point operations, not a promise."""

    name: str = Field("one CPU core", description="the unit of the priced hours")
    teraflops: PositiveFloat = Field(0.02, description="sustained training speed of that unit, TFLOP/s")


class Ledger(Model):
    """When a number counts as reproduced, and a claim as decided (docs/ledger.md has the rules)."""

    band: PositiveFloat = Field(
        1.0, description="points (percent) on either side of a published number that still count as the same"
    )
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        0.05, description="probability of a wrong verdict: of each cell, and of any claim of a paper"
    )


class Config(Model):
    """clrepro's configuration."""

    scale: Literal["demo", "bench", "paper"] = Field(description="names the results' folder and the verdicts")
    papers: Names = Field(
        ["nie2023", "li2024", "huang2023", "oar2024"],
        description="papers whose tables, figures without training and theory checks are made",
    )
    tables: Names = Field([], description="only these tables, as paper/table; empty: all of the papers")
    seeds: Annotated[list[int], Field(min_length=1), AfterValidator(distinct)] = Field(
        [42, 43, 44], description="one training each"
    )
    mirror: str | None = Field(None, description="folder of already downloaded files (see `clrepro sources`)")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="auto: a GPU where there is one")
    accept_stale: Names = Field(
        [],
        description="runs (path or hash) or objectives whose finished results are kept though code changed",
    )
    grids: Names = Field(
        [],
        description="grid searches to run, as paper/row or paper/row@backbone (see `clrepro plan --grids`)",
    )
    figures: Names = Field(
        [],
        description="figures whose runs are trained, as paper/figure or paper for all (see `clrepro plan --figures`)",
    )
    rows: dict[str, Row] = Field({}, description="rows of your own, by name")
    sentence: Sentence
    image: Image = Image()
    simulation: SimulationOverrides = SimulationOverrides()
    ledger: Ledger = Ledger()
    jobs: Jobs = Jobs()
    hardware: Hardware = Hardware()


SECTIONS = (
    Sentence,
    Image,
    SimulationOverrides,
    Row,
    Ledger,
    Jobs,
    Hardware,
    TrainingOverrides,
    ScratchBackbone,
    PretrainedBackbone,
    ImageTrainingOverrides,
    ImageBackbone,
    Detection,
)


def _fields_at(location: tuple) -> list[str]:
    """The keys that exist where an unknown one was met."""
    names: set[str] = set()

    def visit(model: type[BaseModel], rest: tuple) -> None:
        if not rest:
            names.update(model.model_fields)
            return
        field = model.model_fields.get(rest[0])
        for nested in SECTIONS:
            if field is not None and (nested.__name__ in str(field.annotation) or nested is field.annotation):
                remaining = rest[1:]
                if nested in (ScratchBackbone, PretrainedBackbone):
                    if len(remaining) < 2 or remaining[1] != nested.model_fields["kind"].default:
                        continue
                    remaining = remaining[2:]
                elif nested in (Row, ImageBackbone):
                    remaining = remaining[1:]  # its name
                visit(nested, remaining)

    visit(Config, location)
    return sorted(names)


def _explain(error: dict[str, Any]) -> str:
    location = error["loc"]
    place = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        *parents, key = location
        known = _fields_at(tuple(parents))
        return str(unknown("key", str(key), known, place=".".join(map(str, parents)) or "the configuration"))
    if error["type"] == "literal_error":
        allowed = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        return str(unknown("value", str(error["input"]), allowed, place))
    if error["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {error['msg'].lower()}, got {error['input']!r} ({type(error['input']).__name__})"


def parse(raw: dict[str, Any], place: str = "the configuration") -> Config:
    """Check a configuration, naming every wrong key, type and value at once."""
    try:
        return Config.model_validate(raw)
    except ValidationError as failure:
        lines = [_explain(dict(error)) for error in failure.errors()]
        raise UserError(f"{place} is not valid:\n" + "\n".join(f"  - {line}" for line in lines)) from None


def merge(below: dict, above: dict) -> dict:
    """Overlay, key by key; lists and scalars of the upper one win (what Snakemake does with --configfile)."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise UserError(f"configuration file '{file}' does not exist")
    try:
        content = yaml.safe_load(file.read_text("utf-8"))
    except yaml.YAMLError as failure:
        raise UserError(f"{file} is not valid YAML: {failure}") from None
    if not isinstance(content, dict):
        raise UserError(f"{file} must hold keys and values, not {type(content).__name__}")
    return content


def load(scale: str = "demo", files: list[Path] | None = None) -> Config:
    """The configuration of a scale, overlaid by further files, without Snakemake."""
    base = {"demo": "config.yaml", "bench": "config/bench.yaml", "paper": "config/paper.yaml"}
    if scale not in base:
        raise unknown("scale", scale, base)
    raw = read(ROOT / base[scale])
    for file in files or []:
        overlay = read(file)
        raw = overlay if "scale" in overlay else merge(raw, overlay)
    return parse(raw)
