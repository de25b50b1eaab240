"""The loop: resume to the bit, selection, divergence, and checkpoints that the ecosystem loads."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from clrepro import objectives
from clrepro.errors import Interrupted, UserError
from clrepro.training import loop
from clrepro.training.sentence import SentenceWorkload, train_encoder

SETTINGS = dict(
    pooling="cls", head="tanh", head_at_selection=True, freeze_embeddings=False, dropout=None, batch_size=16,
    learning_rate=1e-3, epochs=0.5, evaluate_every=5, max_length=16, precision="fp32", weight_decay=0.0, clip=1.0,
)  # fmt: skip


def train(tiny, demo_tasks, state, objective=None, **changes):
    folder, model, _ = tiny
    with loop.StopFlag() as stop:
        return run_training(folder, model, demo_tasks, state, stop, objective, changes)


def run_training(folder, model, demo_tasks, state, stop, objective, changes):
    return train_encoder(
        objective or objectives.make("infonce"), {**SETTINGS, **changes}, 42,
        tokens=folder, backbone=model, tasks=demo_tasks, device="cpu", state=state, stop=stop,
    )  # fmt: skip


def weights(state):
    (best,) = state.glob("best-*")
    return load_file(best / "model.safetensors")


def test_an_interrupted_training_ends_in_the_same_weights_to_the_bit(tiny, demo_tasks, tmp_path, monkeypatch):
    whole = train(tiny, demo_tasks, tmp_path / "whole")
    steps = 0
    objective = objectives.make("infonce")

    def interrupted(view1, view2):
        nonlocal steps
        steps += 1
        if steps == 12:
            os.kill(os.getpid(), signal.SIGTERM)
        return objective(view1, view2)

    with pytest.raises(Interrupted, match="stopped at step 12 of 19"):
        train(tiny, demo_tasks, tmp_path / "parts", interrupted)
    parts = train(tiny, demo_tasks, tmp_path / "parts")
    assert parts["history"] == whole["history"]
    one, two = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_kill_9_in_the_middle_loses_only_what_came_after_the_last_save(tiny, demo_tasks, tmp_path):
    folder, model, _ = tiny
    code = f"""
import os, torch
torch.set_num_threads(1)
from pathlib import Path
from clrepro import objectives
from clrepro.training import loop
from clrepro.training.sentence import train_encoder
loop.SAVE_SECONDS = -1
objective, steps = objectives.make("infonce"), [0]
def fatal(a, b):
    steps[0] += 1
    if steps[0] == 13:
        os.kill(os.getpid(), 9)
    return objective(a, b)
train_encoder(fatal, {SETTINGS!r}, 42, tokens=Path({str(folder)!r}), backbone=Path({str(model)!r}), device="cpu",
              tasks=Path({str(demo_tasks)!r}), state=Path({str(tmp_path / "parts")!r}), stop=loop.StopFlag())
"""
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    whole = train(tiny, demo_tasks, tmp_path / "whole")
    seen = []
    objective = objectives.make("infonce")
    parts = train(tiny, demo_tasks, tmp_path / "parts", lambda a, b: seen.append(1) or objective(a, b))
    assert len(seen) == 9  # 19 steps, the last save was at step 10
    assert parts["history"] == whole["history"]
    one, two = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_truncated_state_is_refused_by_name(tiny, demo_tasks, tmp_path):
    (tmp_path / "progress.pt").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(UserError, match=r"progress\.pt cannot be read .* delete it to train this run anew"):
        train(tiny, demo_tasks, tmp_path)


def test_the_best_checkpoint_is_kept_not_the_last(tiny, demo_tasks, tmp_path, monkeypatch):
    scores = iter([0.2, 0.9, 0.4])
    monkeypatch.setattr(SentenceWorkload, "select", lambda self, device: {"stsb_dev": next(scores)})
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


def test_an_epoch_visits_every_sentence_once_and_the_two_views_differ(tiny, demo_tasks):
    folder, model, sentences = tiny
    from clrepro.data.corpus import TokenisedCorpus

    workload = SentenceWorkload(TokenisedCorpus(folder), model, {**SETTINGS, "batch_size": 64}, 1, demo_tasks)
    assert workload.steps_per_epoch == 10
    rows = np.concatenate([workload.order_of(step) for step in range(10)])
    assert sorted(rows) == list(range(len(sentences)))
    assert not np.array_equal(rows, np.concatenate([workload.order_of(step) for step in range(10, 20)]))
    workload.model.train()
    view1, view2 = workload.views(workload.model, 0, torch.device("cpu"))
    assert view1.shape == view2.shape == (64, 32)
    assert not torch.allclose(view1, view2)
    workload.model.eval()
    view1, view2 = workload.views(workload.model, 0, torch.device("cpu"))
    torch.testing.assert_close(view1, view2)  # without dropout both views are the same sentence


@pytest.mark.parametrize("pooling", ["cls", "avg"])
def test_checkpoints_load_in_transformers_and_sentence_transformers(tiny, demo_tasks, tmp_path, pooling):
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel, AutoTokenizer

    from clrepro.evaluation.embed import embed, tokenise_for_embedding
    from clrepro.models.sentence import SentenceEncoder

    train(tiny, demo_tasks, tmp_path, pooling=pooling)
    (folder,) = tmp_path.glob("best-*")
    sentences = [
        "A chef is slicing onions .",
        "Rain .",
        "The old captain wrote a very long letter in the harbour .",
    ]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ours = SentenceEncoder(folder, pooling)
    vectors = embed(ours, tokenise_for_embedding(ours, tokenizer, sentences), torch.device("cpu"))
    theirs = SentenceTransformer(str(folder), device="cpu").encode(sentences)
    np.testing.assert_allclose(vectors, theirs, atol=1e-5)
    plain = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        batch = tokenizer(sentences, padding=True, return_tensors="pt")
        hidden = plain(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    expected = hidden[:, 0] if pooling == "cls" else (hidden * mask).sum(1) / mask.sum(1)
    np.testing.assert_allclose(vectors, expected.numpy(), atol=1e-5)


def test_li_s_heads_and_frozen_embeddings(tiny):
    from clrepro.models.sentence import SentenceEncoder

    _, model, _ = tiny
    torch.manual_seed(0)
    encoder = SentenceEncoder(model, head="tanh_linear", freeze_embeddings=True)
    assert not any(p.requires_grad for p in encoder.transformer.embeddings.parameters())
    assert all(p.requires_grad for p in encoder.transformer.encoder.parameters())
    assert isinstance(encoder.head[0], torch.nn.Tanh)
    assert encoder.head[1].bias.std().item() == pytest.approx(0.006, rel=0.5)
    assert json.dumps([type(part).__name__ for part in SentenceEncoder(model, head="linear").head]) == '["Linear"]'
