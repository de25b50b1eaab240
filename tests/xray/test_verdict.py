"""The x-ray in words."""

from dataclasses import replace

import pytest

from clrepro.objectives import make
from clrepro.xray.picture import xray
from clrepro.xray.subject import subject

VERDICTS = [
    (
        "mpt",
        "released",
        {"margin": 0.3},
        ["rows of view 2", "beyond a cosine gap of 0.30", "holds 100 %", "ratio: 1.0"],
    ),
    ("infonce", None, {}, ["fits the paradigm: yes", "dissipates: yes, gradually", "at tau 0.05", "ratio: 1.0"]),
    ("mhe", "written", {}, ["dissipates: no"]),
    ("barlow_twins", "original", {}, ["fits the paradigm: no", "weights have both signs"]),
    ("infonce", None, {"temperature": 0.005}, ["dissipates: yes, gradually, half of it beyond a cosine gap of 0.0"]),
    ("mpt", "written", {"margin": -0.2}, ["beyond a cosine gap of -0.20", "no anchor whose positive leads"]),
]


@pytest.mark.parametrize(("name", "variant", "params", "expected"), VERDICTS)
def test_verdicts_say_what_is_known_of_the_objectives(name, variant, params, expected):
    text = "\n".join(xray(subject(name, variant, params)).verdict)
    for sentence in expected:
        assert sentence in text


def test_a_loss_of_the_wrong_sign_is_called_reversed():
    built = subject("infonce", None, {})
    text = "\n".join(xray(replace(built, build=lambda **_: lambda a, b: -make("infonce")(a, b))).verdict)
    assert "sign: REVERSED" in text
    assert "lemma 1: 0 % of the anchors" in text
