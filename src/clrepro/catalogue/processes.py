"""Whether the runs of a configuration can be trained by as many processes as it says."""

from collections.abc import Iterable

from clrepro.catalogue.runs import Run
from clrepro.config import Config
from clrepro.errors import UserError


def check(config: Config, runs: Iterable[Run]) -> None:
    """Raise UserError where several processes cannot share a training."""
    count = config.jobs.processes
    if count == 1:
        return
    trained = [run for run in runs if run.objective]
    images = [run for run in trained if run.modality == "image"]
    if images:  # batch norm, queues and momentum weights would differ between the processes
        raise UserError(
            f"jobs.processes: {count}, but an image encoder is trained by a single process, and {len(images)} of "
            f"{len(trained)} trainings are of images, as {images[0].folder}; set `jobs.processes: 1`, or leave them "
            "out by `papers` and `tables` and run them on their own"
        )
    for run in trained:
        if run.recipe.batch_size % count:
            raise UserError(
                f"jobs.processes: {count} processes cannot share batch_size {run.recipe.batch_size} of {run.folder} "
                "equally; choose a divisor of it"
            )
