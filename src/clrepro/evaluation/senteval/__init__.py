"""SentEval as SimCSE's fork computes it; `evaluate` and DEFAULT_TASKS are `program`'s, loaded when they are used."""

from importlib import import_module
from typing import Any

__all__ = ["DEFAULT_TASKS", "evaluate"]


def __getattr__(name: str) -> Any:
    if name not in __all__:  # nothing heavy comes with the names of tasks, which the workflow's plan needs
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.program"), name)
