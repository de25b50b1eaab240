"""What is x-rayed: an objective of the library, or a loss of anyone's own, with its parameters."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from clrepro.errors import UserError, unknown
from clrepro.objectives import default_variant, make, names, resolve, signatures
from clrepro.own_code import load, pick

TEMPERATURE_NAMES = ("temperature", "base_temperature")


@dataclass(frozen=True)
class Subject:
    """A loss by name: build(**params) makes it, callable as ``objective(view1, view2)``."""

    name: str
    variant: str | None
    params: Mapping[str, Any]
    build: Callable[..., Callable]

    @property
    def temperature(self) -> str | None:
        """The name of the parameter that is its temperature, if it has one that is on."""
        numbers = (int, float)
        return next((name for name in TEMPERATURE_NAMES if isinstance(self.params.get(name), numbers)), None)

    @property
    def title(self) -> str:
        settings = ", ".join(
            f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in self.params.items()
        )
        return " ".join(filter(None, [self.name, self.variant and f"[{self.variant}]", settings]))

    def objective(self, **changes: Any) -> Callable:
        """The loss with these parameters changed; its initial weights, if it has any, are always the same."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            loss = self.build(**{**self.params, **changes})
        return partial(_call, loss, self.name)


def _call(loss: Callable, name: str, view1: Tensor, view2: Tensor) -> Tensor:
    """The loss on float64 views, or on float32 ones where it knows no other.

    Every call is the first one: a copy of the loss, the same random numbers. Otherwise a queue or a running mean would
    carry one batch's vectors into the next.
    """
    failures = []
    for precision in (torch.float64, torch.float32):
        fresh = copy.deepcopy(loss)
        if isinstance(fresh, torch.nn.Module):
            fresh = fresh.to(precision)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            try:
                return fresh(view1.to(precision), view2.to(precision))
            except UserError:
                raise
            except Exception as failure:
                failures.append(failure)
    raise _refused(name, view1, failures[0]) from failures[0]


def _refused(name: str, view: Tensor, failure: Exception) -> UserError:
    return UserError(
        f"{name} failed on two views of shape {tuple(view.shape)}: {type(failure).__name__}: {failure}. It is called "
        "as loss(view1, view2) with (N, D) tensors, row i of both being views of example i"
    )


def subject(spec: str, variant: str | None, given: Mapping[str, Any]) -> Subject:
    """From an objective's name, or ``file.py:Name`` or ``package.module:Name`` of a class or function."""
    if ":" not in spec and not spec.endswith(".py"):
        if spec not in names():
            raise unknown("objective", spec, names(), "(for a loss of your own write my_loss.py:MyLoss)")
        variant = variant or default_variant(signatures(spec))
        _, params = resolve(spec, variant, **given)
        return Subject(spec, variant, params, partial(_library, spec, variant))
    if variant:
        raise UserError(f"--variant {variant}: only the library's objectives have variants, not {spec}")
    place, _, attribute = spec.partition(":")
    found = pick(load(place), attribute, place)
    name = getattr(found, "__name__", attribute or type(found).__name__)
    if not callable(found):
        raise UserError(f"{place}: {name} is {found!r}, which cannot be called as loss(view1, view2)")
    accepted = _accepted(found)
    for key in given:
        if accepted is not None and key not in accepted:
            raise unknown(f"parameter of {name}", key, accepted)
    defaults = {key: value for key, value in (accepted or {}).items() if isinstance(value, float | int | str)}
    return Subject(name, None, {**defaults, **given}, partial(_own, found))


def _library(name: str, variant: str, **params: Any) -> Callable:
    loss = make(name, variant, **params)
    if name != "oar":
        return loss

    def with_labels(view1: Tensor, view2: Tensor) -> Tensor:
        """Every tenth example has one of ten classes."""
        generator = torch.Generator().manual_seed(0)
        labels = torch.full((len(view1),), -1)
        labels[::10] = torch.arange(len(labels[::10])) % 10
        anchors, _ = torch.linalg.qr(torch.randn(view1.shape[1], 10, dtype=view1.dtype, generator=generator))
        return loss(view1, view2, labels=labels, anchors=anchors.T)

    return with_labels


def _accepted(found: Callable) -> dict[str, Any] | None:
    """The parameters that it takes besides the views, with defaults; None where it takes any."""
    kinds = inspect.Parameter
    parameters = list(inspect.signature(found).parameters.values())
    if any(parameter.kind is kinds.VAR_KEYWORD for parameter in parameters):
        return None
    named = [parameter for parameter in parameters if parameter.kind is kinds.KEYWORD_ONLY]
    if not any(parameter.kind is kinds.VAR_POSITIONAL for parameter in parameters):
        placed = [parameter for parameter in parameters if parameter.kind is not kinds.KEYWORD_ONLY]
        named += placed if inspect.isclass(found) else placed[2:]
    return {parameter.name: parameter.default for parameter in named}


def _own(found: Callable, **params: Any) -> Callable:
    if not inspect.isclass(found):
        return partial(found, **params) if params else found
    try:
        return found(**params)
    except Exception as failure:
        raise UserError(f"{found.__name__}({params}) failed: {type(failure).__name__}: {failure}") from failure
