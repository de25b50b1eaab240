"""How the image encoders of a table or figure were trained and probed, in sentences, from its runs alone."""

from collections.abc import Iterable

from clrepro.catalogue import Run
from clrepro.config import Config

SCALES = {"demo": "images of few pixels and tiny encoders", "bench": "real images, small encoders and short training"}


def scale_sentence(config: Config) -> str:
    """What the scale means for numbers of images beside published ones, where they do not compare."""
    return f"{config.scale} scale: {SCALES[config.scale]}, so no number is comparable with a published one"


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


def probes(runs: Iterable[Run], kinds: Iterable[str]) -> list[str]:
    """A sentence a kind of score, of those that are asked."""
    found: dict[str, None] = {}
    for run in runs:
        for kind in kinds:
            how = run.evaluation.get(kind.removesuffix("_selection"))
            if kind == "linear" and how:
                found[
                    f"Linear probe of frozen features: {how['epochs']} epochs, batch {how['batch_size']}, rate "
                    f"{how['learning_rate']:g}."
                ] = None
            elif kind.startswith("knn") and how:
                found[f"Neighbours: k = {how['k']}, {how['weighting']} votes ({kind})."] = None
            elif kind.startswith("finetune") and how:
                encoder = "on the frozen encoder" if how["frozen"] else "and the encoder, trained together"
                found[
                    f"Fine-tuning: a head of {'-'.join(map(str, how['hidden']))} {encoder}, "
                    f"{how['epochs']} epochs, batch {how['batch_size']}, rate {how['learning_rate']:g}."
                ] = None
            elif kind == "detection" and how:
                found[
                    f"Detection: Faster R-CNN on C4 features, fine-tuned on {' and '.join(how['train'])} for "
                    f"{how['iterations']:,} iterations of {how['batch_size']} images, rate {how['learning_rate']:g}; "
                    f"tested on {how['test']}, average precision over 101 recalls."
                ] = None
            elif kind == "detection_voc07":
                found["With 11 points: over VOC2007's eleven recalls."] = None
            elif kind == "collapse":
                found["Variances and ranks are those of the test images' embeddings."] = None
    return list(found)


def sentences(runs: tuple[Run, ...], kinds: Iterable[str]) -> list[str]:
    """What a caption says of image runs: encoders, data, training, probes."""
    return [
        f"Encoders and data: {encoders(runs)}.",
        f"Trained {training(runs)}; the last checkpoint counts. {' '.join(probes(runs, kinds))}".strip(),
    ]
