"""Norms of gradients: closed forms against autograd."""

import math

import numpy as np
import pytest
import torch

from clrepro.errors import UserError
from clrepro.objectives import make
from clrepro.simulation import (
    gradient_norms,
)


def on_plane(*angles: float) -> torch.Tensor:
    """Unit vectors of a plane in space at the angles to the first axis."""
    return torch.tensor([[math.cos(angle), math.sin(angle), 0.0] for angle in angles], dtype=torch.float64)


def anchor_gradient(objective, positive: float, negatives: list[float]) -> float:
    """Norm of an objective's gradient at an anchor with these angles around it, from the library's own objective."""
    others = on_plane(*[0.3] * len(negatives))
    view1 = torch.cat([on_plane(0.0), others]).requires_grad_()
    loss = objective(view1, on_plane(positive, *negatives))
    return torch.autograd.grad(loss, view1)[0][0].norm().item()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("positive", "negative"), [(0.4, 0.5), (1.1, 0.9), (0.9, 1.1), (0.7, 2.9), (2.0, 0.3)])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("infonce", {"temperature": 0.3}),
        ("dcl", {"temperature": 0.4}),
        ("dcl_plus", {"temperature": 0.5}),
        ("mpt", {"margin": 0.23}),
        ("met", {"margin": 0.45}),
        ("mat", {"margin": 0.5}),
    ],
)
def test_both_parts_of_the_gradient_are_those_of_the_objective(name, parameters, positive, negative, count):
    """Across the anchor the parts add up, on one side of it they oppose each other: two norms give both parts."""
    sampled = name in ("infonce", "dcl", "dcl_plus")
    counts = {"negatives": count} if sampled else {}
    alignment, uniformity = gradient_norms.NORMS[name](positive, negative, **parameters, **counts)
    total = uniformity * (count if sampled else 1)  # the hinges see the hardest negative only
    objective = make(name, variant=None if sampled else "written", **parameters)  # the former have one variant
    across = (count + 1) * anchor_gradient(objective, positive, [-negative] * count)
    beside = (count + 1) * anchor_gradient(objective, positive, [negative] * count)
    assert across == pytest.approx(alignment + total, abs=1e-9)
    assert beside == pytest.approx(abs(alignment - total), abs=1e-9)


@pytest.mark.parametrize("angle", [0.4, 2.5])
def test_alignment_and_uniformity_losses(angle):
    batch, alpha, t = 4, 3.0, 1.5
    alignment, uniformity = gradient_norms.align_uniform(angle, angle, alpha=alpha, t=t, negatives=batch - 1)
    view1 = on_plane(*[0.0] * batch).requires_grad_()
    view2 = on_plane(*[angle] * batch)  # every pair across the views has the same angle
    for lam, expected in ((0.0, alignment / batch), (1.0, uniformity * (batch - 1))):
        loss = make("align_uniform", variant="written", alpha=alpha, t=t, lam=lam)(view1, view2)
        gradient = torch.autograd.grad(loss, view1)[0][0]
        assert gradient.norm().item() == pytest.approx(expected, rel=1e-9)


def test_more_negatives_dissipate_less():
    """The claim of figure 2a: the dark area shrinks, and the maps tend to that of L_dcl at the same temperature."""
    angle = np.linspace(0.01, np.pi, 80)
    maps = [
        gradient_norms.infonce(angle[:, None], angle[None, :], 0.05, count)[0] for count in (64, 512, 4096, 65536, 1e30)
    ]
    dark = [(norm < 0.1).mean() for norm in maps]
    assert sorted(dark, reverse=True) == dark
    assert dark[0] > 1.3 * dark[3]
    np.testing.assert_allclose(maps[-1], np.broadcast_to(20 * np.sin(angle)[:, None], (80, 80)), atol=1e-5)


def test_gradient_norms_refuses_bad_settings():
    with pytest.raises(UserError, match="sideways"):
        gradient_norms.compute({"part": "sideways", "points": 2, "panels": []})
    with pytest.raises(UserError, match="margin"):
        gradient_norms.compute({"part": "alignment", "points": 2, "panels": [{"objective": "dcl", "margin": 1}]})
