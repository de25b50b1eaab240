"""Bars beside published heights."""

import pytest

from clrepro.report import trained
from clrepro.report.trained import bars
from clrepro.report.trained.notes import Notes
from tests.report.trained.made import NOTES, drawn, made, mean


def test_bars_stand_beside_published_heights_and_name_what_is_missing(demo):
    frame = made(demo.figure("li2024/figure_1"))
    figure, _ = drawn(demo, "li2024/figure_1", frame[(frame["series"] != "mV") | (frame["backbone"] != "BERT_base")])
    axis = figure.axes[0]
    scores = frame[(frame["statistic"] == "sts/Avg") & (frame["backbone"] == "BERT_base")]
    expected = [mean(scores, series=f"{prefix}{name}") for name in bars.PLAIN for prefix in ("", "m")][:-1]
    assert [bar.get_height() for bar in axis.patches] == pytest.approx(expected)
    assert [text.get_text() for text in axis.texts].count("missing") == 1
    # printed in version 1's table 3, and of the plain ones in version 2's table 5
    assert bars.published_heights("li2024/table_3_v1", "BERT_base") == {
        "mMHE": 78.40, "MHE": 62.62, "mMHS": 78.27, "MHS": 72.73, "mB": 78.34, "B": 65.60, "mV": 78.24, "V": 65.53,
    }  # fmt: skip
    diamonds = [line.get_ydata()[0] for line in axis.lines if line.get_marker() == "D"]
    assert sorted(diamonds) == sorted(bars.published_heights("li2024/table_3_v1", "BERT_base").values())
    assert any("does not compare" in text.get_text() for text in figure.legends[0].get_texts())


def test_gains_stand_above_the_bars_of_a_batch_size_and_published_heights_at_paper_scale_only(demo):
    figure, frame = drawn(demo, "huang2023/figure_3")
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_xticklabels()] == ["8", "16", "32", "64", "128"]
    heights = [[mean(frame, series=f"{name}, small images", batch_size=size, statistic="linear/top1")
                for name in ("SimCLR", "MACL")] for size in (8, 16, 32, 64, 128)]  # fmt: skip
    assert [bar.get_height() for bar in axis.patches] == pytest.approx([height for pair in heights for height in pair])
    assert [text.get_text() for text in axis.texts] == [f"{macl - simclr:+.1f}" for simclr, macl in heights]

    def diamonds(notes):
        return {tuple(line.get_data()[1]) for line in trained.draw("huang2023/figure_3", frame, notes).axes[0].lines
                if line.get_marker() == "D"}  # fmt: skip

    assert diamonds(NOTES) == set()
    assert len(diamonds(Notes(True, ("Demo scale.",)))) == 4  # of batches 64 and 128, which the paper has as well
    assert bars.published_accuracies("huang2023/figure_3")["MACL", 1024] == 66.5
