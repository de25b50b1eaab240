"""Curves over steps against numbers made independently."""

import pytest

from tests.report.trained.made import SEEDS, STEPS, drawn, footnote, labelled, made, mean


def test_losses_are_means_over_seeds_where_all_seeds_have_a_value(demo):
    frame = made(demo.figure("nie2023/figure_1b"))
    lost = (frame["statistic"] == "dev_alignment") & (frame["seed"] == 43) & (frame["step"] == 20)
    figure, _ = drawn(demo, "nie2023/figure_1b", frame[~lost])
    middle = figure.axes[1]
    steps, values = labelled(middle, "STS-B dev")
    assert steps.tolist() == [0, 40, 60]
    assert values == pytest.approx([mean(frame, statistic="dev_alignment", step=step) for step in steps])
    steps, values = labelled(middle, "STS-B dev, as released")
    assert values == pytest.approx([mean(frame, statistic="dev_alignment_released", step=step) for step in STEPS])
    assert len(middle.lines) == 3 * (1 + len(SEEDS))
    assert "dotted L_align over pairs of exactly 5" in footnote(figure)
    assert "in batches of 38" in footnote(figure)
    single, _ = drawn(demo, "nie2023/figure_1b", frame[frame["seed"] == 42])
    assert [len(axis.lines) for axis in single.axes] == [2, 3, 2]
    assert "single seeds" not in footnote(single)


def test_the_loss_that_section_4_1_speaks_of_is_said(demo):
    figure, frame = drawn(demo, "nie2023/figure_1d")
    first, last = (mean(frame, statistic="train_loss", step=step) for step in (STEPS[0], STEPS[-1]))
    assert f"on training batches: {first:.2f} first, {last:.2f} last." in footnote(figure)
    assert "optimised loss itself" not in footnote(drawn(demo, "nie2023/figure_1c")[0])


def test_curves_are_named_at_their_ends(demo):
    figure, frame = drawn(demo, "nie2023/figure_3b")
    (axis,) = figure.axes
    named = {text.get_text(): text.xy for text in axis.texts}
    gaps = frame[frame["statistic"] == "train_distance_gap"]
    assert list(named) == ["L_cl", "L_a&u", "L_dcl", "L_dcl+", "L_mpt", "L_met", "L_mat"]
    for series, (step, value) in named.items():
        assert (step, value) == pytest.approx((60, mean(gaps, series=series, step=60)))
    assert len({line.get_marker() for line in axis.lines if line.get_marker() != "None"}) == 7


def test_ratios_have_a_line_at_one_and_the_smallest_in_words(demo):
    figure, frame = drawn(demo, "li2024/figure_8b")
    (axis,) = figure.axes
    assert any(list(line.get_ydata()) == [1, 1] for line in axis.lines)
    own = frame[(frame["series"] == "met") & (frame["statistic"] == "heldout_met_ratio")]
    assert f"MET {own['value'].min():.2f}" in footnote(figure)
    _, values = labelled(axis, "MET")
    assert values == pytest.approx([mean(own, step=step) for step in STEPS])


def test_losses_as_sums_and_as_means_stand_in_rows_of_their_own(demo):
    figure, frame = drawn(demo, "oar2024/figure_2")
    sums, means = figure.axes[0], figure.axes[3]
    assert [axis.get_title(loc="left").split(" over")[0] for axis in (sums, means)] == [
        "losses and anchors as sums", "the same as means"
    ]  # fmt: skip
    series = set(frame["series"])
    assert {line.get_label() for line in sums.lines if not line.get_label().startswith("_")} == {
        name for name in series if "[mean]" not in name
    }
    assert {line.get_label() for line in means.lines if not line.get_label().startswith("_")} == {
        "InfoNCE", "OAR-InfoNCE", "BT", "OAR-BT"
    }  # fmt: skip
    for axis, name in ((sums, "InfoNCE"), (means, "InfoNCE [mean]")):
        expected = [
            mean(frame, series=name, statistic="finetune_10/top1", learning_rate=rate) for rate in (1e-4, 0.01, 1)
        ]
        assert labelled(axis, "InfoNCE")[1] == pytest.approx(expected)
    assert sums.get_ylim() == means.get_ylim()
