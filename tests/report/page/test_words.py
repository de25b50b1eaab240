"""Numbers, durations and addresses in words."""

import pytest

from clrepro.report.page import shaping, verdicts, words
from clrepro.report.page.contract import complete


def test_the_answer_counts_in_words():
    paper = {
        "claims": {"holds": 12, "undecided": 3, "fails": 1},
        "verdicts": {"not comparable": 1200, "missing": 7, "not a result": 99},
        "theory": {"fails": 2, "holds": 5, "holds up to a factor": 1, "holds on the tangent plane": 2},
    }
    check = {"paper": "a", "where": "(1)", "statement": "s", "form": "printed", "verdict": "fails"}
    fixed = check | {"form": "corrected", "verdict": "holds"}
    made = complete({"papers": [paper], "theory": [check, fixed, check | {"where": "(2)"}]})
    assert [sentence for sentence, _ in verdicts.answer(made)] == [
        "12 of the papers' 16 claims hold; 1 fails and 3 are undecided.",
        "1,200 of the papers' 1,207 printed results are measured here but not comparable; 7 have no run.",
        "5 of 10 checks of their mathematics hold; 3 hold with a reservation and 2 fail. "
        "1 of the failures is a misprint whose corrected form holds.",
    ]


def test_the_bound_is_that_of_the_contrast_that_the_estimate_comes_from():
    strict, loose = {"estimate": 0.4, "low": 1, "high": None}, {"estimate": 2.0, "low": 0, "high": 5}
    assert shaping.bound({"estimate": 2.0, "evidence": [strict, loose]}) == (0, 5)
    assert shaping.bound({"estimate": 9.0, "evidence": [strict, loose]}) == (1, None)
    assert shaping.bound({"estimate": None, "evidence": []}) == (None, None)


def test_addresses_are_those_of_the_script():
    """encodeURIComponent leaves letters, digits and -_.!~*'() alone, and the script keeps slashes."""
    for character in map(chr, range(32, 127)):
        kept = character.isalnum() or character in "-_.!~*'()/"
        assert words.address(character) == (character if kept else f"%{ord(character):02X}")
    assert words.address("τ") == "%CF%84"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0, "0.0 s"), (9.94, "9.9 s"), (99.4, "99 s"), (100, "1.7 min"), (3600, "60 min"), (86400, "24 h")],
)
def test_durations_are_read_at_a_glance(seconds, text):
    assert words.duration(seconds) == text


def test_numbers_carry_their_sign_and_the_papers_decimals():
    assert words.number(-1.25, 1) == "−1.3"  # as toFixed does in the script
    assert words.number(0.02789, 4) == "0.0279"
    found = [words.short(value) for value in (62.456, 62.5, -0.125, 0.0, 0.01234, 3e-5, 123456.7)]
    assert found == ["62.46", "62.50", "−0.13", "0.00", "0.0123", "3e−05", "1.23e+05"]
    assert words.signed(0.154, 2) == "+0.15"
    assert words.signed(-0.154, None) == "−0.15"
    assert [words.named(name) for name in ("table_3_v1", "figure_1a", "table_B4")] == [
        "Table 3 (v1)",
        "Figure 1a",
        "Table B4",
    ]
