"""``clrepro train``: train and evaluate in this process, without Snakemake."""

from typing import TYPE_CHECKING, Annotated

import typer

from clrepro.cli.options import Files, Mirror, Scale, Settings, catalogue_of
from clrepro.errors import unknown

if TYPE_CHECKING:
    from clrepro.catalogue import Catalogue, Run


def train(
    scale: Scale = "demo",
    configfile: Files = None,
    objective: Annotated[str | None, typer.Option(help="only runs of this objective")] = None,
    backbone: Annotated[str | None, typer.Option(help="only runs on this backbone")] = None,
    seed: Annotated[int | None, typer.Option(help="only this seed")] = None,
    settings: Settings = None,
    mirror: Mirror = None,
    evaluate: Annotated[bool, typer.Option(help="also embed and evaluate")] = True,
) -> None:
    """Train (and evaluate) the chosen runs in this process, without Snakemake.

    The workflow takes these trainings over as they are, and evaluates them again.

    On several GPUs of one machine: torchrun --nproc-per-node 4 -m clrepro.cli train ...; each process takes its part of
    every batch, negatives and gradients are those of the whole batch.
    """
    from clrepro import stages
    from clrepro.catalogue.jobs import Jobs

    catalogue = catalogue_of(scale, configfile, mirror=mirror, settings=settings)
    runs = list(catalogue.runs)
    filters = {
        "objective": (objective, lambda run: run.group),
        "backbone": (backbone, lambda run: run.backbone.key),
        "seed": (seed, lambda run: run.seed),
    }
    for kind, (wanted, of) in filters.items():
        if wanted is not None:
            kept = [run for run in runs if of(run) == wanted]
            if not kept:
                raise unknown(
                    kind, str(wanted), {str(of(run)) for run in runs}, f"the chosen runs of the {scale} scale"
                )
            runs = kept
    catalogue.check_inputs(runs)
    asked = Jobs(catalogue).asked_of(runs) if evaluate else []
    builds = catalogue.builds(runs) if evaluate else {run.backbone.folder: run.backbone for run in runs}.values()
    stages.run_here(runs, asked, builds, catalogue.config)
    if evaluate and stages.is_first_process():
        for run in runs:
            seeded = "" if run.repetition is None else f" seed {run.repetition}"
            print(f"{run.backbone.key} {run.group}{seeded}: {outcome(catalogue, run)} ({run.folder})")


def outcome(catalogue: "Catalogue", run: "Run") -> str:
    """The averages of a run's scores, and the files of evaluations that have none."""
    from clrepro.ledger import Records
    from clrepro.ledger.scores import score_of_run
    from clrepro.modalities.evaluation import AVERAGE

    records, found = Records(), []
    for one in catalogue.evaluations(run):
        averages = [kind for kind, score in one.scores.items() if score.tasks and score.split == "test"]
        found += [f"{kind} {score_of_run(run, f'{kind}/{AVERAGE}', records):.2f}" for kind in averages]
        found += [] if averages else [one.file]
    return ", ".join(found) or "no evaluation is asked of it"
