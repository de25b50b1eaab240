"""Saved states that are not what they should be."""

import os
import re
import signal

import pytest
import torch

from clrepro import objectives
from clrepro.errors import Interrupted
from clrepro.modalities.sentence.training import SentenceWorkload
from clrepro.paths import read_json, write_json
from clrepro.training import progress, saved
from tests.faults.stopping import load_best, stops_at
from tests.modalities.sentence.trainings import train, weights


@pytest.fixture
def parts(tiny, demo_tasks, tmp_path, monkeypatch):
    """A whole training, and one that was stopped at step 14 with states saved at steps 11 and 14."""
    whole = train(tiny, demo_tasks, tmp_path / "whole")
    monkeypatch.setattr(progress.Progress, "due", lambda self: self.step % 11 == 0)
    state = tmp_path / "parts"
    with pytest.raises(Interrupted, match="stopped at step 14 of 19"):
        train(tiny, demo_tasks, state, stops_at(14, signal.SIGUSR1))
    assert [path.name for path in saved.saved_states(state)] == ["saved-11", "saved-14"]

    def end():
        seen = []
        objective = objectives.make("infonce")
        result = train(tiny, demo_tasks, state, lambda a, b: seen.append(1) or objective(a, b))
        assert result["history"] == whole["history"]
        one, two = weights(tmp_path / "whole"), load_best(state, result["best_step"])
        assert all(torch.equal(one[name], two[name]) for name in one)
        return 19 - len(seen), result["best_step"]

    return state, end


def truncate(saved):
    os.truncate(saved / "state.pt", 1000)


def flip(saved):
    content = bytearray((saved / "state.pt").read_bytes())
    content[len(content) // 2] ^= 1
    (saved / "state.pt").write_bytes(content)


def make_foreign(saved):
    about = read_json(saved / "about.json")
    write_json(saved / "about.json", {**about, "run": "abcdef01-seed7-0123456789abcdef-01234567"})


def lose_checkpoint(saved):
    about = read_json(saved / "about.json")
    write_json(saved / "about.json", {**about, "best_step": 13})


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (truncate, r"is truncated: state.pt has 1,000 of [\d,]+ bytes"),
        (flip, "is damaged: the sha256 of state.pt is not the recorded one"),
        (make_foreign, "is foreign: it belongs to step 14 of abcdef01-seed7-0123456789abcdef-01234567"),
        (lose_checkpoint, "names the checkpoint best-13, which is missing"),
        (lambda saved: (saved / "about.json").write_text('{"form'), "cannot be read"),
        (lambda saved: (saved / "about.json").write_text('{"format": "x"}'), "is no 'clrepro training state 2'"),
    ],
)
def test_a_spoilt_state_is_refused_by_name_and_the_one_before_it_used(parts, capfd, spoil, reason):
    state, end = parts
    spoil(state / "saved-14")
    start, best = end()
    assert start == 11
    said = capfd.readouterr().err
    (line,) = [line for line in said.splitlines() if "not used" in line]
    assert re.search(f"saved-14 {reason}", line)
    assert (state / "refused-saved-14").is_dir()
    saved.finish(state, best)
    assert {path.name for path in state.iterdir()} == {f"best-{best}", "statistics.json"}


def test_without_any_good_state_training_starts_anew_and_says_so(parts, capfd):
    state, end = parts
    truncate(state / "saved-14")
    (state / "saved-11" / "state.pt").unlink()
    assert end()[0] == 0
    assert f"{state} has no state that can be used: this training starts anew" in capfd.readouterr().err


def test_the_checkpoint_that_the_older_state_names_stays_until_none_names_it(tiny, demo_tasks, tmp_path, monkeypatch):
    scores = iter([0.2, 0.9, 0.95])
    monkeypatch.setattr(SentenceWorkload, "select", lambda self, vectors, device: {"stsb_dev": next(scores)})
    monkeypatch.setattr(progress.Progress, "due", lambda self: True)
    kept = {}
    save = progress.Progress.save

    def watched(self, generators):
        save(self, generators)
        kept[self.step] = {folder.name for folder in tmp_path.glob("best-*")}

    monkeypatch.setattr(progress.Progress, "save", watched)
    train(tiny, demo_tasks, tmp_path)
    assert kept[5] == kept[9] == {"best-5"}
    assert kept[10] == {"best-5", "best-10"}  # the state of step 9 still names the older one
    assert kept[11] == {"best-10"}
    assert kept[15] == {"best-10", "best-15"}


def test_saves_are_rare_when_they_are_dear_but_never_further_apart_than_ten_minutes(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    made = progress.Progress(tmp_path, None, None, None, None)
    for cost, wait in ((0.1, 60), (5, 100), (300, 600)):
        made.cost = cost
        clock[0] = wait - 0.1
        assert not made.due()
        clock[0] = wait + 0.1
        assert made.due()
