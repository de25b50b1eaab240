"""Objectives: losses on two views of a batch.

Each lives in a file of its own name as pure functions of embeddings and lists them in its ``VARIANTS``:
``written`` is the paper's equation with its misprints corrected, ``released`` what the authors' code computes.
To add one, write the file and add its name to ``NAMES``.
"""

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clrepro.errors import UserError, unknown

if TYPE_CHECKING:
    from clrepro.objectives._objective import Objective

NAMES = (
    "infonce",
    "dcl",
    "dcl_plus",
    "align_uniform",
    "mpt",
    "met",
    "mat",
)


def names() -> tuple[str, ...]:
    """The objectives' names, in the order of the overview."""
    return NAMES


def source(name: str) -> Path:
    """The file that holds an objective."""
    if name not in NAMES:
        raise unknown("objective", name, NAMES)
    return Path(__file__).with_name(f"{name}.py")


@cache
def signatures(name: str) -> dict[str, dict[str, Any]]:
    """Parameters and defaults of every variant, {variant: {parameter: default}}.

    They are read from the file's syntax tree, not by importing it: a workflow's graph is built without torch.
    """
    tree = ast.parse(source(name).read_text("utf-8"))
    functions = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "VARIANTS":
            return {
                key.value: {
                    argument.arg: ast.literal_eval(default)
                    for argument, default in zip(
                        functions[value.id].kwonlyargs, functions[value.id].kw_defaults, strict=True
                    )
                    if default is not None
                }
                for key, value in zip(node.value.keys, node.value.values, strict=True)
            }
    raise UserError(f"{source(name)} has no VARIANTS: list its functions as {{'released': function}}")


def resolve(name: str, variant: str | None = None, **params: Any) -> tuple[str, dict[str, Any]]:
    """The variant that ``None`` stands for, and all parameters with their defaults filled in."""
    variants = signatures(name)
    variant = variant or ("released" if "released" in variants else next(iter(variants)))
    if variant not in variants:
        raise unknown(f"variant of {name}", variant, variants)
    defaults = variants[variant]
    for key, value in params.items():
        if key not in defaults:
            raise unknown(f"parameter of {name}", key, defaults)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"{name}: {key} must be a number, not {value!r}")
    return variant, {key: float(params.get(key, default)) for key, default in defaults.items()}


def make(name: str, variant: str | None = None, **params: float) -> "Objective":
    """Build an objective by name.

    Parameters left out take the function's defaults; ``variant=None`` is ``released`` where there is one.
    Raises UserError, with the near matches, for an unknown name, variant or parameter.
    """
    from clrepro.objectives._objective import Objective

    variant, params = resolve(name, variant, **params)
    module = importlib.import_module(f"clrepro.objectives.{name}")
    return Objective(name, variant, params, module.VARIANTS[variant])
