"""How the graph encoders of a table or figure were trained and evaluated, in sentences, from its runs alone."""

from collections.abc import Iterable

from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Run
from clrepro.settings import Common
from clrepro.sources.source import Source


def unreachable(source: Source, mirror: str | None) -> str:
    """Why a source cannot be had; empty if it can. One that a mirror lacks is a hole, not an error."""
    if source.is_reachable(mirror) and (
        mirror is None or source.kind == "generated" or source.record.exists() or source.in_mirror(mirror)
    ):
        return ""
    return f"{source.name} is not in the mirror: put it into <mirror>/{source.mirror}"


def each(values: Iterable) -> str:
    """The distinct values in order, by slashes."""
    return "/".join(f"{value:g}" if isinstance(value, int | float) else str(value) for value in dict.fromkeys(values))


def encoders(runs: Iterable[Run]) -> str:
    """Each kind of encoder and what it is trained on."""
    found: dict[tuple, dict[str, None]] = {}
    for run in runs:
        spec = run.backbone.spec
        shape = ("a GIN with bonds" if spec["architecture"] == "gin_bonds" else "a GIN", spec["layers"], spec["width"])
        found.setdefault(shape, {})[spec["data"]] = None
    return "; ".join(
        f"{name} of {layers} layers of {width} on {', '.join(data)}" for (name, layers, width), data in found.items()
    )


def training(runs: Iterable[Run]) -> str:
    recipes = [run.recipe for run in runs if run.objective]
    if not recipes:
        return "Nothing is trained."
    augmentation = each(f"{part.augmentation} ({part.behaviour})" for part in recipes)
    same = {part.identical_views for part in recipes}
    views = "" if same == {False} else ", identical views" if same == {True} else ", identical or independent views"
    return (
        f"Trained from random weights for {each(part.epochs for part in recipes)} epoch(s), batch "
        f"{each(part.batch_size for part in recipes)}, {each(part.optimiser for part in recipes)} at "
        f"{each(part.learning_rate for part in recipes)}, augmentations {augmentation}{views}; the last checkpoint "
        "counts."
    )


def evaluated(runs: Iterable[Run], kinds: Iterable[str], evaluations: Iterable[Evaluation]) -> list[str]:
    """A sentence a kind of score, of those that are asked."""
    known = list(evaluations)
    found: dict[str, None] = {}
    for run in runs:
        for kind in kinds:
            about = next((one for one in known if one.covers(kind)), None)
            if about and kind in run.evaluation:
                found[about.caption(run.evaluation[kind], kind)] = None
    return list(filter(None, found))


def changes(config: Common, runs: list[Run]) -> dict[str, object]:
    """What a scale changes in the papers' settings of these runs."""
    found: dict[str, object] = {}
    if any(run.backbone.spec["architecture"] == "gin" for run in runs):
        found |= config.graph.training.model_dump(exclude_none=True)
    if config.graph.molecules and any(run.backbone.spec["architecture"] == "gin_bonds" for run in runs):
        ours = config.graph.molecules
        found |= {
            f"pre-training {name}": value for name, value in ours.pretraining.model_dump(exclude_none=True).items()
        }
        found |= {"fine-tuning epochs": ours.epochs} if ours.epochs else {}
    return found


def in_words(changed: dict[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in changed.items())


def sentences(runs: list[Run], kinds: Iterable[str], evaluations: Iterable[Evaluation]) -> list[str]:
    how = " ".join([training(runs), *evaluated(runs, kinds, evaluations)])
    return [f"Encoder: {encoders(runs)}.", how]


def repetitions(config: Common, runs: list[Run]) -> str:
    """How often an encoder of molecules is fine-tuned: these count as repetitions, not seeds of pre-training."""
    if not config.graph.molecules or not any(run.backbone.spec["architecture"] == "gin_bonds" for run in runs):
        return ""
    return f"Each encoder is fine-tuned with seeds {', '.join(map(str, config.graph.molecules.seeds))}."


def of_table(
    config: Common, runs: list[Run], kinds: Iterable[str], metric: str, evaluations: Iterable[Evaluation]
) -> list[str]:
    """Seeds, encoders, data, training, evaluation, and what the scale changes in training."""
    changed = changes(config, runs)
    seeds = ", ".join(map(str, sorted({run.seed for run in runs})))
    return [
        f"{metric} Seeds: {seeds}.",
        *sentences(runs, list(kinds), evaluations),
        repetitions(config, runs),
        f"Instead of the papers' settings: {in_words(changed)}." if changed else "",
    ]


def of_figure(runs: list[Run], kinds: Iterable[str], evaluations: Iterable[Evaluation]) -> list[str]:
    seeds = ", ".join(map(str, sorted({run.seed for run in runs})))
    return [*sentences(runs, list(kinds), evaluations), f"Seeds: {seeds}."]


def setup(config: Common, runs: list[Run]) -> list[list[str]]:
    changed = changes(config, runs)
    return [
        ["Graphs", encoders(runs)],
        [
            "Training on graphs",
            f"the papers' settings but for {in_words(changed)}" if changed else "the papers' settings",
        ],
    ]
