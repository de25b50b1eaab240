"""Scores and shares over a parameter."""

import pytest

from tests.report.trained.made import TEMPERATURES, drawn, footnote, labelled, mean


def test_sweeps_show_the_selected_and_the_last_score(demo):
    figure, frame = drawn(demo, "li2024/figure_6")
    assert [axis.get_xscale() for axis in figure.axes] == ["linear", "log", "linear"]
    part = frame[frame["series"] == "temperature"]
    taus, values = labelled(figure.axes[1], "last evaluation")
    assert taus.tolist() == sorted(part["temperature"].unique())
    last = part[part["step"] == 60]
    assert values == pytest.approx([100 * mean(last, statistic="stsb_dev", temperature=tau) for tau in taus])


def test_shares_over_temperatures_before_and_after(demo):
    figure, frame = drawn(demo, "li2024/figure_7")
    for axis, kind in zip(figure.axes, ("weight", "share"), strict=True):
        for label, series, step in (("before training", "untrained", 0), ("after training (baseline)", "baseline", 60)):
            taus, values = labelled(axis, label)
            part = frame[(frame["series"] == series) & (frame["step"] == step)]
            assert taus.tolist() == list(TEMPERATURES)
            assert values == pytest.approx([mean(part, statistic=f"heldout_hardest_{kind}@{tau:g}") for tau in taus])
        assert f"{mean(frame, series='untrained', statistic=f'heldout_hardest_{kind}@0.05'):.2f}" in footnote(figure)
