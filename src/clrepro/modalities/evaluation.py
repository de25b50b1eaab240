"""An evaluation as an object: what it reads, its scores, its checked settings, its resources, its words.

Rules, plan, ledger and captions read all of this from here; the function itself is imported only where it runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from clrepro.errors import UserError, unknown

AVERAGE = "Avg"


@dataclass(frozen=True)
class Score:
    """The scores of one kind, which a score's name starts with, as in transfer/MR or knn_plain/top1.

    unit: percent, or None where numbers have a scale of their own. better: which way is better, None where neither is.
    factor: of the recorded value in the unit. split: of the data that it is measured on. tasks: those whose mean is
    the score `Avg`.
    """

    unit: Literal["percent"] | None = "percent"
    better: Literal["higher", "lower"] | None = "higher"
    factor: float = 1.0
    split: str = "test"
    tasks: tuple[str, ...] = ()

    def shown(self, value: float) -> float:
        """A recorded value in the unit: percents to two decimals, as the papers' programs print them, others to six
        digits.
        """
        scaled = self.factor * value
        return round(scaled, 2) if self.unit == "percent" else float(f"{scaled:.6g}")


@dataclass(frozen=True)
class Resources:
    """What a job asks a scheduler for. threads: those of the configuration's jobs, or one."""

    memory_mb: int = 8000
    minutes: int = 240
    threads: bool = False


def own_name(kind: str, task: str) -> tuple[str, str]:
    """(task, metric) of the row that holds kind/task, where rows are named after the kind: [knn, test, top1, value]."""
    return kind.removesuffix("_selection"), task


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One protocol by which finished runs are evaluated.

    name: its results lie beside a run's record in <name>.json, as rows [task, split, metric, value].
    scores: by kind, or by a pattern of kinds.
    work: module:function, which makes the content of that file. code: the modules that decide it.
    reads: the stored features of a run, or its checkpoint (then the function keeps a state of its own and resumes).
    described: for a report's first words.
    group: evaluations of one group share a job.
    settings: the forms that a recipe's settings of a kind must have; the function gets them as they are given.
    row: (kind, task) -> (task, metric) of the row that holds a score.
    arrays: the numbers that pictures keep beside the rows.
    caption: a sentence about a run's settings of a kind, or "".
    protocol: what decides its scores besides code and encoder, from configuration and a run's settings of its kinds.
    lacks: why a configuration cannot evaluate a backbone, or "".
    builds: what it reads besides the run's own build.
    resources: of a job of features; one of checkpoints asks for a training's, and minutes is its time limit where the
    configuration sets one.
    uses_gpu: whether a run's settings need a GPU.
    resumes: whether a run's settings make an evaluation of features as long as a training: its job asks for what a
    training does, and the function keeps a state of its own and resumes.
    seeds: those of an evaluation that is repeated on one encoder. Its content is {"seeds": {seed: rows}} then, and each
    seed counts as one repetition.
    every_tabled_run: made of every run that a table needs, asked by a cell or not.

    The function of an evaluation of features is called as f(features, protocol, kinds), with `kinds` those that are
    asked, and, where it resumes, with state=..., stop=...; that of one of checkpoints as
    f(run, config, protocol, state, stop).
    """

    name: str
    scores: Mapping[str, Score]
    work: str
    code: tuple[str, ...]
    described: str = ""
    reads: Literal["features", "checkpoint"] = "features"
    group: str = ""
    settings: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    row: Callable[[str, str], tuple[str, str]] = own_name
    arrays: tuple[str, ...] = ()
    caption: Callable[[dict, str], str] = lambda settings, kind: ""
    protocol: Callable[[Any, dict], Any] = lambda config, settings: settings
    lacks: Callable[[Any, str], str] = lambda config, backbone: ""
    builds: Callable[[Any], tuple] = lambda config: ()
    minutes: Callable[[Any], int] | None = None
    uses_gpu: Callable[[dict], bool] = lambda settings: False
    resumes: Callable[[dict], bool] = lambda settings: False
    resources: Resources = Resources()
    seeds: Callable[[Any], tuple[int, ...]] | None = None
    every_tabled_run: bool = False

    @property
    def file(self) -> str:
        return f"{self.name}.json"

    @property
    def job(self) -> str:
        return self.group or self.name

    def covers(self, kind: str) -> bool:
        return any(fnmatchcase(kind, pattern) for pattern in self.scores)

    def settings_of(self, evaluation: Mapping[str, dict]) -> dict[str, dict]:
        """Of a run's settings of evaluations those of this one."""
        return {kind: part for kind, part in evaluation.items() if self.covers(kind)}

    def of_kind(self, kind: str) -> Score:
        """What a kind of score is, by the longest pattern that fits it."""
        return self.scores[max((pattern for pattern in self.scores if fnmatchcase(kind, pattern)), key=len)]

    def score(self, name: str, rows: list[list]) -> float:
        """One score, kind/task, of a file's rows, in its unit; kind/Avg is the mean of the rounded scores, rounded.

        A score without its row is a KeyError.
        """
        kind, _, task = name.partition("/")
        score = self.of_kind(kind)
        if task == AVERAGE and score.tasks:
            return round(sum(self.score(f"{kind}/{part}", rows) for part in score.tasks) / len(score.tasks), 2)
        values = {tuple(row[:3]): row[3] for row in rows}
        of_task, metric = self.row(kind, task)
        return score.shown(values[of_task, score.split, metric])

    def takes_settings(self, kind: str) -> bool:
        return self._form(kind) is not None

    def _form(self, kind: str) -> type[BaseModel] | None:
        return next((form for pattern, form in self.settings.items() if fnmatchcase(kind, pattern)), None)

    def check(self, kind: str, given: dict, place: str) -> None:
        """Refuse settings of a kind that are unknown, misspelt or of a wrong type, before anything starts."""
        form = self._form(kind)
        if form is None:
            raise UserError(f"{place}: evaluation '{kind}' takes no settings")
        for name in given:
            if name not in form.model_fields:
                raise unknown("setting", name, form.model_fields, f"{place}, evaluation.{kind}")
        try:
            form.model_validate(given)
        except ValidationError as failure:
            error = failure.errors()[0]
            raise UserError(f"{place}, evaluation.{kind}: {'.'.join(map(str, error['loc']))}: {error['msg']}") from None

    def function(self) -> Callable:
        """The function that evaluates, with all that it imports."""
        module, _, name = self.work.partition(":")
        return getattr(import_module(module), name)
