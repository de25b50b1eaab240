"""Optimisers, learning-rate schedules and scaling rules."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

from clrepro.errors import UserError, unknown
from clrepro.training.names import OPTIMISERS, RATE_RULES, SCHEDULES

FUSED = {"cpu", "cuda"}  # devices with one kernel for a whole step
TRUST = 0.001  # eta of LARS, as in SimCLR
REFERENCE_BATCH = 256


def make(
    name: str,
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    weight_decay: float = 0.0,
    momentum: float = 0.9,
) -> torch.optim.Optimizer:
    """The optimiser of the parameters that require gradients; momentum is for sgd and lars.

    A step is one kernel where the device has one; its last bits differ from those of a step of many.

    adam adds weight decay to the gradient, adamw applies it apart, adamw_transformers (see there) has none. lars leaves
    vectors (biases, batch norm) without weight decay and without trust ratio, as SimCLR does; the others decay all
    parameters, as torch does.
    """
    if name not in OPTIMISERS:
        raise unknown("optimiser", name, OPTIMISERS)
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    if name == "lars":
        groups = [
            {"params": [parameter for parameter in trained if parameter.ndim > 1]},
            {"params": [parameter for parameter in trained if parameter.ndim <= 1], "weight_decay": 0.0, "trust": None},
        ]
        return Lars([group for group in groups if group["params"]], learning_rate, weight_decay, momentum)
    fused = all(parameter.device.type in FUSED for parameter in trained)
    if name == "sgd":
        return torch.optim.SGD(trained, learning_rate, momentum=momentum, weight_decay=weight_decay, fused=fused)
    if name == "adamw_transformers" and weight_decay:
        raise UserError(
            f"weight_decay {weight_decay:g}: optimiser adamw_transformers has none, since transformers decayed the "
            "weights after the update and torch's kernel does so before it; set it to 0, or `optimiser: adamw`"
        )
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "adamw_transformers": TransformersAdamW}[name]
    return kind(trained, learning_rate, weight_decay=weight_decay, fused=fused)


COUNTED = 1000


class TransformersAdamW(torch.optim.AdamW):
    """The AdamW that transformers had, with which the authors' sentence encoders were trained; no weight decay.

        m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2
        w = w - gamma sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)

    w, g: weights and gradient; m, v: its moments; b1, b2: betas, 0.9 and 0.999; gamma learning rate; t counts steps
    from 1. torch adds eps to sqrt(v / (1 - b2^t)), which is this rule with eps sqrt(1 - b2^t) in the place of eps. So
    its kernels compute this rule once they are given eps / sqrt(1 - b2^t): 31.6 eps at step 1, 3.2 eps at step 100.
    All parameters of a group have a gradient at every step. Source: transformers 4.2.1 and 4.18.0, optimization.py.
    """

    def step(self, closure: Callable[[], torch.Tensor] | None = None) -> torch.Tensor | None:
        """One update. Counts stand in the groups, which are saved: torch's own count lies on the device.

        A step that fp16's scaler skips does not count. To know of it the host waits for the device, so it asks only as
        long as it matters: from step ``COUNTED`` on a step more or less changes eps by less than a thousandth.
        """
        overflow = getattr(self, "found_inf", None)  # set by a scaler of fp16, whose kernel then leaves the step out
        for group in self.param_groups:
            done = group.get("steps", 0)
            skipped = overflow is not None and done < COUNTED and bool(overflow)
            group["eps"] = self.defaults["eps"] / math.sqrt(1 - group["betas"][1] ** (done + 1))
            group["steps"] = done + (not skipped)
        return super().step(closure)


class Lars(torch.optim.Optimizer):
    """Layer-wise adaptive rate scaling with momentum.

        r = eta ||w|| / (||g|| + beta ||w||)
        v = m v + gamma r (g + beta w),   w = w - v

    w, g, v: one layer's weights, gradient and velocity; gamma learning rate, beta weight decay, m momentum, eta trust.
    r is 1 where it would be 0 or not finite (no weights or no gradient), and in groups whose ``trust`` is None.
    Source: You et al. 2017, algorithm 1; mmselfsup, with which huang2023 trained, has the same ratio. SimCLR's own
    code divides by ||g + beta w||.
    """

    def __init__(
        self,
        parameters: Iterable,
        lr: float,
        weight_decay: float = 0.0,
        momentum: float = 0.9,
        trust: float | None = TRUST,
    ):
        super().__init__(parameters, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, trust=trust))

    @torch.no_grad()
    def step(self, closure: Callable[[], torch.Tensor] | None = None) -> torch.Tensor | None:
        """One update; the norms stay on the device."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            decay, trust = group["weight_decay"], group["trust"]
            for weights in group["params"]:
                if weights.grad is None:
                    continue
                update = weights.grad.add(weights, alpha=decay)
                if trust is not None:
                    length = torch.linalg.vector_norm(weights)
                    below = torch.linalg.vector_norm(weights.grad) + decay * length
                    update *= torch.where((length > 0) & (below > 0), trust * length / below, 1.0)
                state = self.state[weights]
                if "velocity" not in state:
                    state["velocity"] = torch.zeros_like(weights)
                velocity = state["velocity"].mul_(group["momentum"]).add_(update, alpha=group["lr"])
                weights -= velocity
        return loss


def schedule(name: str, steps: int, warmup: int = 0) -> Callable[[int], float]:
    """The factor of the learning rate at each step, from 0, for ``LambdaLR``.

    constant: 1. linear: 1 - step / steps. cosine: step / warmup at first, then half a cosine from 1 to 0 over the
    rest, as SimCLR's code. ``warmup`` is in steps.
    """
    if name not in SCHEDULES:
        raise unknown("schedule", name, SCHEDULES)
    if warmup and name != "cosine":
        raise UserError(f"schedule {name} has no warm-up, {warmup} steps were asked for; use schedule cosine")
    if not 0 <= warmup < max(1, steps):
        raise UserError(
            f"a warm-up of {warmup} steps does not fit in a training of {steps}; shorten it or train longer"
        )
    if name == "constant":
        return lambda step: 1.0
    if name == "linear":
        return lambda step: 1 - step / steps

    def cosine(step: int) -> float:
        if step < warmup:
            return step / warmup
        return (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2

    return cosine


def scaled_learning_rate(base: float, batch_size: int, rule: str) -> float:
    """The learning rate of a batch size by a rule of huang2023.

    fixed: base. linear: base x batch / 256 (appendix B.1, base 0.3). square_root: base x sqrt(batch) (appendix
    B.1.1, base 0.075). linear_above_256: base up to batch 256, linear from there on (appendix B.3, base 1e-3).
    """
    if rule not in RATE_RULES:
        raise unknown("learning-rate rule", rule, RATE_RULES)
    ratio = batch_size / REFERENCE_BATCH
    factors = {"fixed": 1, "linear": ratio, "square_root": math.sqrt(batch_size), "linear_above_256": max(1, ratio)}
    return base * factors[rule]
