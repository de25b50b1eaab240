"""What a modality is: a folder that says how its runs are planned (here, without torch) and how they are done.

`Modality` is the plan; the module that its `work` names does the work, and is imported only where a job runs:

    inputs_digest(run, config) -> str               what a training reads, by content
    train(run, config, state, stop) -> dict | None  one training, as clrepro.training.loop.fit returns it
    said(result) -> str                             the outcome of a training in a line
    kept_steps(run, steps) -> list[int]             the steps whose checkpoints are kept besides the best one
    record_untrained(run, config) -> dict           the record of weights that nothing trains, and their statistics
    embed(runs, config, folder)                     stored features of every run, folder/<run.name>.npz
    load(run, config, file, uses_gpu)               stored features, as the modality's evaluations take them
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError

from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Build, Cost, Recipe, Run, Wanted
from clrepro.objectives import resolve, signatures
from clrepro.settings import Common
from clrepro.sources.source import Source


class Modality:
    """How runs of one modality are planned. Subclasses fill it; one object of each stands in the lookup.

    code: the modules that decide what `train` and `embed` do. material, scale_material: what a scale's data, and data
    with encoders, are in words. curves: the statistics of a training that a report draws.
    """

    key: ClassVar[str]
    section: ClassVar[type[BaseModel]]
    recipe: ClassVar[type[Recipe]]
    builds: ClassVar[tuple[type[Build], ...]]
    evaluations: ClassVar[tuple[Evaluation, ...]]
    work: ClassVar[str]
    code: ClassVar[Mapping[str, tuple[str, ...]]]
    material: ClassVar[Mapping[str, str]]
    scale_material: ClassVar[Mapping[str, str]]
    curves: ClassVar[tuple[str, ...]] = ()
    rehearsal: ClassVar[str] = ""  # module:function(run, device, batch_size) -> training.rehearsal.Rehearsal
    processes: ClassVar[bool] = False  # whether several processes can share one training
    rows_share_recipe: ClassVar[bool] = False  # whether tables take only those rows of a user that have their recipe

    def training_code(self, run: Run) -> tuple[str, ...]:
        """The modules that decide what a training is, where not all of a modality's have the same."""
        return self.code["train"]

    def of(self, config: Common) -> Any:
        """The modality's section of a configuration."""
        return getattr(config, self.key)

    def work_module(self) -> ModuleType:
        return import_module(self.work)

    def runs_per_job(self, config: Common) -> int:
        """How many runs share a job in every stage, at most."""
        return config.jobs.runs

    def check(self, config: Common) -> None:
        """Refuse names in the section that do not exist."""

    def lacks(self, config: Common, wanted: Wanted) -> str:
        """Why a configuration does not train a run; empty if it does."""
        if self.of(config).backbones.get(wanted.backbone) is None:
            return f"this configuration has no `{self.key}.backbones.{wanted.backbone}`"
        return ""

    def sweep(self, config: Common, name: str, values: list) -> list:
        """Of a paper's sweep, the values that a configuration trains."""
        return values

    def learning_rate_sweep(self, config: Common) -> tuple[list[float], int] | None:
        """Learning rates that every objective of the tables is tried with, and the seed; None where none are asked."""
        return None

    def sweep_setting(self) -> str:
        """The key of the configuration that says so."""
        return f"`{self.key}.training`"

    def define(self, config: Common, wanted: Wanted) -> tuple[Run, ...]:
        """A run with every seed; `wanted.settings` are there."""
        raise NotImplementedError

    def inputs(self, config: Common) -> tuple[Source, ...]:
        """What every training and evaluation reads besides the run's build."""
        return ()

    def cost(self, config: Common, run: Run) -> Cost:
        """Of a training with its embeddings, from operation counts."""
        return Cost()

    def steps(self, config: Common, run: Run) -> int:
        """Of a training, where `rehearsal` makes one of them."""
        raise NotImplementedError

    def memory_gb(self, run: Run) -> float:
        """Of a GPU that trains a run, estimated."""
        return 0.0

    def cost_of(self, config: Common, run: Run, evaluation: Evaluation) -> Cost:
        """Of an evaluation, where it is worth counting."""
        return Cost()

    def is_papers_own(self, config: Common, original: Common) -> bool:
        """Whether data, encoders, training and evaluation are those of config/paper.yaml, so that numbers compare."""
        ours, theirs = self.of(config), self.of(original)
        same = ours.model_copy(update={"backbones": theirs.backbones}) == theirs
        return same and self.has_papers_backbones(ours, theirs)

    @staticmethod
    def has_papers_backbones(ours: Any, theirs: Any) -> bool:
        return all(spec in (None, theirs.backbones.get(key)) for key, spec in ours.backbones.items())

    def protocol(self, config: Common, runs: list[Run], kinds: Iterable[str], metric: str) -> list[str]:
        """What a table's caption says of its runs: metric, evaluation, seeds, encoders, data, training."""
        return [f"{metric} Seeds: {', '.join(map(str, config.seeds))}."]

    def protocol_of_figure(self, config: Common, runs: list[Run], kinds: Iterable[str]) -> list[str]:
        """The same below a figure; runs: the trained ones."""
        return []

    def scale_words(self, config: Common) -> str:
        """What a scale that is not the papers' own means for numbers beside published ones."""
        what = self.scale_material[config.scale]
        return f"{config.scale} scale: {what}, so no number is comparable with a published one"

    def setup(self, config: Common, runs: list[Run]) -> list[list[str]]:
        """Lines of name and text about the configuration, for a report."""
        return []

    # from what a job is handed

    def build_from(self, given: dict[str, Any]) -> Build:
        form = next(form for form in self.builds if form.__name__ == given["build"])
        return form(**{name: value for name, value in given.items() if name != "build"})

    def run_from(self, given: dict[str, Any], evaluation: dict[str, dict]) -> Run:
        fields = {name: value for name, value in given.items() if name != "modality"}
        fields["backbone"] = self.build_from(given["backbone"])
        fields["recipe"] = self.recipe(**given["recipe"])
        return Run(plan=self, evaluation=evaluation, **fields)

    # what subclasses share

    def split(self, settings: dict[str, Any], objective: str | None, place: str) -> tuple[Any, dict[str, Any]]:
        """Settings of a run as (recipe, parameters of its objective); an unknown one is refused."""
        around = [objective, settings.get("base")] if objective else []  # `oar` takes its base's parameters as well
        parameters = {key for name in filter(None, around) for variant in signatures(name).values() for key in variant}
        form = self.recipe
        for key in settings:
            if key not in form.model_fields and key not in parameters:
                raise unknown("setting", key, {*form.model_fields, *parameters}, place)
        try:
            how = form(**{key: value for key, value in settings.items() if key in form.model_fields})
        except ValidationError as failure:
            error = failure.errors()[0]
            raise UserError(f"{place}: {'.'.join(map(str, error['loc']))}: {error['msg']}") from None
        return how, {key: value for key, value in settings.items() if key in parameters}


def is_left_out_or_same(ours: Any, theirs: Any) -> bool:
    """Whether a part of a section is null or the papers' own; its time limit changes no number."""
    return ours is None or ours.model_copy(update={"runtime_minutes": theirs.runtime_minutes}) == theirs


def resolved(wanted: Wanted, params: dict) -> tuple[str | None, dict]:
    """The variant and all parameters of a run's objective."""
    if not wanted.objective:
        return None, params
    try:
        return resolve(wanted.objective, wanted.variant, **params)
    except UserError as failure:
        raise UserError(f"{wanted.place}: {failure}") from None
