"""What the thin scripts need to run a stage inside a workflow job: configuration, log, readable failure."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from clrepro.catalogue import Catalogue
from clrepro.config import parse
from clrepro.errors import Interrupted, UserError


class Tee:
    """Text that goes to the log and, for errors, to the console."""

    def __init__(self, *streams):
        self.streams = streams

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
            stream.flush()
        return len(text)

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()

    def isatty(self) -> bool:
        return False


@contextmanager
def job(snakemake) -> Iterator[Catalogue]:
    """The catalogue of a job; what the stage says goes to the job's log, an error also to the console."""
    if not snakemake.rule.startswith("fetch_"):
        os.environ["HF_HUB_OFFLINE"] = "1"  # nothing but a fetch may ask the network
    console = sys.stderr
    with open(snakemake.log[0], "w", encoding="utf-8") as log:
        sys.stderr = log
        try:
            yield Catalogue(parse(snakemake.config))
        except UserError as failure:
            Tee(log, console).write(f"error in {snakemake.rule}: {failure}\n")
            sys.exit(1)
        except Interrupted as failure:
            Tee(log, console).write(f"{snakemake.rule}: {failure}\n")
            sys.exit(Interrupted.EXIT_CODE)
        except Exception:
            sys.stderr = Tee(log, console)
            raise
        finally:
            if sys.stderr is log:
                sys.stderr = console
