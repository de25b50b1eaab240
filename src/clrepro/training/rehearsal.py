"""A training's step on random input: how long it takes on a device, and how much memory it keeps there.

It does what a step of the loop does, with the run's own encoder, objective and optimiser, and needs no data.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor, nn

from clrepro.training import optimisers
from clrepro.training.loop import Terms

WARM_UP, MEASURED = 2, 5  # steps
ENOUGH = 20.0  # seconds after which fewer steps must do
HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Rehearsal:
    """A model on its device, and the terms of its objective on random input, as a workload gives them."""

    model: nn.Module
    terms: Callable[[], Terms]


def seconds(rehearsal: Rehearsal, objective: Callable, settings: dict) -> float:
    """Of a step: the median of a few after the first two, or, if these are slow, the last one's.

    settings: those of a recipe.
    """
    parameters = [part for part in rehearsal.model.parameters() if part.requires_grad]
    device = parameters[0].device
    how = (settings.get("optimiser", "adamw"), parameters, settings["learning_rate"], settings["weight_decay"])
    optimiser = optimisers.make(*how, settings.get("momentum", 0.0))
    half = HALF.get(settings["precision"])
    taken = []
    rehearsal.model.train()
    for _ in range(WARM_UP + MEASURED):
        started = time.perf_counter()
        with torch.autocast(device.type, half) if half else nullcontext():
            terms = rehearsal.terms()
        loss = sum(objective(*views, **extras) for *views, extras in terms) / len(terms)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, settings.get("clip") or torch.inf)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        loss.item()  # waits for the device
        taken.append(time.perf_counter() - started)
        if sum(taken) > ENOUGH and len(taken) > 1:
            break
    return median(taken[WARM_UP:] or taken[-1:])


def kept_bytes(rehearsal: Rehearsal) -> int:
    """What a forward pass keeps for the backward pass, on the meta device: every storage once, parameters not."""
    own = {part.untyped_storage()._cdata for part in (*rehearsal.model.parameters(), *rehearsal.model.buffers())}
    kept: dict[int, int] = {}
    held = []  # a storage that is freed would lend its address to another one

    def note(saved: Tensor) -> Tensor:
        storage = saved.untyped_storage()
        if storage._cdata not in own and storage._cdata not in kept:
            kept[storage._cdata] = storage.nbytes()
            held.append(storage)
        return saved

    rehearsal.model.train()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda saved: saved):
        terms = rehearsal.terms()
    del terms
    return sum(kept.values())
