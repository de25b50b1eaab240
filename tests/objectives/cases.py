"""Every variant of every objective with other parameters, views of them, and their loss and gradient."""

import numpy as np
import torch

from clrepro import objectives

EVERY = [(name, variant) for name in objectives.names() for variant in objectives.signatures(name)]
# beside every variant's defaults: the other choices that change the equation
OTHER = [
    ("nt_xent", "written", {"reduction": "sum"}),
    ("dcl", "released", {"negatives": "both"}),
    ("dcl", "released", {"negatives": "both", "reduction": "sum"}),
    ("dcl", "original", {"sigma": 0.5}),
    ("infonce_mixup", "written", {"kind": "negatives", "mixed": 3}),
    ("macl", "released", {"negatives": "both"}),
    ("macl", "released", {"reweight": False, "base_temperature": 0.05, "alpha": 2.0, "alignment_threshold": 0.8}),
    ("align_uniform", "released", {"alpha": 3.0, "t": 2.0}),
    ("align_uniform", "written", {"alpha": 1.0, "t": 2.0}),
    *[
        ("paradigm", variant, params)
        for variant in ("released", "written")
        for params in ({"margin": None}, {"margin": 0.05, "ratio": 2.0}, {"power": 3}, {"margin": None, "power": 0})
    ],
    *[
        (name, variant, params)
        for name, base in (("modified_mhe", {}), ("modified_barlow_twins", {"lam": 30.0}), ("modified_vicreg", {}))
        for variant in ("released", "written")
        for params in (
            {"margin": 0.1},
            {"temperature": None, "ratio": None, **base},
            {"margin": 0.1, "ratio": None, **base},
            {"temperature": None},
        )
    ],
    *[("modified_mhs", variant, {"ratio": None, "margin": 0.1}) for variant in ("released", "written")],
    *[
        (name, variant, {"temperature": None, "power": 4})
        for name in ("modified_barlow_twins", "modified_vicreg")
        for variant in ("released", "written")
    ],
    ("oar", "written", {"base": "mpt", "base_variant": "written", "margin": 0.5}),
]
CASES = [*((name, variant, {}) for name, variant in EVERY), *OTHER]


def case_id(case):
    name, variant, params = case
    return "-".join([name, variant, *(f"{key}={value}" for key, value in params.items())])


def tensors(*views, dtype=torch.float64):
    return [torch.tensor(np.asarray(view), dtype=dtype, requires_grad=True) for view in views]


def random_views(seed, n=7, d=5, noise=0.3):
    rng = np.random.default_rng(seed)
    view = rng.normal(size=(n, d))
    return view, view + noise * rng.normal(size=(n, d))


def coldest(name, variant):
    """The issue's hardest temperature, 0.005, wherever an objective has one."""
    return {key: 0.005 for key in objectives.signatures(name)[variant] if key.endswith("temperature")}


def loss_and_gradients(objective, *views, **state):
    inputs = tensors(*views)
    loss = objective(*inputs, **state)
    loss.backward()
    return loss, [np.zeros(view.shape) if view.grad is None else view.grad.numpy() for view in inputs]
