"""The simulated figures: closed forms against autograd, sampling against exact values, sketches against geometry."""

import importlib
import math

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro import plotting
from clrepro.catalogue.papers import load
from clrepro.errors import UserError
from clrepro.objectives import make
from clrepro.simulation import (
    _sampling,
    dissipation_maps,
    gradient_norms,
    hardest_share,
    ratio_maps,
    scaling_factor,
    sketches,
)

PAPERS = ("nie2023", "li2024", "huang2023")
FIGURES = [(paper, figure) for paper in PAPERS for figure in load(paper, "experiments")["simulations"]]
ANGLES = dict(
    objectives={},
    points=4,
    batches=3,
    negatives=5,
    mu_positive_over_pi=[0.05, 0.5],
    mu_negative_over_pi=[0.05, 1.0],
    sigma_positive=0.0,
    sigma_negative=0.0,
    seed=0,
)


def definition(paper: str, figure: str) -> dict:
    return load(paper, "experiments")["simulations"][figure]


def on_plane(*angles: float) -> torch.Tensor:
    """Unit vectors of a plane in space at the angles to the first axis."""
    return torch.tensor([[math.cos(angle), math.sin(angle), 0.0] for angle in angles], dtype=torch.float64)


def anchor_gradient(objective, positive: float, negatives: list[float]) -> float:
    """Norm of an objective's gradient at an anchor with these angles around it, from the library's own objective."""
    others = on_plane(*[0.3] * len(negatives))
    view1 = torch.cat([on_plane(0.0), others]).requires_grad_()
    loss = objective(view1, on_plane(positive, *negatives))
    return torch.autograd.grad(loss, view1)[0][0].norm().item()


# gradient_norms


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


# sampled angles


def plain_dissipation(name: str, positive: np.ndarray, negatives: np.ndarray, parameters: dict) -> np.ndarray:
    """Table 1 of li2024 as printed, double precision; positive (B,), negatives (K, B)."""
    if name in ("infonce", "arccon"):
        temperature = parameters["temperature"]
        numerator = np.exp(np.cos(positive + parameters.get("angle", 0)) / temperature)
        return 1 / (1 + numerator / np.exp(np.cos(negatives) / temperature).sum(axis=0))
    if name == "mpt":
        return np.cos(positive) - np.cos(negatives).max(axis=0) - parameters["margin"]
    gaps = np.sqrt(2 - 2 * np.cos(negatives)).min(axis=0) - np.sqrt(2 - 2 * np.cos(positive))
    return gaps - parameters["margin"]


OBJECTIVES = {
    "infonce": {"temperature": 0.05},
    "arccon": {"temperature": 0.05, "angle": math.radians(10)},
    "mpt": {"margin": 0.23},
    "met": {"margin": 0.45},
}


def test_drawn_angles_are_normal_and_independent():
    generator = _sampling.generators(0, "angles", 1)[0]
    angles = _sampling.draw_angles(generator, 1.5, 0.1, np.empty((127, 1001), np.float32))
    z = np.sort((angles.ravel().astype(float) - 1.5) / 0.1)
    normal = 0.5 * np.array([math.erfc(-value / math.sqrt(2)) for value in z])
    ranks = np.arange(1, z.size + 1) / z.size
    assert np.abs(normal - ranks).max() * math.sqrt(z.size) < 1.63  # Kolmogorov and Smirnov, 1 in 100
    z = (angles.ravel().astype(float) - 1.5) / 0.1
    half = (z.size + 1) // 2
    pairs = z[: half - 1], z[half:]  # the two that share a radius and a turn
    for first, second in (pairs, (pairs[0] ** 2, pairs[1] ** 2), (z[:-1], z[1:])):
        assert abs(np.corrcoef(first, second)[0, 1]) * math.sqrt(first.size) < 3.3
    assert 4 < np.abs(z).max() < 5.8
    assert _sampling.draw_angles(generator, 0.7, 0.0, np.empty(3, np.float32)) == pytest.approx(0.7)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_single_precision_dissipation_equals_the_plain_formula(name):
    """On the same draws, angles outside [0, pi] included."""
    random = np.random.default_rng(0)
    positive = random.uniform(-0.3, 1.8, 4000).astype(np.float32)
    negatives = (positive + 0.5 + random.normal(0, 0.4, (9, 4000))).astype(np.float32)
    negatives[:, ::5] += np.float32(np.pi - 1)
    assert negatives.min() < 0
    assert negatives.max() > np.pi
    expected = plain_dissipation(name, positive.astype(float), negatives.astype(float), OBJECTIVES[name])
    found = dissipation_maps.DISSIPATIONS[name](positive, negatives.copy(), **OBJECTIVES[name])
    if name in ("infonce", "arccon"):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)
        return
    decided = np.abs(expected) > 1e-6
    assert decided.mean() > 0.99
    assert 0.1 < found.mean() < 0.9
    np.testing.assert_array_equal(found[decided], expected[decided] < 0)


@pytest.mark.parametrize("temperature", [1e-3, 5e-3])
def test_dissipation_survives_small_temperatures(temperature):
    positive = np.array([0.2, 1.4], np.float32)
    found = dissipation_maps.infonce(positive, np.full((3, 2), 0.8, np.float32), temperature)
    np.testing.assert_allclose(found, [0.0, 1.0], atol=1e-20)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_without_spread_a_map_is_the_closed_form(name):
    frame = dissipation_maps.compute({**ANGLES, "objectives": {name: OBJECTIVES[name]}})
    positive, negative = frame["mu_positive"].to_numpy(), frame["mu_negative"].to_numpy()
    assert set(positive.round(6)) == set((np.pi * np.array([0.05, 0.2, 0.35, 0.5])).round(6))
    expected = plain_dissipation(name, positive, np.tile(negative, (5, 1)), OBJECTIVES[name])
    expected = expected if name in ("infonce", "arccon") else expected < 0
    np.testing.assert_allclose(frame["dissipation"], expected, rtol=2e-5, atol=1e-7)


def test_sampled_dissipation_is_near_its_exact_mean():
    """MPT: the hardest of K normal angles has a known distribution, so the mean is an integral over two densities."""
    normal = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))
    z = np.linspace(-7, 7, 2801)
    weight = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    settings = {**ANGLES, "sigma_positive": 0.05, "sigma_negative": 0.1, "negatives": 127, "batches": 4000, "points": 2}
    settings |= {"mu_positive_over_pi": [0.25, 0.3], "mu_negative_over_pi": [0.4, 0.45]}
    frame = dissipation_maps.compute({**settings, "objectives": {"mpt": {"margin": 0.23}}})
    for cell in frame.itertuples():
        reach = np.arccos(np.clip(np.cos(cell.mu_positive + 0.05 * z) - 0.23, -1, 1))  # active: the hardest is nearer
        active = 1 - (1 - normal((reach - cell.mu_negative) / 0.1)) ** 127
        exact = (weight * active).sum()
        error = math.sqrt(exact * (1 - exact) / 4000)
        assert abs(cell.dissipation - exact) < 4.5 * error + 1e-3
    assert frame["dissipation"].between(0.05, 0.95).any()


@pytest.mark.parametrize(("module", "figure"), [(dissipation_maps, "figure_2"), (ratio_maps, "figure_4")])
def test_threads_do_not_change_the_numbers_but_the_seed_does(module, figure, monkeypatch):
    settings = {**definition("li2024", figure)["settings"], "points": 6, "batches": 40}
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = module.compute(settings)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    pd.testing.assert_frame_equal(alone, module.compute(settings), check_exact=True)
    value = "dissipation" if figure == "figure_2" else "ratio"
    assert (module.compute({**settings, "seed": 1})[value] != alone[value]).any()


def test_rows_and_objectives_draw_apart():
    settings = {**definition("li2024", "figure_10")["settings"], "points": 4, "batches": 50}
    settings["objectives"] = {"infonce": {"temperature": 0.05}}
    alone = dissipation_maps.compute(settings)
    settings["objectives"] = {"mpt": {"margin": 0.23}, "infonce": {"temperature": 0.05}}
    both = dissipation_maps.compute(settings)
    np.testing.assert_array_equal(alone["dissipation"], both.loc[both["objective"] == "infonce", "dissipation"])
    first, second = (generator.standard_normal(8) for generator in _sampling.generators(0, "infonce", 2))
    other = _sampling.generators(0, "mpt", 1)[0].standard_normal(8)
    assert not set(first) & set(second)
    assert not set(first) & set(other)


def test_bad_ranges_are_refused():
    with pytest.raises(UserError, match="mu_positive_over_pi"):
        dissipation_maps.compute({**ANGLES, "mu_positive_over_pi": [0.5, 0.05]})
    with pytest.raises(UserError, match="sigma_negative"):
        dissipation_maps.compute({**ANGLES, "sigma_negative": 1.0})
    with pytest.raises(UserError, match="triplet"):
        dissipation_maps.compute({**ANGLES, "objectives": {"triplet": {}}})


# hardest_share


def test_share_of_two_negatives():
    share, dissipation = hardest_share.shares(np.cos([0.5]), np.cos([[1.0], [1.2]]), 0.1)
    terms = np.exp(np.cos([1.0, 1.2]) / 0.1)
    assert share[0] == pytest.approx(terms[0] / terms.sum())
    assert dissipation[0] == pytest.approx(terms.sum() / (terms.sum() + math.exp(math.cos(0.5) / 0.1)))


def test_released_share_without_a_batch_is_set():
    settings = {**definition("li2024", "figure_3")["settings"], "points": 3, "batches": 4, "negatives": 8}
    settings |= {"sigma_negative": 0.0, "sigma_positive": 0.0, "temperatures": [0.3, 0.01]}
    frame = hardest_share.compute(settings).set_index(["form", "temperature"])
    assert frame.loc["written", "share"].to_numpy() == pytest.approx(1 / 8)
    assert (frame.loc["written", "batches"] == 4).all()
    sharp = frame.loc[("released", 0.01)]  # at pi / 20 the negatives are nearer than the positive, then far beyond
    assert sharp["batches"].tolist() == [4, 0, 0]
    assert sharp["share"].to_numpy() == pytest.approx([1 / 8, 1, 1])


# ratio_maps


def test_without_spread_both_forms_of_the_ratio_agree():
    settings = {**definition("li2024", "figure_4")["settings"], "points": 5, "batches": 3}
    frame = ratio_maps.compute({**settings, "sigma_positive": 0.0, "sigma_negative": 0.0})
    keys = ["objective", "mu_positive", "mu_negative"]
    both = frame[frame["form"] == "written"].merge(frame[frame["form"] == "released"], on=keys)
    assert len(both) == 50
    np.testing.assert_allclose(both["ratio_x"], both["ratio_y"], rtol=2e-6)
    met = both[both["objective"] == "met"]
    expected = np.sin(met["mu_negative"] / 2) / np.sin(met["mu_positive"] / 2)
    np.testing.assert_allclose(met["ratio_y"], expected, rtol=1e-6)
    arccon = both[both["objective"] == "arccon"]
    u = math.radians(10)
    np.testing.assert_allclose(arccon["ratio_y"], np.sin(arccon["mu_positive"] + u) / np.sin(arccon["mu_positive"]))


def test_sampled_met_ratio_takes_the_hardest_negative():
    settings = {**definition("li2024", "figure_4")["settings"], "points": 3, "batches": 400}
    frame = ratio_maps.compute({**settings, "sigma_positive": 0.0})
    cell = frame[(frame["form"] == "written") & (frame["objective"] == "met")].iloc[-2]  # pi / 2 and 0.525 pi
    nearest = cell["mu_negative"] - 0.1 * 2.596  # mean of the largest of 127 standard normals: 2.596
    assert cell["ratio"] == pytest.approx(np.sin(nearest / 2) / np.sin(np.pi / 4), abs=0.005)


def test_shading():
    arccon, met = {"temperature": 0.05, "angle": math.radians(10)}, {"margin": 0.45}
    settings = {"negatives": 127, "smallest_dissipation": 0.01}
    positive = np.array([1.0, 0.5, 0.5, 0.5])
    negative = np.array([0.9, 0.6, 0.95, 2.0])
    assert ratio_maps.unvisited("met", met, positive, negative, settings).tolist() == [True, False, False, True]
    gap = math.cos(0.5 + arccon["angle"]) - 0.05 * math.log(127 * 99)  # here the dissipation is 1 / 100
    edge = math.acos(gap)
    at = np.array([edge - 1e-6, edge + 1e-6])
    assert ratio_maps.unvisited("arccon", arccon, np.array([0.5, 0.5]), at, settings).tolist() == [False, True]


# scaling_factor


def test_scaling_factor_at_points_by_hand():
    half = 2 / math.log(16)  # exp(2 / tau) = 16
    settings = {"points": 2, "temperature": [half, 1.0], "negatives": [16, 48]}
    frame = scaling_factor.compute({**settings, "curves": {"temperature": [half], "negatives": [16, 240]}})
    left = frame[frame["view"] == "temperature"].set_index(["temperature", "negatives"])["factor"]
    assert left[half, 16] == pytest.approx(1 / 2)
    assert left[half, 240] == pytest.approx(15 / 16)
    assert left[1.0, 16] == pytest.approx(16 / (16 + math.e**2))
    right = frame[frame["view"] == "negatives"].set_index("negatives")["factor"]
    assert right.to_dict() == pytest.approx({16: 1 / 2, 48: 3 / 4})


# sketches


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


# all figures


PANELS = {
    ("nie2023", "figure_2a"): 6,
    ("nie2023", "figure_2b"): 4,
    ("nie2023", "figure_4"): 10,
    ("li2024", "figure_3"): 0,
    ("li2024", "figure_4"): 4,
    ("li2024", "figure_12"): 6,
}


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_figures_draw_from_their_csv_alone(paper, figure, tmp_path):
    entry = definition(paper, figure)
    thin = {name: few for name, few in (("points", 6), ("batches", 30)) if name in entry["settings"]}
    settings = {**entry["settings"], **thin, "footnote": "Thinned to a few points."}
    module = importlib.import_module(f"clrepro.simulation.{entry['study']}")
    frame = module.compute(settings)
    pd.testing.assert_frame_equal(frame, module.compute(settings), check_exact=True)
    frame.to_csv(tmp_path / "figure.csv", index=False, float_format="%.7g")
    with plotting.style():
        drawn = module.draw(pd.read_csv(tmp_path / "figure.csv"), settings)
    assert "Thinned to a few points." in drawn.get_supxlabel()
    drawn.savefig(tmp_path / "figure.png", dpi=30)
    assert sum(bool(axis.get_title(loc="left")) for axis in drawn.axes) == PANELS.get((paper, figure), 2)
    assert entry["shows"]
