"""Objectives: losses on two views of a batch.

Each lives in a file of its own name as pure functions of embeddings and lists them in its ``VARIANTS``:
``written`` is the paper's equation with its misprints corrected, ``released`` what the authors' code computes.
To add one, write the file and add its name to ``NAMES``.
"""

import ast
import importlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clrepro.errors import UserError, unknown

if TYPE_CHECKING:
    from clrepro.objectives._objective import Objective

NAMES = (
    "infonce",
    "nt_xent",
    "arccon",
    "infonce_mixup",
    "dcl",
    "dcl_plus",
    "flatnce",
    "dual_temperature",
    "macl",
    "align_uniform",
    "mpt",
    "met",
    "mat",
    "paradigm",
    "mhe",
    "mhs",
    "barlow_twins",
    "vicreg",
    "modified_mhe",
    "modified_mhs",
    "modified_barlow_twins",
    "modified_vicreg",
    "oar",
)


def names() -> tuple[str, ...]:
    """The objectives' names, in the order of the overview."""
    return NAMES


def source(name: str) -> Path:
    """The file that holds an objective."""
    if name not in NAMES:
        raise unknown("objective", name, NAMES)
    return Path(__file__).with_name(f"{name}.py")


def from_numpy(value: Any) -> Any:
    """NumPy's scalar, or array without dimensions, as Python's own value, so that hashes and JSON are the same."""
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, np.floating):
        return float(value)  # item() leaves a long double what it is
    return value.item() if isinstance(value, np.generic) else value


# what the equations need of parameters with these names
POSITIVE = {"temperature", "inter_temperature", "base_temperature", "sigma", "t"}
NOT_NEGATIVE = {"lam", "alpha", "power", "invariance", "variance", "covariance"}
AT_LEAST_ONE = {"mixed"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an objective: its default, and the values that its annotation and its name allow."""

    name: str
    default: Any
    kinds: tuple[type, ...]
    words: tuple[str, ...] = ()

    def text(self) -> str:
        """The default as a person reads it."""
        return f"{self.default:.4g}" if isinstance(self.default, float) else str(self.default)

    def check(self, value: Any, place: str) -> Any:
        """The value in canonical form (NumPy's as Python's, a whole number for a float as one); UserError if none."""
        value = from_numpy(value)
        if self.words and isinstance(value, str) and value not in self.words:
            raise unknown("value", value, self.words, place)
        if float in self.kinds and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) not in self.kinds:
            names = {float: "a number", int: "a whole number", bool: "true or false", str: "a word", type(None): "null"}
            raise UserError(f"{place} must be {' or '.join(names[kind] for kind in self.kinds)}, not {value!r}")
        low = 0 if self.name in POSITIVE | NOT_NEGATIVE else 1 if self.name in AT_LEAST_ONE else -math.inf
        strict = self.name in POSITIVE
        if isinstance(value, float | int) and not (low < value < math.inf or (value == low and not strict)):
            raise UserError(f"{place} must be finite and {'>' if strict else '>='} {low}, not {value:g}")
        return value


def _parameter(argument: ast.arg, default: ast.expr) -> Parameter:
    """From the annotation: float, int, bool, str, Literal words, each perhaps with `| None`."""
    kinds, words = [], []
    for part in ast.walk(argument.annotation):
        if isinstance(part, ast.Name) and part.id in ("float", "int", "bool", "str"):
            kinds.append({"float": float, "int": int, "bool": bool, "str": str}[part.id])
        elif isinstance(part, ast.Constant):
            kinds.append(type(part.value))
            words += [part.value] if isinstance(part.value, str) else []
    return Parameter(argument.arg, ast.literal_eval(default), tuple(dict.fromkeys(kinds)), tuple(words))


@cache
def signatures(name: str) -> dict[str, dict[str, Parameter]]:
    """Parameters of every variant, {variant: {parameter: Parameter}}; state, which is a tensor, is left out.

    They are read from the file's syntax tree, not by importing it: a workflow's graph is built without torch.
    """
    tree = ast.parse(source(name).read_text("utf-8"))
    functions = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "VARIANTS":
            return {
                key.value: {
                    argument.arg: _parameter(argument, default)
                    for argument, default in zip(
                        functions[value.id].kwonlyargs, functions[value.id].kw_defaults, strict=True
                    )
                    if "Tensor" not in ast.unparse(argument.annotation)
                }
                for key, value in zip(node.value.keys, node.value.values, strict=True)
            }
    raise UserError(f"{source(name)} has no VARIANTS: list its functions as {{'released': function}}")


def default_variant(variants: Iterable[str]) -> str:
    """What ``variant=None`` stands for: `released` where there is one."""
    return "released" if "released" in variants else next(iter(variants))


def resolve(name: str, variant: str | None = None, **params: Any) -> tuple[str, dict[str, Any]]:
    """The variant that ``None`` stands for, and all parameters, checked, with their defaults filled in."""
    variants = signatures(name)
    variant = variant or default_variant(variants)
    if variant not in variants:
        raise unknown(f"variant of {name}", variant, variants)
    known = dict(variants[variant])
    if "base" in known:  # an objective around another takes that one's parameters as well
        base, inner = (
            known[key].check(params.get(key, known[key].default), f"{name}: {key}") for key in ("base", "base_variant")
        )
        if base == name:
            raise UserError(f"{name}: base must be another objective")
        choices = signatures(base)
        if (inner or default_variant(choices)) not in choices:
            raise unknown(f"variant of {base}", inner, choices, f"{name}: base_variant")
        known = {**choices[inner or default_variant(choices)], **known}
    for key in params:
        if key not in known:
            raise unknown(f"parameter of {name}", key, known)
    return variant, {
        key: parameter.check(params.get(key, parameter.default), f"{name}: {key}") for key, parameter in known.items()
    }


def make(name: str, variant: str | None = None, **params: Any) -> "Objective":
    """Build an objective by name.

    Parameters left out take the function's defaults; ``variant=None`` is ``released`` where there is one.
    Raises UserError, with the near matches, for an unknown name, variant or parameter.
    """
    from clrepro.objectives._objective import Objective

    variant, params = resolve(name, variant, **params)
    module = importlib.import_module(f"clrepro.objectives.{name}")
    return Objective(name, variant, params, module.VARIANTS[variant])
