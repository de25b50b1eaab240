from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from clrepro.modalities import run
from clrepro.modalities.evaluation import Evaluation, Score
from clrepro.modalities.interface import Modality, resolved
from clrepro.modalities.run import Build, Cost, Run
from clrepro.paths import DATA, digest
from clrepro.settings import Model

POINTS = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [-1.0, 0.5], [-2.0, -1.0]]


class Plane(Model):
    width: int


class Toy(Model):
    backbones: dict[str, Plane | None] = Field({"plane": Plane(width=3)})


class ToyRecipe(run.Recipe):
    learning_rate: float = 0.1
    batch_size: int = 5
    steps: int = 4


class AxesSettings(Model):
    axes: int


@dataclass(frozen=True, eq=False)
class ToyBuild(Build):
    work = "tests.modalities.toy.work:prepare"
    code = ("clrepro.training.loop",)

    spec: dict

    @property
    def identity(self) -> dict:
        return self.spec

    @property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / f"{self.key}-{digest(POINTS)}"

    @property
    def sources(self) -> list:
        return []


AXES = Evaluation(
    name="axes",
    described="share of variance on the first axes",
    scores={"axes": Score(better="lower")},
    settings={"axes": AxesSettings},
    seeds=lambda config: (1, 2, 3),
    work="tests.modalities.toy.work:axes",
    code=("clrepro.evaluation.statistics",),
    caption=lambda settings, kind: f"Share of variance on {settings['axes']} axes.",
)


class ToyModality(Modality):
    key = "toy"
    section = Toy
    recipe = ToyRecipe
    builds = (ToyBuild,)
    evaluations = (AXES,)
    work = "tests.modalities.toy.work"
    code: ClassVar = {"train": ("clrepro.training.loop",), "embed": ("clrepro.training.loop",)}
    material: ClassVar = {"demo": "five points", "bench": "five points"}
    scale_material: ClassVar = {"demo": "five points and a linear map", "bench": "five points and a linear map"}
    curves = ("loss",)

    def define(self, config, wanted):
        settings = {**wanted.settings, **wanted.changes}
        evaluation = settings.pop("evaluation", {})
        for kind, part in evaluation.items():
            AXES.check(kind, part, wanted.place)
        recipe, params = self.split(settings, wanted.objective, wanted.place)
        variant, params = resolved(wanted, params)
        build = ToyBuild(wanted.backbone, config.scale, config.toy.backbones[wanted.backbone].model_dump())
        made = (config.scale, self, build, wanted.objective, variant, params, recipe, {"points": digest(POINTS)})
        return tuple(Run(*made, seed, evaluation) for seed in config.seeds)

    def cost(self, config, run):
        return Cost(training=0.25, gigabytes=0.001)

    def protocol(self, config, runs, kinds, metric):
        said = [AXES.caption(runs[0].evaluation[kind], kind) for kind in kinds]
        return [*super().protocol(config, runs, kinds, metric), *said]


TOY = ToyModality()
