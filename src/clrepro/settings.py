"""Settings that belong to no modality, and the types that all sections of the configuration are made of."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from clrepro.paths import PAPERS

PositiveInt = Annotated[int, Field(gt=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
Arithmetic = Literal["ieee", "tf32"]
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
    teraflops: PositiveFloat = Field(0.02, description="sustained training speed of that unit in fp32, TFLOP/s")
    half_teraflops: PositiveFloat | None = Field(
        None, description="the same in bf16 and fp16, TFLOP/s; null: as in fp32"
    )
    layer_milliseconds: Annotated[float, Field(ge=0)] = Field(
        0.0, description="time of a training step and layer that no device shortens: Python, and starting kernels"
    )
    memory_gb: PositiveFloat | None = Field(
        None, description="memory of a GPU; cells whose training needs more are holes; null: not checked"
    )

    def hours(self, operations: float, precision: str = "fp32", layer_steps: float = 0.0) -> float:
        """Of floating-point operations; layer_steps: layers times steps, each of which takes its time at least."""
        rate = self.teraflops if precision == "fp32" else self.half_teraflops or self.teraflops
        return max(operations / (rate * 1e12), layer_steps * self.layer_milliseconds / 1e3) / 3600


class Float32(Model):
    """Products in fp32 on a GPU: IEEE, or TF32, which is faster and coarser; runs with TF32 have another identity."""

    matmul: Arithmetic = Field("ieee", description="products of matrices")
    convolution: Arithmetic = Field("ieee", description="convolutions; PyTorch's own default is tf32")


class Ledger(Model):
    """When a number counts as reproduced, and a claim as decided (docs/ledger.md has the rules)."""

    band: PositiveFloat = Field(
        1.0, description="points (percent) on either side of a published number that still count as the same"
    )
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        0.05, description="probability of a wrong verdict: of each cell, and of any claim of a paper"
    )


FIRST_PAPERS = ("nie2023", "li2024", "huang2023", "oar2024")  # the order in which everything lists them


def every_paper() -> list[str]:
    """The folders of `papers/`, those added later behind the first four."""
    found = sorted(folder.parent.name for folder in PAPERS.glob("*/published.yaml"))
    return [*(key for key in FIRST_PAPERS if key in found), *(key for key in found if key not in FIRST_PAPERS)]


class Common(Model):
    """What every configuration has, whatever modalities there are."""

    scale: Literal["demo", "bench", "paper"] = Field(description="names the results' folder and the verdicts")
    papers: Names = Field(
        default_factory=every_paper,
        description="folders of `papers/` whose tables, figures without training and theory checks are made; "
        "left out: all",
    )
    tables: Names = Field([], description="only these tables, as paper/table; empty: all of the papers")
    objectives: Names = Field(
        [], description="train only these objectives, by name; cells of others are holes; empty: all of them"
    )
    seeds: Annotated[list[int], Field(min_length=1), AfterValidator(distinct)] = Field(
        [42, 43, 44], description="one training each"
    )
    mirror: str | None = Field(None, description="folder of already downloaded files (see `clrepro sources`)")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="auto: a GPU where there is one")
    float32: Float32 = Float32()
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
    simulation: SimulationOverrides = SimulationOverrides()
    ledger: Ledger = Ledger()
    jobs: Jobs = Jobs()
    hardware: Hardware = Hardware()
