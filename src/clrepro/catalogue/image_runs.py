"""Runs of image encoders: the papers' settings, and what a scale changes in them."""

from typing import Any

from clrepro.catalogue import detection, papers
from clrepro.catalogue.runs import ImageRecipe, Run, image_build, resolved, split_settings
from clrepro.config import Config, ImageTrainingOverrides
from clrepro.errors import UserError, unknown
from clrepro.modalities.image.augmentations import AUGMENTATIONS

MEMORIES = ("queue", "support")  # of MoCo and of NNCLR


def define(
    config: Config, definition: dict, owner: str, backbone: str, place: str, changes: dict | None = None
) -> tuple[Run, ...]:
    """A run of experiments.yaml on a backbone, with every seed; changes: what a table or figure sets of its own."""
    objective = definition["objective"]
    printed = papers.settings(definition, owner, backbone)
    merged = scaled({**printed, **(changes or {})}, printed["epochs"], config.image.training)
    evaluation = {kind: dict(part) for kind, part in merged.pop("evaluation", {}).items()}
    for part in evaluation.values():
        if config.image.training.probe_epochs is not None and "epochs" in part:
            part["epochs"] = config.image.training.probe_epochs
        if "hidden" in part:
            part["hidden"] = [max(1, width // config.image.training.hidden_divisor) for width in part["hidden"]]
    as_detector = evaluation.pop("detection", None)
    if as_detector and config.image.detection:
        evaluation["detection"] = detection.settings(config, as_detector, place)
    how, params = split_settings(merged, objective, place, ImageRecipe)
    if how.augmentation not in AUGMENTATIONS:
        raise unknown("augmentation", how.augmentation, AUGMENTATIONS, place)
    variant, params = resolved(objective, definition, params, place)
    build = image_build(config, backbone)
    images = build.source.images["train"] if build.spec["classes"] is None else None
    if images is not None and how.batch_size > images:
        raise UserError(
            f"{place}: batch_size {how.batch_size} is larger than the {images:,} training images of "
            f"{build.source.name}; raise `image.training.batch_divisor`"
        )
    return tuple(
        Run(config.scale, "image", build, objective, variant, params, how, build.data, seed, evaluation)
        for seed in config.seeds
    )


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
