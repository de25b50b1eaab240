"""How sentence encoders were trained and evaluated, in sentences, for captions and reports."""

from pathlib import Path

from clrepro.evaluation.senteval.protocols import PROTOCOLS
from clrepro.modalities.run import Run
from clrepro.modalities.sentence.section import Backbone, ScratchBackbone
from clrepro.settings import Common


def described(backbone: Backbone) -> str:
    if backbone.kind == "scratch":
        lines = backbone.mlm_lines
        of = f" of {lines:,} sentences" if isinstance(lines, int) else f" of {lines} sentences" if lines else ""
        return f"own {backbone.mlm_epochs}-epoch MLM{of}, {backbone.layers} layers × {backbone.hidden_size}"
    return backbone.source or Path(backbone.path).name


def overrides(config: Common) -> list[tuple[str, object]]:
    """What a scale changes in training, by name."""
    training = config.sentence.training
    found = training.of(None)
    if training.learning_rates:
        found["learning_rate"] = "by objective, selected on STS-B dev with another seed"
    return list(found.items())


def of_table(config: Common, metric: str) -> list[str]:
    """Evaluation, data and encoders, and what the scale changes in training."""
    section = config.sentence
    encoders = ", ".join(f"{key} = {described(spec)}" for key, spec in section.backbones.items() if spec)
    changed = ", ".join(f"{name} {value}" for name, value in overrides(config))
    return [
        f"{metric} SentEval as in SimCSE's fork: STS by the Spearman correlation of cosines, STS12-16 in the `all` "
        f"setting; transfer by its linear classifier, protocol `{section.protocol}` "
        f"({PROTOCOLS[section.protocol].described}). Selected on STS-B dev. "
        f"Seeds: {', '.join(map(str, config.seeds))}.",
        f"Data: {section.corpus}"
        + (f" ({section.corpus_lines:,} sentences)" if section.corpus_lines else "")
        + f", {section.tasks}. Encoders: {encoders}.",
        f"Instead of the papers' training settings: {changed}." if changed else "",
    ]


def of_figure(config: Common, runs: list[Run]) -> list[str]:
    """How the runs of a figure were trained; values that differ between them by a slash."""
    backbones = {run.backbone.key: config.sentence.backbones[run.backbone.key] for run in runs}

    def each(name: str) -> str:
        return "/".join(f"{value:g}" for value in sorted({getattr(run.recipe, name) for run in runs}))

    encoders = ", ".join(
        f"{key} = {spec.layers} layer(s) × {spec.hidden_size}" if isinstance(spec, ScratchBackbone) else key
        for key, spec in backbones.items()
    )
    seeds = sorted({run.seed for run in runs})
    shown = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    return [
        f"{encoders}; batch {each('batch_size')}, learning rate {each('learning_rate')}, {each('epochs')} "
        f"epoch(s) of {config.sentence.corpus}; {shown}."
    ]


def setup(config: Common) -> list[list[str]]:
    section = config.sentence
    lines = f"{section.corpus_lines:,} sentences of " if section.corpus_lines else ""
    encoders = (f"{key}: {described(spec)}" for key, spec in section.backbones.items() if spec)
    changed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in overrides(config))
    return [
        ["Sentences", lines + section.corpus],
        ["Evaluation sets", section.tasks],
        ["Transfer protocol", f"{section.protocol}: {PROTOCOLS[section.protocol].described}"],
        ["Encoders", "; ".join(encoders)],
        ["Training", f"the papers' settings but for {changed}" if changed else "the papers' settings"],
    ]
