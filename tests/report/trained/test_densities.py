"""Densities of angles, and the verdict on them."""

import pytest

from tests.report.trained.made import SEEDS, drawn, footnote, labelled, made, mean


def test_densities_have_area_one_and_end_in_all(demo):
    figure, frame = drawn(demo, "li2024/figure_5")
    x, y = labelled(figure.axes[1], "without dissipation")
    histogram = frame[(frame["statistic"] == "heldout_positive_cosine") & (frame["series"] == "without dissipation")]
    assert y == pytest.approx([mean(histogram, bin=middle) / 0.04 for middle in x])
    assert y.sum() * 0.04 == pytest.approx(1)
    frame = made(demo.figure("li2024/figure_8a"))
    few = (frame["statistic"] == "heldout_ratio_kept@1") & (frame["series"] == "baseline")
    frame.loc[few, "value"] = 0.015
    figure, _ = drawn(demo, "li2024/figure_8a", frame)
    above, below = figure.axes[1], figure.axes[3]  # after training
    r, share = labelled(below, "λ = 1: 1.5 % kept")
    assert "λ = 1: 1.5 % kept" not in {line.get_label() for line in above.lines}
    part = frame[(frame["statistic"] == "heldout_ratio_lower@1") & (frame["series"] == "baseline")]
    assert share[13] == pytest.approx(part[part["bin"] < r[13]]["value"].sum() / len(SEEDS))
    assert (r[13], share[-1]) == pytest.approx((13 * 0.08, 1))


def test_the_verdict_on_angles_is_that_of_the_last_step(demo):
    frame = made(demo.figure("li2024/figure_9"))
    for end, value in (("std", 0.2), ("normal_distance", 0.01), ("skewness", -0.5), ("excess_kurtosis", 1.25)):
        rows = (frame["statistic"] == f"heldout_negative_angle_{end}") & (frame["step"] == 60)
        frame.loc[rows, "value"] = value
    figure, _ = drawn(demo, "li2024/figure_9", frame)
    said = "σ_neg = 0.200 (assumed 0.10), close to normal (D = 0.010, skewness -0.50, excess kurtosis 1.25)."
    assert footnote(figure).count(said) == 2  # of both series
    assert [axis.get_ylabel() for axis in figure.axes] == ["μ (rad)", "σ (rad)", "D (0 to 1)"]
    older = frame[~frame["statistic"].str.contains("skewness|kurtosis|normal_distance")]
    figure, _ = drawn(demo, "li2024/figure_9", older)
    assert "not recorded" in {text.get_text() for text in figure.axes[2].texts}
    assert "σ_neg = 0.200 (assumed 0.10)." in footnote(figure)
