"""Embeddings in the plane, singular values and affinities."""

from itertools import product

import numpy as np
import pytest

from tests.report.trained.made import SEEDS, drawn, footnote, mean


def test_points_stand_at_their_places_in_the_colour_of_their_class_and_the_method_is_named(demo):
    figure, frame = drawn(demo, "huang2023/figure_4")
    panels = [axis for axis in figure.axes if axis.collections]
    assert len(panels) == len(SEEDS) * 2  # of the two losses on small images: no ImageNet in the demo
    colours = []
    for axis, (seed, series) in zip(panels, product(SEEDS, dict.fromkeys(frame["series"])), strict=True):
        own = frame[(frame["seed"] == seed) & (frame["series"] == series)]
        expected = [own[own["statistic"] == name]["value"].tolist() for name in ("x", "y")]
        assert np.array_equal(axis.collections[0].get_offsets().T, expected)
        colours.append(axis.collections[0].get_facecolors())
        linear, centre = (mean(own, statistic=name) for name in ("linear/top1", "places/central_separability"))
        assert axis.get_title(loc="left") == f"{series.split(',')[0]}: linear {linear:.2f} %, centre {centre:.2f} %"
    assert all(np.array_equal(part, colours[0]) for part in colours)  # a class has one colour in all panels
    assert len(np.unique(colours[0], axis=0)) == 10
    assert footnote(figure).startswith("UMAP of the unit rows of 40 test images, 15 neighbours")


def test_singular_values_are_shares_of_the_largest_and_affinities_those_of_one_seed(demo):
    _, frame = drawn(demo, "oar2024/figure_3")
    lost = (frame["series"] == "InfoNCE") & (frame["learning_rate"] == 1)
    figure, _ = drawn(
        demo, "oar2024/figure_3", frame[~(lost & frame["statistic"].isin(["singular_value", "affinity"]))]
    )
    values, affinity, _, lower, empty, _ = figure.axes[:6]
    own = frame[(frame["series"] == "InfoNCE") & (frame["learning_rate"] == 0.01)]
    parts = [own[(own["statistic"] == "singular_value") & (own["seed"] == seed)]["value"] for seed in SEEDS]
    expected = np.mean([part.to_numpy() / part.max() for part in parts], axis=0)
    (line,) = [line for line in values.lines if str(line.get_label()).startswith("InfoNCE: r = ")]
    assert np.asarray(line.get_ydata(), float) == pytest.approx(expected)
    assert line.get_label() == "InfoNCE: r = {:.3g} ({:.3g})".format(
        *(mean(own, statistic=f"collapse/rank_of_{name}_raw") for name in ("squares", "values"))
    )
    square = own[(own["statistic"] == "affinity") & (own["seed"] == SEEDS[0])]["value"].to_numpy().reshape(5, 5)
    assert np.array_equal(affinity.images[0].get_array(), square)
    assert "InfoNCE: none, diverged" in [text.get_text() for text in lower.get_legend().get_texts()]
    assert [text.get_text() for text in empty.texts] == ["no embeddings: the training diverged"]
