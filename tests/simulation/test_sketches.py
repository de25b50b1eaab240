"""Sketches against geometry."""

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro.errors import UserError
from clrepro.objectives import make
from clrepro.simulation import (
    sketches,
)
from tests.simulation.definitions import definition


def points(panel: pd.DataFrame) -> dict[str, np.ndarray]:
    dots = panel[~panel["kind"].isin(["number", "circle", "edge", "dashed", "arrow", "thin arrow"])]
    return dict(zip(dots["name"], dots[["x", "y"]].to_numpy(), strict=True))


def numbers(panel: pd.DataFrame) -> dict[str, float]:
    return panel[panel["kind"] == "number"].set_index("name")["value"].to_dict()


def test_lemma_sketch_is_the_proof():
    settings = definition("li2024", "figure_11")["settings"]
    for name, panel in sketches.compute(settings).groupby("panel"):
        given, place = settings["situations"][name], points(panel)
        anchor, positive, negative = place["hᵢ"], place["hᵢ′"], place["hⱼ′"]
        kept = np.sin(given["theta_positive"])
        for moved, ratio in (("hᵢⁿ", "lower r"), ("upper hᵢⁿ", "upper r")):
            step = given["step"] * (numbers(panel)[ratio] * positive - negative)
            np.testing.assert_allclose(place[moved], anchor + step, atol=1e-12)
            assert np.linalg.norm(place[moved] - positive) == pytest.approx(kept)
        corners = [place[label] for label in ("b", "hᵢⁿ", "hᵢ′", "hᵢ")]
        sides = [
            np.linalg.norm(first - second) for first, second in zip(corners, corners[1:] + corners[:1], strict=True)
        ]
        assert sides == pytest.approx([kept] * 4)  # a rhombus
        assert (place["b"][0] < place["c"][0]) == (name == "situation 1")
        for ratio in np.linspace(0, 6, 61):  # nearer exactly between the two
            after = np.linalg.norm(given["step"] * (ratio * positive - negative) - positive)
            assert (after < kept) == (numbers(panel)["lower r"] < ratio < numbers(panel)["upper r"])


def test_lemma_without_a_real_root_is_refused():
    with pytest.raises(UserError, match="smaller step"):
        sketches.ratio_bounds(0.3, 1.5, 1.5, 1.0)


def test_training_on_the_circle_descends_the_paradigm_loss():
    angles, offset, step = [0.1, -0.6, 0.9, 2.0], 0.3, 0.01
    knobs = {"temperature": 0.2, "ratio": 0.8}
    first, second = sketches.train_on_circle(angles, offset, margin=0.4, step=step, steps=1, **knobs)
    before = torch.tensor([angles, [angle + offset for angle in angles]], dtype=torch.float64, requires_grad=True)
    views = torch.stack([before.cos(), before.sin()], dim=-1)
    loss = make("paradigm", variant="written", margin=0.4, **knobs)(views[0], views[1])
    moved = before.detach() - step * torch.autograd.grad(loss, before)[0]
    np.testing.assert_allclose(np.stack([first, second]), moved.numpy(), atol=1e-12)
    assert not np.allclose(first, angles)


def test_components_show_what_the_captions_say():
    frame = sketches.compute(definition("li2024", "figure_12")["settings"])
    found = dict(list(frame.groupby("panel")))
    assert len(found) == 6
    free, held = (numbers(found[f"a: {name} dissipation"]) for name in ("without", "with"))
    assert free["gap"] > held["gap"] + 0.3
    assert free["to positive"] < held["to positive"]
    for panel in (found["a: without dissipation"], found["a: with dissipation"]):
        place = points(panel)
        nearest = min(np.linalg.norm(place["anchor"] - place[f"negative {rank}"]) for rank in (1, 2, 3))
        assert numbers(panel)["to hardest negative"] == pytest.approx(nearest)
    equal, exponential = (numbers(found[f"b: {name} weights"]) for name in ("equal", "exponential"))
    assert equal["weight of hardest negative"] == pytest.approx(1 / 5)
    assert exponential["weight of hardest negative"] > 0.9
    for panel in (found["b: equal weights"], found["b: exponential weights"]):
        pushes = panel[panel["kind"] == "thin arrow"]
        total = panel[panel["kind"] == "arrow"].iloc[0]
        assert pushes["value"].sum() == pytest.approx(1)
        assert pushes[["x_end", "y_end"]].sum().to_numpy() == pytest.approx([total["x_end"], total["y_end"]])
    for name, panel in found.items():
        if name.startswith("c"):
            value = numbers(panel)
            assert (value["to positive after"] < value["to positive before"]) == name.endswith("condition met")
