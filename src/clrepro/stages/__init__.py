"""The stages of the workflow as functions: rules and the command line call the same ones.

Each takes the catalogue and the runs that share its job, reads what earlier stages recorded and writes records
last, so that a record vouches for what it names.
"""

import os

from clrepro.stages.detecting import detect
from clrepro.stages.embedding import embed
from clrepro.stages.exporting import adopt, export
from clrepro.stages.preparing import fetch, prepare
from clrepro.stages.probing import probe_images, sts, transfer
from clrepro.stages.training import is_first_process, train, wait_for

__all__ = [
    "adopt",
    "detect",
    "embed",
    "export",
    "fetch",
    "is_first_process",
    "prepare",
    "probe_images",
    "sts",
    "train",
    "transfer",
    "wait_for",
]

# the loops have progress bars of their own; transformers' loading reports would bury them
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
