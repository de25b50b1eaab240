"""``clrepro train``: train and evaluate in this process, without Snakemake."""

from typing import Annotated

import typer

from clrepro.cli.options import Files, Mirror, Scale
from clrepro.errors import unknown
from clrepro.paths import read_json


def train(
    scale: Scale = "demo",
    configfile: Files = None,
    objective: Annotated[str | None, typer.Option(help="only runs of this objective")] = None,
    backbone: Annotated[str | None, typer.Option(help="only runs on this backbone")] = None,
    seed: Annotated[int | None, typer.Option(help="only this seed")] = None,
    mirror: Mirror = None,
    evaluate: Annotated[bool, typer.Option(help="also embed and evaluate")] = True,
) -> None:
    """Train (and evaluate) the chosen runs in this process, without Snakemake.

    On several GPUs of one machine: torchrun --nproc-per-node 4 -m clrepro.cli train ...; each process takes its part of
    every batch, negatives and gradients are those of the whole batch.
    """
    from clrepro import config as configuration
    from clrepro import stages
    from clrepro.catalogue import Catalogue
    from clrepro.ledger.scores import score

    config = configuration.load(scale, configfile)
    catalogue = Catalogue(config.model_copy(update={"mirror": mirror} if mirror else {}))
    catalogue.check_inputs()
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
    detected = [run for run in runs if catalogue.tests(run, "detection")] if evaluate else []
    builds = [*{run.backbone.folder: run.backbone for run in runs}.values()]
    if detected:
        builds.append(catalogue.detection)
    if stages.is_first_process():
        for source in catalogue.sources():
            if not source.record.exists():
                stages.fetch(catalogue, source)
        for build in builds:
            if not all(file.exists() for file in build.records):
                stages.prepare(catalogue, build)
    else:
        stages.wait_for([catalogue.tasks.record, *(file for build in builds for file in build.records)])
    stages.train(catalogue, runs)
    if evaluate and stages.is_first_process():
        of_images = [run for run in runs if run.modality == "image"]
        runs = [run for run in runs if run.modality == "sentence"]
        if of_images:
            stages.embed(catalogue, of_images)
            stages.probe_images(catalogue, of_images)
        if detected:
            stages.detect(catalogue, detected)
        for run in of_images:
            (run.folder / "features.npz").unlink()
            files = ", ".join(catalogue.results(run)) or "no probe is asked of it"
            print(f"{run.backbone.key} {run.group} seed {run.seed}: {files} ({run.folder})")
        if not runs:
            return
        stages.embed(catalogue, runs)
        stages.sts(catalogue, runs)
        stages.transfer(catalogue, runs)
        for run in runs:
            (run.folder / "embeddings.npz").unlink()
            found = {kind: read_json(run.folder / f"{kind}.json")["rows"] for kind in ("sts", "transfer")}
            sts, accuracy = (score(f"{kind}/Avg", found) for kind in found)
            seed_text = f" seed {run.seed}" if run.objective else ""
            print(f"{run.backbone.key} {run.group}{seed_text}: STS {sts:.2f}, transfer {accuracy:.2f} ({run.folder})")
