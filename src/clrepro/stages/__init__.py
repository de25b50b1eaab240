"""The stages of the workflow as functions: rules and the command line call the same ones.

Each takes the runs that share its job and the configuration, reads what earlier stages recorded and writes records
last, so that a record vouches for what it names. What is done for a modality stands in the modality's folder.
"""

import os

from clrepro.stages.evaluating import asked_from, evaluate, evaluate_checkpoints, evaluated_files
from clrepro.stages.here import run_here
from clrepro.stages.preparing import embed, fetch, prepare
from clrepro.stages.training import adopt, is_first_process, train, wait_for

__all__ = [
    "adopt",
    "asked_from",
    "embed",
    "evaluate",
    "evaluate_checkpoints",
    "evaluated_files",
    "fetch",
    "is_first_process",
    "prepare",
    "run_here",
    "train",
    "wait_for",
]

# the loops have progress bars of their own; transformers' loading reports would bury them
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
