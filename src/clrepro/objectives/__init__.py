"""Objectives: losses on two views of a batch.

Each lives in a file of its own name as pure functions of embeddings and lists them in its ``VARIANTS``:
``written`` is the paper's equation with its misprints corrected, ``released`` what the authors' code computes.
To add one, write the file and add its name to ``NAMES``.
"""

import ast
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from clrepro.errors import UserError, unknown

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


@dataclass(frozen=True)
class Objective:
    """A loss on two views, ready to call: ``objective(view1, view2) -> scalar``.

    view1, view2: (N, D) raw encoder outputs, row i of both being views of example i, N >= 2. The objective
    normalises as its equation does. float64 stays float64; half precision is computed in float32, also under
    autocast. State that an equation needs besides (labels, a queue's keys) is passed by keyword.
    """

    name: str
    variant: str
    params: dict[str, float]
    function: Callable

    def __call__(self, view1, view2, **state):
        import torch

        if view1.ndim != 2 or view1.shape != view2.shape or len(view1) < 2:
            raise ValueError(
                f"{self.name} needs two views of the same shape (N, D) with N >= 2, "
                f"got {tuple(view1.shape)} and {tuple(view2.shape)}"
            )
        with torch.autocast(view1.device.type, enabled=False):
            if view1.dtype in (torch.float16, torch.bfloat16):
                view1, view2 = view1.float(), view2.float()
            return self.function(view1, view2, **self.params, **state)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{key}={value:g}" for key, value in self.params.items())
        return f"{self.name}[{self.variant}]({arguments})"


def make(name: str, variant: str | None = None, **params: float) -> Objective:
    """Build an objective by name.

    Parameters left out take the function's defaults; ``variant=None`` is ``released`` where there is one.
    Raises UserError, with the near matches, for an unknown name, variant or parameter.
    """
    variant, params = resolve(name, variant, **params)
    module = importlib.import_module(f"clrepro.objectives.{name}")
    return Objective(name, variant, params, module.VARIANTS[variant])
