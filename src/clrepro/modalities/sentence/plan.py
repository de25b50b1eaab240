"""How runs of sentence encoders are planned."""

from collections.abc import Iterable
from typing import ClassVar

from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.interface import Modality, resolved
from clrepro.modalities.run import Cost, Run, Wanted
from clrepro.modalities.sentence import cost, words
from clrepro.modalities.sentence.build import SentenceBuild, corpus_identity, sentence_build
from clrepro.modalities.sentence.evaluations import STS, TRANSFER
from clrepro.modalities.sentence.recipe import SentenceRecipe
from clrepro.modalities.sentence.section import Sentence
from clrepro.objectives import NAMES
from clrepro.settings import Common
from clrepro.sources.source import Source, source


class SentenceModality(Modality):
    key = "sentence"
    section = Sentence
    recipe = SentenceRecipe
    builds = (SentenceBuild,)
    evaluations = (STS, TRANSFER)
    work = "clrepro.modalities.sentence.work"
    rehearsal = "clrepro.modalities.sentence.rehearsal:rehearsal"
    code: ClassVar = {
        "train": ("clrepro.modalities.sentence.training", "clrepro.objectives._objective"),
        "embed": ("clrepro.modalities.sentence.embedding",),
    }
    material: ClassVar = {"demo": "generated sentences", "bench": "real sentences"}
    scale_material: ClassVar = {"demo": "generated data and tiny encoders", "bench": "real data and small encoders"}
    curves = (
        "stsb_dev",
        "sickr_dev",
        "loss",
        "dev_alignment",
        "dev_uniformity",
        "train_distance_gap",
        "gradient_norm_mean",
    )
    processes = True

    def check(self, config: Common) -> None:
        source(config.sentence.corpus, "sentence.corpus")
        source(config.sentence.tasks, "sentence.tasks")
        sweep = config.sentence.learning_rate_sweep
        if sweep and sweep.seed in config.seeds:
            raise UserError(f"sentence.learning_rate_sweep.seed: {sweep.seed} is one of `seeds`, which are reported")
        for name in config.sentence.training.learning_rates:
            if name not in NAMES:
                raise unknown("objective", name, NAMES, "sentence.training.learning_rates")

    def learning_rate_sweep(self, config: Common) -> tuple[list[float], int] | None:
        sweep = config.sentence.learning_rate_sweep
        return (sweep.rates, sweep.seed) if sweep else None

    def define(self, config: Common, wanted: Wanted) -> tuple[Run, ...]:
        section = config.sentence
        overrides = section.training.of(wanted.objective)
        if not wanted.objective:  # what a scale changes in training does not touch an untrained encoder, but for
            kept = ("max_length", "pooling") if wanted.as_trained else ("max_length",)
            overrides = {key: value for key, value in overrides.items() if key in kept}
        recipe, params = self.split({**wanted.settings, **overrides, **wanted.changes}, wanted.objective, wanted.place)
        variant, params = resolved(wanted, params)
        build = sentence_build(section, config.scale, wanted.backbone, recipe.max_length)
        if wanted.objective:
            self._check_batch(section, recipe, wanted.place)
        data = {"corpus": corpus_identity(section), "tasks": source(section.tasks).identity}
        return tuple(
            Run(config.scale, self, build, wanted.objective, variant, params, recipe, data, seed)
            for seed in (config.seeds if wanted.objective else [0])
        )

    @staticmethod
    def _check_batch(section: Sentence, recipe: SentenceRecipe, place: str) -> None:
        lines = section.corpus_lines or source(section.corpus).sentences
        if lines is not None and recipe.batch_size > (1 - recipe.held_out) * lines:
            share = recipe.held_out
            part = "the corpus" if not share else f"what is not held out ({share:g}) of the corpus"
            raise UserError(
                f"{place}: batch_size {recipe.batch_size} is larger than {part} of {lines:,} sentences; lower "
                "`sentence.training.batch_size` or raise `sentence.corpus_lines`"
            )

    def inputs(self, config: Common) -> tuple[Source, ...]:
        return (source(config.sentence.tasks),)

    def cost(self, config: Common, run: Run) -> Cost:
        return cost.of_run(config, run)

    def cost_of(self, config: Common, run: Run, evaluation: Evaluation) -> Cost:
        return cost.of_transfer(config) if evaluation is TRANSFER else Cost()

    def steps(self, config: Common, run: Run) -> int:
        return cost.steps(config, run)

    def memory_gb(self, run: Run) -> float:
        return cost.memory_gb(run)

    def is_papers_own(self, config: Common, original: Common) -> bool:
        theirs, ours = original.sentence, config.sentence
        training = ours.training.model_copy(update={"checkpoint_every": None})  # changes no number
        left = {"backbones": theirs.backbones, "training": training, "learning_rate_sweep": None}
        same = ours.model_copy(update=left) == theirs
        return same and self.has_papers_backbones(ours, theirs)

    def protocol(self, config: Common, runs: list[Run], kinds: Iterable[str], metric: str) -> list[str]:
        return words.of_table(config, metric)

    def protocol_of_figure(self, config: Common, runs: list[Run], kinds: Iterable[str]) -> list[str]:
        return words.of_figure(config, runs)

    def setup(self, config: Common, runs: list[Run]) -> list[list[str]]:
        return words.setup(config)


SENTENCE = SentenceModality()
