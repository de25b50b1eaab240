"""The toy network on three noisy lines: its metrics on exact cases, and what a run holds."""

import numpy as np
import pandas as pd
import pytest
import torch

from clrepro import plotting
from clrepro.catalogue import papers
from clrepro.catalogue.simulations import NUMBERS
from clrepro.errors import UserError
from clrepro.objectives._anchors import orthonormal_anchors
from clrepro.simulation import rank_one

CLUSTERS = np.repeat(np.arange(3), 2)
LINES = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
LOSSES = ("InfoNCE", "DCL", "VICReg", "BT")
TINY = {"seeds": [3, 1], "samples": 10, "steps": 3}


@pytest.fixture(scope="module")
def settings():
    return {**papers.load("oar2024", "experiments")["simulations"]["table_2"]["settings"], **TINY}


@pytest.fixture(scope="module")
def frame(settings):
    return rank_one.compute(settings)


@pytest.mark.parametrize(
    ("embeddings", "effective", "concentrated"),
    [
        (LINES, 3, 3),
        (np.outer([1, -1, 1, 1, -1], [0.6, 0, 0.8]), 1, 1),
        (np.array([[1.0, 0, 0]] * 9 + [[0, 1.0, 0]]), (4 / 3) ** (3 / 4) * 4 ** (1 / 4), 2),  # singular values 3 and 1
        (np.diag([95.0, 5, 0]), 0.95**-0.95 * 0.05**-0.05, 1),  # just 95 %
        (np.diag([94.0, 5, 1]), 0.94**-0.94 * 0.05**-0.05 * 0.01**-0.01, 2),
    ],
)
def test_ranks_of_known_singular_values(embeddings, effective, concentrated):
    assert rank_one.effective_rank(embeddings) == pytest.approx(effective, rel=1e-9)
    assert rank_one.rank_95(embeddings) == concentrated


def test_axes_are_lines():
    assert rank_one.axes_angle(LINES, CLUSTERS) == pytest.approx(np.pi / 2)
    turned = np.array([np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3), 0])  # as a line, pi/3 from the first
    lines = np.array([LINES[0], LINES[1], turned, -turned, LINES[4], LINES[5]])
    assert rank_one.axes_angle(lines, CLUSTERS) == pytest.approx((np.pi / 3 + np.pi / 2 + np.pi / 2) / 3)
    fused = np.outer([1, -1, -1, -1, 1, 1], [0.6, 0, 0.8])
    assert rank_one.axes_angle(fused, CLUSTERS) == pytest.approx(0, abs=1e-7)
    dead = np.where(CLUSTERS[:, None] == 1, 0, LINES)
    assert np.isnan(rank_one.axes_angle(dead, CLUSTERS))


def test_the_probe_separates_points_and_no_fused_ones():
    clusters = np.tile(np.arange(3), 8)
    known = np.arange(24) < 12
    assert rank_one.probe_accuracy(np.eye(3)[clusters], clusters, known) == 1
    assert rank_one.probe_accuracy(np.ones((24, 3)), clusters, known) == pytest.approx(1 / 3)


def test_claims_know_the_numbers_of_the_study():
    assert NUMBERS["rank_one"] == rank_one.METRICS


def test_diverged_embeddings_have_no_numbers():
    numbers = rank_one.measure(np.full((6, 3), np.nan), CLUSTERS, np.ones(6, bool))
    assert list(numbers) == list(rank_one.METRICS)
    assert np.isnan(list(numbers.values())).all()


def test_points_lie_on_orthogonal_lines_and_half_of_each_is_known():
    points, clusters, known = rank_one.sample(5, 8, noise=0.0)
    assert rank_one.axes_angle(points.numpy(), clusters) == pytest.approx(np.pi / 2)
    for cluster in range(3):
        own = points.numpy()[clusters == cluster]
        assert np.linalg.matrix_rank(own) == 1
        assert np.linalg.norm(own, axis=1).max() <= 1
        assert known[clusters == cluster].sum() == 4


def test_heavy_anchors_draw_their_clusters(settings):
    chosen = {**settings, "samples": 20, "labelled": 0.5, "learning_rate": 0.01, "steps": 150}
    points, clusters, _ = rank_one.sample(0, 20, chosen["noise"])
    model = rank_one.train(settings["losses"]["InfoNCE"], 1000.0, 0, chosen)
    cosines = rank_one.unit(model(points)) @ orthonormal_anchors(3, 3, 0).numpy().T
    assert (cosines.argmax(1) == clusters).mean() > 0.8
    assert cosines[np.arange(60), clusters].mean() > 0.8


def test_every_loss_seed_and_metric_has_a_number(frame, settings):
    numbers = frame[frame["kind"] == "number"]
    panels = [("before", "raw", 0), ("before", "untrained", 0)]
    for series, weights in (("moderate", [0, 1]), ("strong", [0, 1, 100]), ("rectified", [0, 1])):
        for weight in weights:
            panels += [
                (series, f"{'OAR-' * bool(weight)}{loss}", weight) for loss in ("InfoNCE", "DCL", "VICReg", "BT")
            ]
    expected = {(*panel, seed, metric) for panel in panels for seed in (3, 1) for metric in rank_one.METRICS}
    keys = list(numbers[["series", "loss", "anchor_weight", "seed", "metric"]].itertuples(index=False, name=None))
    assert set(keys) == expected
    assert len(keys) == len(expected)
    points = frame[frame["kind"] == "point"]
    assert set(points["seed"]) == {3}
    assert len(points) == 30 * len(panels)
    lengths = np.linalg.norm(points[["x", "y", "z"]].to_numpy(float), axis=1)
    assert (np.isclose(lengths, 1) | (lengths == 0)).all()


def test_nothing_but_the_settings_counts(frame, settings):
    torch.manual_seed(99)
    torch.set_num_threads(2)
    alone = {**settings, "series": {"strong": settings["series"]["strong"]}}
    again = rank_one.compute(alone)
    assert torch.get_num_threads() == 2
    expected = frame[frame["series"].isin(["before", "strong"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, expected, check_exact=True)
    assert not again.equals(rank_one.compute({**alone, "seeds": [4, 1]}))


def test_the_picture_has_a_sphere_for_each_loss(frame, settings, tmp_path):
    figure = rank_one.draw(frame, {**settings, "footnote": "steps thinned"})
    spheres = [axis for axis in figure.axes if axis.name == "3d"]
    assert len(spheres) == 2 + 4 * (2 + 3 + 2)
    titles = [axis.get_title() for axis in spheres]
    assert titles[:3] == ["raw input", "untrained network", "InfoNCE"]
    assert titles.count("OAR × 100 + BT") == 1
    assert figure.get_supxlabel() == "steps thinned"
    raw = frame[(frame["loss"] == "raw") & (frame["metric"] == "effective_rank")]["value"]
    assert f"rank {raw.mean():.2f} ± {raw.std():.2f}" in spheres[0].texts[0].get_text()
    files = plotting.save(figure, tmp_path / "table_2")
    assert all(file.stat().st_size > 10_000 for file in files)


@pytest.mark.parametrize("change", [{"output": "reluu"}, {"optimizer": "adamm"}])
def test_an_unknown_choice_is_refused(settings, change):
    with pytest.raises(UserError, match="Did you mean"):
        rank_one.train(settings["losses"]["BT"], 0, 0, {**settings, "learning_rate": 0.1, **change})
