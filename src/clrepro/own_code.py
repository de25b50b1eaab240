"""Code of one's own, from ``file.py:name`` or ``package.module:name``: a loss to x-ray, an encoder to evaluate."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from clrepro.errors import UserError, unknown


def load(place: str) -> ModuleType:
    """The module in a file that ends in .py, or by its name, in the working directory before anywhere else."""
    if not place.endswith(".py"):
        if os.getcwd() not in sys.path:  # a command has its own folder there instead
            sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(place)
        except ImportError as failure:
            raise UserError(f"cannot import '{place}': {failure}. Write path/to/file.py:Name for a file") from failure
        except Exception as failure:
            raise UserError(f"'{place}' cannot be imported: {type(failure).__name__}: {failure}") from failure
    file = Path(place)
    if not file.is_file():
        raise UserError(f"file '{file}' does not exist")
    definition = importlib.util.spec_from_file_location(f"own_{file.stem}", file)
    module = importlib.util.module_from_spec(definition)
    sys.modules[definition.name] = module  # dataclasses and pickles look it up there
    sys.path.insert(0, str(file.parent.resolve()))  # its neighbours import as they do when it is run
    try:
        definition.loader.exec_module(module)
    except Exception as failure:
        raise UserError(f"{file} cannot be imported: {type(failure).__name__}: {failure}") from failure
    finally:
        sys.path.pop(0)
    return module


def pick(module: Any, name: str, place: str) -> Callable:
    """What has this name in the module; without a name the only function or class that the module defines."""
    own = {
        key: value
        for key, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__ and not key.startswith("_")
    }
    if name:
        if not hasattr(module, name):
            raise unknown("name", name, own, place)
        return getattr(module, name)
    if len(own) != 1:
        raise UserError(f"{place} defines {', '.join(own) or 'nothing to call'}: say which, as {place}:name")
    return next(iter(own.values()))
