"""How the image encoders of a table or figure were trained and evaluated, in sentences, from its runs alone."""

from collections.abc import Iterable

from clrepro.modalities.image.evaluations import EVALUATIONS
from clrepro.modalities.run import Run
from clrepro.settings import Common


def each(values: Iterable) -> str:
    """The distinct values in order, by slashes."""
    found = dict.fromkeys(values)
    numbers = all(isinstance(value, int | float) for value in found)
    shown = sorted(found) if numbers else found
    return "/".join(f"{value:g}" if isinstance(value, int | float) else str(value) for value in shown)


def encoders(runs: Iterable[Run]) -> str:
    """Each backbone, what stands for it, and its images."""
    builds = {run.backbone.key: run.backbone for run in runs}
    return "; ".join(
        f"{key} = {' '.join(filter(None, [build.spec['architecture'], stem(build.spec['stem'])]))} on "
        f"{build.spec['classes'] or build.source.name} ({build.source.images['channels']} channel(s), "
        f"{build.spec['side'] or build.source.images['side']} pixels)"
        for key, build in builds.items()
    )


def stem(name: str | None) -> str:
    return f"({name} stem)" if name else ""


def training(runs: Iterable[Run]) -> str:
    recipes = [run.recipe for run in runs]
    return (
        f"from random weights for {each(part.epochs for part in recipes)} epoch(s), batch "
        f"{each(part.batch_size for part in recipes)}, {each(part.optimiser for part in recipes)} at "
        f"{each(part.learning_rate for part in recipes)}, augmentation {each(part.augmentation for part in recipes)}"
    )


def evaluations(runs: Iterable[Run], kinds: Iterable[str]) -> list[str]:
    """A sentence a kind of score, of those that are asked."""
    found: dict[str, None] = {}
    for run in runs:
        for kind in kinds:
            about = next((one for one in EVALUATIONS if one.covers(kind)), None)
            how = run.evaluation.get(kind.removesuffix("_selection"), {})
            if about and (how or not about.takes_settings(kind)) and (text := about.caption(how, kind)):
                found[text] = None
    return list(found)


def sentences(runs: tuple[Run, ...], kinds: Iterable[str]) -> list[str]:
    """What a caption says of image runs: encoders, data, training, evaluation."""
    return [
        f"Encoders and data: {encoders(runs)}.",
        f"Trained {training(runs)}; the last checkpoint counts. {' '.join(evaluations(runs, kinds))}".strip(),
    ]


def changes(config: Common) -> dict[str, object]:
    """What a scale changes in the papers' settings."""
    return config.image.training.model_dump(exclude_defaults=True)


def of_table(config: Common, runs: list[Run], kinds: Iterable[str], metric: str) -> list[str]:
    """Seeds, encoders, data, training, evaluation, and what the scale changes in training."""
    kinds, classes = list(kinds), {run.backbone.source.images["classes"] for run in runs}
    changed = ", ".join(f"{name} {value}" for name, value in changes(config).items())
    note = "Top-5 is of ten classes here, of which half are always among the five."
    return [
        f"{metric} Seeds: {', '.join(map(str, config.seeds))}.",
        *sentences(runs, kinds),
        note if "top5" in metric and classes == {10} else "",
        f"Instead of the papers' training settings: {changed}." if changed else "",
    ]


def of_figure(runs: list[Run], kinds: Iterable[str]) -> list[str]:
    seeds = ", ".join(map(str, sorted({run.seed for run in runs})))
    return [*sentences(runs, kinds), f"Seeds: {seeds}."]


def setup(config: Common, runs: list[Run]) -> list[list[str]]:
    changed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in changes(config).items())
    return [
        ["Images", encoders(runs)],
        ["Training on images", f"the papers' settings but for {changed}" if changed else "the papers' settings"],
    ]
