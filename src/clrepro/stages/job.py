"""What the thin scripts need to run a stage inside a workflow job: configuration, log, readable failure."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clrepro.config import parse
from clrepro.errors import Interrupted, UserError
from clrepro.paths import room_for
from clrepro.settings import Common
from clrepro.workflow.placement import placed


@contextmanager
def job(snakemake, online: bool = False) -> Iterator[Common]:
    """A job's configuration, on the GPUs that it asked for; what the stage says goes to its log, errors also here."""
    if not online:
        os.environ["HF_HUB_OFFLINE"] = "1"  # nothing but a fetch may ask the network
    console = sys.stderr
    with open(snakemake.log[0], "w", encoding="utf-8") as log:
        sys.stderr = log
        try:
            config = parse(snakemake.config)
            uses_gpus = config.device in ("auto", "cuda")
            gpus = snakemake.resources.get("gpu", 0) if uses_gpus else 0
            with placed(gpus, config.jobs.per_gpu), room_for(Path(snakemake.output[0])):
                yield config  # room_for: where no writer said more
        except (UserError, Interrupted) as failure:
            text = f"{'error in ' if isinstance(failure, UserError) else ''}{snakemake.rule}: {failure}"
            for stream in (log, console):
                print(text, file=stream, flush=True)
            sys.exit(Interrupted.EXIT_CODE if isinstance(failure, Interrupted) else 1)
        except Exception:
            traceback.print_exc(file=log)  # the console gets it from Python itself
            raise
        finally:
            sys.stderr = console
