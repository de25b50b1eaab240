"""How runs of image encoders are planned: the papers' settings, and what a scale changes in them."""

from collections.abc import Iterable
from typing import Any, ClassVar

from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.image import cost, words
from clrepro.modalities.image.augmentations import AUGMENTATIONS
from clrepro.modalities.image.build import ImageBuild, image_build
from clrepro.modalities.image.detection import plan as detection
from clrepro.modalities.image.evaluations import EVALUATIONS
from clrepro.modalities.image.recipe import ImageRecipe
from clrepro.modalities.image.section import Image, ImageTrainingOverrides
from clrepro.modalities.interface import Modality, is_left_out_or_same, resolved
from clrepro.modalities.run import Cost, Run, Wanted
from clrepro.settings import Common

MEMORIES = ("queue", "support")  # of MoCo and of NNCLR


class ImageModality(Modality):
    key = "image"
    section = Image
    recipe = ImageRecipe
    builds = (ImageBuild, detection.BoxesBuild)
    evaluations = EVALUATIONS
    work = "clrepro.modalities.image.work"
    rehearsal = "clrepro.modalities.image.rehearsal:rehearsal"
    code: ClassVar = {
        "train": ("clrepro.modalities.image.training", "clrepro.objectives._objective"),
        "embed": ("clrepro.modalities.image.embedding",),
    }
    material: ClassVar = {"demo": "images of few pixels", "bench": "real images"}
    scale_material: ClassVar = {
        "demo": "images of few pixels and tiny encoders",
        "bench": "real images, small encoders and short training",
    }
    curves = ("loss", "train_alignment", "train_uniformity", "train_distance_gap", "gradient_norm_mean")

    rows_share_recipe = True  # tables of images differ in data and framework, not only in the objective

    def check(self, config: Common) -> None:
        detection.boxes_build(config)

    def lacks(self, config: Common, wanted: Wanted) -> str:
        if why := super().lacks(config, wanted):
            return why
        images = image_build(config.image, config.scale, wanted.backbone).source
        if not images.is_reachable(config.mirror):
            return f"image set {images.name} has no url: put it into <mirror>/{images.mirror}"
        sizes = config.image.training.batch_sizes
        size = {**(wanted.settings or {}), **wanted.changes}.get("batch_size")
        if wanted.settings is not None and sizes is not None and size not in sizes:
            return f"`image.training.batch_sizes` leaves {size} out"
        return ""

    def sweep(self, config: Common, name: str, values: list) -> list:
        kept = config.image.training.learning_rates if name == "learning_rate" else None
        return [value for value in values if kept is None or value in kept]

    def sweep_setting(self) -> str:
        return "`image.training.learning_rates`"

    def define(self, config: Common, wanted: Wanted) -> tuple[Run, ...]:
        scale, printed = config.image.training, wanted.settings
        merged = scaled({**printed, **wanted.changes}, printed["epochs"], scale)
        evaluation = self._evaluation(config, merged.pop("evaluation", {}), wanted.place)
        recipe, params = self.split(merged, wanted.objective, wanted.place)
        if recipe.augmentation not in AUGMENTATIONS:
            raise unknown("augmentation", recipe.augmentation, AUGMENTATIONS, wanted.place)
        variant, params = resolved(wanted, params)
        build = image_build(config.image, config.scale, wanted.backbone)
        images = build.source.images["train"] if build.spec["classes"] is None else None
        if images is not None and recipe.batch_size > images:
            raise UserError(
                f"{wanted.place}: batch_size {recipe.batch_size} is larger than the {images:,} training images of "
                f"{build.source.name}; raise `image.training.batch_divisor`"
            )
        made = (config.scale, self, build, wanted.objective, variant, params, recipe, build.data)
        return tuple(Run(*made, seed, evaluation) for seed in config.seeds)

    def _evaluation(self, config: Common, given: dict[str, dict], place: str) -> dict[str, dict]:
        """The checked settings of a run's evaluations, as a scale has them."""
        found = {}
        for kind, part in given.items():
            about = next((one for one in self.evaluations if one.covers(kind)), None)
            if about is None:
                known = {name for one in self.evaluations for name in one.scores}
                raise unknown("evaluation", kind, known, place)
            about.check(kind, part, place)
            found[kind] = scaled_evaluation(part, config.image.training)
        as_detector = found.pop("detection", None)
        if as_detector and config.image.detection:
            found["detection"] = detection.settings(config, as_detector, place)
        return found

    def cost(self, config: Common, run: Run) -> Cost:
        return cost.of_run(config, run)

    def steps(self, config: Common, run: Run) -> int:
        return cost.steps(run)

    def memory_gb(self, run: Run) -> float:
        return cost.memory_gb(run)

    def cost_of(self, config: Common, run: Run, evaluation: Evaluation) -> Cost:
        if evaluation is detection.DETECTION:
            return cost.of_detection(config, run)
        return cost.of_probe(config, run, evaluation.settings_of(run.evaluation))

    def is_papers_own(self, config: Common, original: Common) -> bool:
        theirs, ours = original.image, config.image
        same = ours.training == theirs.training and is_left_out_or_same(ours.detection, theirs.detection)
        return same and self.has_papers_backbones(ours, theirs)

    def protocol(self, config: Common, runs: list[Run], kinds: Iterable[str], metric: str) -> list[str]:
        return words.of_table(config, runs, kinds, metric)

    def protocol_of_figure(self, config: Common, runs: list[Run], kinds: Iterable[str]) -> list[str]:
        return words.of_figure(runs, kinds)

    def setup(self, config: Common, runs: list[Run]) -> list[list[str]]:
        return words.setup(config, runs)


def scaled(settings: dict[str, Any], usual_epochs: float, scale: ImageTrainingOverrides) -> dict[str, Any]:
    """The settings as a scale trains them.

    usual_epochs: those of the recipe, which `epochs` of the scale stand for; a table that trains twice as long does so
    here as well, and warm-up keeps its share.
    """
    found = {**settings, "batch_size": max(2, settings["batch_size"] // scale.batch_divisor)}
    for name in MEMORIES:
        if found.get(name) is not None:
            found[name] = max(1, found[name] // scale.memory_divisor)
    for name in ("augmentation", "precision"):
        if getattr(scale, name) is not None:
            found[name] = getattr(scale, name)
    if scale.epochs is not None:
        for name in ("epochs", "warmup_epochs"):
            found[name] = scale.epochs * (found.get(name, 0) / usual_epochs)
    return found


def scaled_evaluation(settings: dict[str, Any], scale: ImageTrainingOverrides) -> dict[str, Any]:
    """The settings of one evaluation as a scale has them."""
    found = dict(settings)
    if scale.probe_epochs is not None and "epochs" in found:
        found["epochs"] = scale.probe_epochs
    if "hidden" in found:
        found["hidden"] = [max(1, width // scale.hidden_divisor) for width in found["hidden"]]
    return found


IMAGE = ImageModality()
