"""How runs of graph encoders are planned: the papers' settings, and what a scale changes in them."""

from collections.abc import Iterable
from typing import Any, ClassVar

from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.graph import cost, words
from clrepro.modalities.graph.build import GraphBuild, graph_build
from clrepro.modalities.graph.evaluations import EVALUATIONS
from clrepro.modalities.graph.molecules import evaluations as fine_tuning
from clrepro.modalities.graph.molecules.build import (
    MoleculeBuild,
    MoleculeSetBuild,
    molecule_build,
    molecule_set_builds,
)
from clrepro.modalities.graph.recipe import GraphRecipe
from clrepro.modalities.graph.section import Graph
from clrepro.modalities.interface import Modality, is_left_out_or_same, resolved
from clrepro.modalities.run import Build, Cost, Run, Wanted
from clrepro.settings import Common


class GraphModality(Modality):
    key = "graph"
    section = Graph
    recipe = GraphRecipe
    builds = (GraphBuild, MoleculeBuild, MoleculeSetBuild)
    evaluations = EVALUATIONS
    work = "clrepro.modalities.graph.work"
    code: ClassVar = {
        "train": ("clrepro.modalities.graph.training", "clrepro.objectives._objective"),
        "train on molecules": ("clrepro.modalities.graph.molecules.training", "clrepro.objectives._objective"),
        "embed": ("clrepro.modalities.graph.embedding",),
    }
    material: ClassVar = {"demo": "small generated graphs", "bench": "real graphs and molecules"}
    scale_material: ClassVar = {
        "demo": "small generated graphs and tiny encoders",
        "bench": "real graphs and molecules, and short training",
    }
    curves = ("loss", "train_alignment", "train_uniformity", "gradient_norm_mean")

    rows_share_recipe = True  # tables of graphs and of molecules differ in data and encoder

    def training_code(self, run: Run) -> tuple[str, ...]:
        return self.code["train on molecules" if isinstance(run.backbone, MoleculeBuild) else "train"]

    def runs_per_job(self, config: Common) -> int:
        return config.graph.runs_per_job or config.jobs.runs

    def check(self, config: Common) -> None:
        molecule_set_builds(config)

    def lacks(self, config: Common, wanted: Wanted) -> str:
        if why := super().lacks(config, wanted):
            return why
        build = self.build(config, wanted.backbone)
        if not isinstance(build, MoleculeBuild):
            return ""
        if config.graph.molecules is None:
            return "this configuration has no `graph.molecules`, which says how molecules are pre-trained on"
        return words.unreachable(build.source, config.mirror)

    def build(self, config: Common, backbone: str) -> Build:
        """The graphs or molecules of one of the configuration's encoders."""
        made = molecule_build if config.graph.backbones[backbone].architecture == "gin_bonds" else graph_build
        return made(config.graph, config.scale, backbone)

    def define(self, config: Common, wanted: Wanted) -> tuple[Run, ...]:
        build = self.build(config, wanted.backbone)
        of_molecules = isinstance(build, MoleculeBuild)
        merged = {**wanted.settings, **wanted.changes}
        evaluation = self._evaluation(config, merged.pop("evaluation", {}), wanted.place)
        scale = config.graph.molecules.pretraining if of_molecules else config.graph.training
        merged = epochs_in_proportion(merged, wanted.settings["epochs"], scale.epochs)
        if scale.batch_size is not None:
            merged["batch_size"] = scale.batch_size
        recipe, params = self.split(merged, wanted.objective, wanted.place)
        variant, params = resolved(wanted, params)
        count = None if of_molecules else build.source.graphs["graphs"]
        if wanted.objective and count is not None and recipe.batch_size > count:
            raise UserError(
                f"{wanted.place}: batch_size {recipe.batch_size} is larger than the {count:,} graphs of "
                f"{build.source.name}; set `graph.training.batch_size`"
            )
        seeds = config.seeds[:1] if of_molecules else config.seeds  # table 5 repeats the fine-tuning of one encoder
        made = (config.scale, self, build, wanted.objective, variant, params, recipe, build.data)
        return tuple(Run(*made, seed, evaluation) for seed in seeds)

    def _evaluation(self, config: Common, given: dict[str, dict], place: str) -> dict[str, dict]:
        """The checked settings of a run's evaluations, as a scale has them."""
        found = {}
        for kind, part in given.items():
            about = next((one for one in self.evaluations if one.covers(kind)), None)
            if about is None:
                raise unknown("evaluation", kind, {name for one in self.evaluations for name in one.scores}, place)
            about.check(kind, part, place)
            if kind == "svm":
                scale = config.graph.training
                ours = {name: getattr(scale, name) for name in ("folds", "inner_folds")}
                found[kind] = {**part, **{name: value for name, value in ours.items() if value is not None}}
            elif not about.lacks(config, ""):
                found[kind] = fine_tuning.settings(config, part, place)
        return found

    def cost(self, config: Common, run: Run) -> Cost:
        return cost.of_run(config, run)

    def cost_of(self, config: Common, run: Run, evaluation: Evaluation) -> Cost:
        return cost.of_evaluation(config, run, evaluation)

    def is_papers_own(self, config: Common, original: Common) -> bool:
        """Table 4 is the papers' own wherever sets, encoder and training are; table 5 needs its molecules besides."""
        theirs, ours = original.graph, config.graph
        same = ours.training == theirs.training and is_left_out_or_same(ours.molecules, theirs.molecules)
        return same and self.has_papers_backbones(ours, theirs)

    def protocol(self, config: Common, runs: list[Run], kinds: Iterable[str], metric: str) -> list[str]:
        return words.of_table(config, runs, kinds, metric, self.evaluations)

    def protocol_of_figure(self, config: Common, runs: list[Run], kinds: Iterable[str]) -> list[str]:
        return words.of_figure(runs, kinds, self.evaluations)

    def setup(self, config: Common, runs: list[Run]) -> list[list[str]]:
        return words.setup(config, runs)


def epochs_in_proportion(settings: dict[str, Any], usual: float, ours: float | None) -> dict[str, Any]:
    """A scale's epochs stand for the recipe's usual ones; a point of a figure with fewer keeps its share."""
    return settings if ours is None else {**settings, "epochs": ours * settings["epochs"] / usual}


GRAPH = GraphModality()
