"""Points of alignment, uniformity and scores against numbers made independently."""

import numpy as np
import pytest

from clrepro.report.trained import scatter
from tests.report.trained.made import SEEDS, drawn, footnote, labelled, made, mean


def test_points_of_alignment_and_uniformity_are_those_of_the_selected_checkpoint(demo):
    figure, frame = drawn(demo, "nie2023/figure_1a")
    for axis, statistic in zip(figure.axes, scatter.DEFINITIONS, strict=False):
        points = [tuple(dots.get_offsets()[0]) for dots in axis.collections if dots.get_gid() == "selected"]
        at = frame[frame["step"] == 40]
        expected = [
            (mean(run, statistic="dev_uniformity"), mean(run, statistic=statistic))
            for _, run in at.groupby(["series", "seed"], sort=False)
        ]
        np.testing.assert_allclose(sorted(points), sorted(expected))
        clouds = [dots for dots in axis.collections if dots.get_gid() != "selected"]
        scores = frame[(frame["statistic"] == "stsb_dev") & (frame["step"] > 0)]["value"] * 100
        assert sorted(np.concatenate([dots.get_array() for dots in clouds])) == pytest.approx(sorted(scores))
    assert "steps away" not in footnote(figure)
    average = mean(frame, statistic="sts/Avg", series="L_dcl")
    assert f"L_dcl {average:.2f}" in footnote(figure)
    between = frame.assign(step=frame["step"].where(frame["statistic"] != "sts/Avg", 45))
    figure, _ = drawn(demo, "nie2023/figure_1a", between)
    assert "at most 5 steps away" in footnote(figure)


def test_the_image_is_cut_in_thirds_whose_mean_scores_are_said(demo):
    frame = made(demo.figure("nie2023/figure_1a"), seeds=SEEDS[:1])
    way = {20: (-1.0, 0.1, 0.30), 40: (-2.0, 0.2, 0.50), 60: (-3.0, 0.3, 0.40)}  # bottom right to top left
    for step, values in way.items():
        for name, value in zip(("dev_uniformity", "dev_alignment", "stsb_dev"), values, strict=True):
            frame.loc[(frame["step"] == step) & (frame["statistic"] == name), "value"] = value
    figure, _ = drawn(demo, "nie2023/figure_1a", frame)
    assert "L_align as written: bottom right 30.0, middle 50.0, top left 40.0." in footnote(figure)
    dotted = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    # places run from -0.5 + ... : between (-1, 0.1) and (-3, 0.3) the cuts cross x = -2 at y = 0.2 -+ 0.0667
    crossing = sorted(np.interp(-2.0, *line.get_data()) for line in dotted)
    assert crossing == pytest.approx([0.2 - 0.2 / 3, 0.2 + 0.2 / 3])


def test_scores_stand_at_their_last_gap_and_carry_their_margin(demo):
    figure, frame = drawn(demo, "nie2023/figure_3a")
    margins = sorted(frame["margin"].unique())
    gaps = frame[(frame["statistic"] == "train_distance_gap") & (frame["step"] == 60)]
    for label, score in (("STS (Spearman × 100)", "sts/Avg"), ("transfer (accuracy, %)", "transfer/Avg")):
        x, y = labelled(figure.axes[0], label)
        assert x == pytest.approx([mean(gaps, margin=margin) for margin in margins])
        assert y == pytest.approx([mean(frame, margin=margin, statistic=score) for margin in margins])
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {f"{margin:g}" for margin in margins} <= texts
