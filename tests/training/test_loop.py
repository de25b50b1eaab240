"""The loop: resume to the bit, selection, divergence."""

import os
import signal

import numpy as np
import pytest

from clrepro import objectives
from clrepro.errors import Interrupted, UserError
from clrepro.modalities.sentence.training import SentenceWorkload
from clrepro.training import loop
from tests.modalities.sentence.trainings import train


def test_an_interrupted_training_ends_in_the_same_files_to_the_bit(tiny, demo_tasks, tmp_path):
    """Best weights, checkpoints kept on request, and statistics."""
    changes = dict(held_out=0.2, checkpoint_every=7)
    whole = train(tiny, demo_tasks, tmp_path / "whole", **changes)
    steps = 0
    objective = objectives.make("infonce")

    def interrupted(view1, view2):
        nonlocal steps
        steps += 1
        if steps == 12:
            os.kill(os.getpid(), signal.SIGTERM)
        return objective(view1, view2)

    with pytest.raises(Interrupted, match="stopped at step 12 of 15"):
        train(tiny, demo_tasks, tmp_path / "parts", interrupted, **changes)
    assert not (tmp_path / "parts" / "statistics.json").exists()
    parts = train(tiny, demo_tasks, tmp_path / "parts", **changes)
    assert parts["history"] == whole["history"]
    files = {file.relative_to(tmp_path / "whole") for file in (tmp_path / "whole").rglob("*.safetensors")}
    assert {str(file.parent) for file in files} == {
        f"best-{whole['best_step']}",
        "checkpoints/step-7",
        "checkpoints/step-14",
    }
    for file in (*files, "statistics.json"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes()


def test_the_best_checkpoint_is_kept_not_the_last(tiny, demo_tasks, tmp_path, monkeypatch):
    scores = iter([0.2, 0.9, 0.4])
    monkeypatch.setattr(SentenceWorkload, "select", lambda self, vectors, device: {"stsb_dev": next(scores)})
    kept = []
    monkeypatch.setattr(SentenceWorkload, "export", lambda self, folder: kept.append(folder.mkdir()) or None)
    result = train(tiny, demo_tasks, tmp_path)
    assert (result["best_step"], result["best_score"]) == (10, 0.9)
    assert [entry["step"] for entry in result["history"]] == [5, 10, 15]
    assert len(kept) == 2


def test_the_learning_rate_falls_linearly_to_zero(tiny, demo_tasks, tmp_path):
    history = train(tiny, demo_tasks, tmp_path)["history"]
    assert [entry["learning_rate"] for entry in history] == pytest.approx([1e-3 * (1 - s / 19) for s in (5, 10, 15)])


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        (lambda loss: loss * float("nan"), "step 7: the objective is nan on finite embeddings"),
        (lambda loss: loss + 0 * (loss - loss.detach()).abs().sqrt(), "step 7: the gradient norm is nan"),
    ],
)
def test_divergence_names_the_step_and_the_cause(tiny, demo_tasks, tmp_path, spoil, cause):
    steps = 0
    objective = objectives.make("infonce")

    def spoiled(view1, view2):
        nonlocal steps
        steps += 1
        loss = objective(view1, view2)
        return spoil(loss) if steps == 7 else loss

    with pytest.raises(loop.Diverged, match=cause):
        train(tiny, demo_tasks, tmp_path, spoiled, evaluate_every=19)


def test_a_batch_larger_than_the_corpus_is_refused(tiny, demo_tasks, tmp_path):
    with pytest.raises(UserError, match="batch_size 601 is larger than the corpus of 600 sentences"):
        train(tiny, demo_tasks, tmp_path, batch_size=601)


def test_half_precision_without_a_gpu_is_refused_before_the_first_step(tiny, demo_tasks, tmp_path):
    with pytest.raises(UserError, match="precision fp16 needs a GPU, the device is 'cpu'"):
        train(tiny, demo_tasks, tmp_path, precision="fp16")


def test_bf16_trains(tiny, demo_tasks, tmp_path):
    assert np.isfinite(train(tiny, demo_tasks, tmp_path, precision="bf16", epochs=0.2)["best_score"])
