"""Whether the runs of a configuration can be trained by as many processes as it says."""

from collections.abc import Iterable

from clrepro.errors import UserError
from clrepro.modalities.run import Run
from clrepro.settings import Common


def check(config: Common, runs: Iterable[Run]) -> None:
    """Raise UserError where several processes cannot share a training."""
    count = config.jobs.processes
    if count == 1:
        return
    trained = [run for run in runs if run.objective]
    alone = [run for run in trained if not run.plan.processes]
    if alone:  # of images, batch norm, queues and momentum weights would differ between the processes
        raise UserError(
            f"jobs.processes: {count}, but encoders of `{alone[0].modality}` are trained by a single process, and "
            f"{len(alone)} of {len(trained)} trainings are of that kind, as {alone[0].folder}; set "
            "`jobs.processes: 1`, or leave them out by `papers` and `tables` and run them on their own"
        )
    for run in trained:
        if run.recipe.batch_size % count:
            raise UserError(
                f"jobs.processes: {count} processes cannot share batch_size {run.recipe.batch_size} of {run.folder} "
                "equally; choose a divisor of it"
            )
