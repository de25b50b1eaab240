"""The loop: resume to the bit, selection, divergence, and checkpoints that the ecosystem loads."""

import json
import os
import signal
import socket

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer

from clrepro import objectives, stages
from clrepro.errors import Interrupted, UserError
from clrepro.evaluation.senteval.pairs import load_pairs
from clrepro.modalities.sentence import training
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.encoder import SentenceEncoder
from clrepro.modalities.sentence.training import SentenceWorkload, measure_encoder, train_encoder
from clrepro.paths import read_json, write_json
from clrepro.training import loop
from clrepro.training.recorder import recorded_steps

SETTINGS = dict(
    pooling="cls", head="tanh", head_at_selection=True, freeze_embeddings=False, dropout=None, batch_size=16,
    learning_rate=1e-3, epochs=0.5, evaluate_every=5, max_length=16, precision="fp32", weight_decay=0.0, clip=1.0,
    optimiser="adamw_transformers",
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


def test_statistics_leave_the_weights_as_they_are_to_the_bit(tiny, demo_tasks, tmp_path, monkeypatch):
    train(tiny, demo_tasks, tmp_path / "recorded", held_out=0.2)
    monkeypatch.setattr(loop, "recorded_steps", lambda total, every: set())
    train(tiny, demo_tasks, tmp_path / "plain", held_out=0.2)
    one, two = weights(tmp_path / "recorded"), weights(tmp_path / "plain")
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert read_json(tmp_path / "recorded" / "statistics.json")["rows"]
    assert not read_json(tmp_path / "plain" / "statistics.json")["rows"]


def test_statistics_say_what_an_independent_embedding_says(tiny, demo_tasks, tmp_path):
    """At step 0, where the encoder is the backbone; it is the same for all seeds, losses and heads."""
    folder, model, _ = tiny
    train(tiny, demo_tasks, tmp_path, held_out=0.4, head_at_selection=False, clip=1e-3)
    statistics = read_json(tmp_path / "statistics.json")
    values = {(step, name): value for step, name, value in statistics["rows"]}
    assert {step for step, _ in values} == {0, 5, 10}
    encoder, tokenizer = SentenceEncoder(model).eval(), AutoTokenizer.from_pretrained(model)
    pairs = load_pairs(demo_tasks, "STSBenchmark", "dev")
    with torch.no_grad():
        columns = [tokenizer(column, padding=True, return_tensors="pt") for column in (pairs.first, pairs.second)]
        first, second = (encoder(c["input_ids"], c["attention_mask"]).double().numpy() for c in columns)
    first, second = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (first, second))
    squares = ((first - second) ** 2).sum(1)
    assert values[0, "dev_alignment"] == pytest.approx(squares[np.array(pairs.gold) > 4].mean(), rel=1e-4)
    # 240 sentences make one batch of 128, of which every sentence is its own positive
    assert (statistics["settings"]["batch_size"], statistics["settings"]["examples"]) == (128, 128)
    counts = {item["statistic"]: sum(item["counts"]) for item in statistics["histograms"] if item["step"] == 0}
    assert counts["heldout_positive_cosine"] == 128
    assert counts["heldout_within_cosine"] == 128 * 127 / 2
    assert values[0, "heldout_positive_cosine_mean"] > values[0, "heldout_negative_cosine_mean"]
    below_one = {  # 25 of 100 bins of 0..4
        item["statistic"]: sum(item["counts"][:25]) / max(1, sum(item["counts"]))
        for item in statistics["histograms"] if item["step"] == 0
    }  # fmt: skip
    met = {name: value for (step, name), value in values.items() if step == 0 and name.endswith("@1")}
    met = {name: value for name, value in met.items() if name.startswith("heldout_ratio_met")}
    assert len(met) >= 2
    for name, value in met.items():
        lam = name.split("@")[1]
        assert value == pytest.approx(below_one[f"heldout_ratio_lower@{lam}"])
        assert value <= values[0, f"heldout_ratio_met@{lam}@1.5"]
    for step in (0, 5, 10):
        assert values[step, "train_loss"] == pytest.approx(values[step, "train_contrastive_loss"], rel=1e-4)
    assert values[5, "gradient_norm_max"] >= values[5, "gradient_norm_mean"] > 1e-3
    assert values[5, "gradient_clipped_share"] == 1
    settings = {**SETTINGS, "held_out": 0.4}
    file = tmp_path / "untrained.json"
    measure_encoder(settings, tokens=folder, backbone=model, tasks=demo_tasks, device="cpu", file=file)
    untrained = read_json(file)
    of_trained = [row for row in statistics["rows"] if row[0] == 0 and not row[1].startswith("train_")]
    assert untrained["rows"] == of_trained
    assert untrained["histograms"] == [item for item in statistics["histograms"] if item["step"] == 0]


def test_recorded_steps_are_thinned_evenly_and_keep_the_ends():
    assert recorded_steps(19, 5) == {0, 5, 10, 15}
    assert recorded_steps(19, 20) == {0, 19}
    many = sorted(recorded_steps(15625, 125))
    assert (len(many), many[0], many[-1]) == (41, 0, 15625)
    assert set(np.diff(many)) == {375, 500}


def test_held_out_sentences_are_fixed_and_never_trained_on(tiny, demo_tasks):
    folder, model, _ = tiny
    settings = {**SETTINGS, "held_out": 0.1}
    one, two = (SentenceWorkload(TokenisedCorpus(folder), model, settings, seed, demo_tasks) for seed in (1, 2))
    assert np.array_equal(one.held_out_rows, two.held_out_rows)
    assert one.steps_per_epoch == 34  # 540 sentences in batches of 16
    seen = np.concatenate([one.order_of(step) for step in range(34)])
    assert sorted([*seen, *one.held_out_rows]) == list(range(600))
    assert not np.array_equal(seen[:16], two.order_of(0))


def test_results_have_statistics_and_every_kept_checkpoint(tiny, demo_tasks, tmp_path):
    result = train(tiny, demo_tasks, tmp_path / "state", checkpoint_every=8)
    entries = [{"step": 8}, {"step": 16}]
    write_json(tmp_path / "state" / "record.json", {**result, "checkpoints": entries})
    for _ in range(2):  # again over what is there
        stages.export(tmp_path / "state", tmp_path / "run")
    names = {str(file.parent.relative_to(tmp_path / "run")) for file in tmp_path.glob("run/**/model.safetensors")}
    assert names == {"model", "checkpoints/step-8", "checkpoints/step-16"}
    assert read_json(tmp_path / "run" / "statistics.json")["rows"]
    (tmp_path / "state" / "statistics.json").unlink()  # as older code left it
    stages.export(tmp_path / "state", tmp_path / "run")
    assert read_json(tmp_path / "run" / "statistics.json")["rows"] == []


class PreciseWorkload(SentenceWorkload):
    """In float64, where the order of a sum does not matter: Adam turns rounding errors into steps."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.model.double()


def train_part(rank, count, paths, state, settings):
    """One of several processes; each starts from the same files."""
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), OMP_NUM_THREADS="1")
    training.SentenceWorkload = PreciseWorkload
    result = run_training(*paths, state, loop.StopFlag(), None, settings)
    assert result is None if rank else result["processes"] == count
    torch.distributed.destroy_process_group()


def test_two_processes_end_in_the_weights_of_one(tiny, demo_tasks, tmp_path, monkeypatch):
    """An epoch of 600 sentences in batches of 38: the last batch of 30 and the global negatives are shared, too."""
    changes = dict(dropout=0.0, batch_size=38, epochs=1.0, evaluate_every=16, head_at_selection=False)
    paths = (*tiny[:2], demo_tasks)
    monkeypatch.setattr(training, "SentenceWorkload", PreciseWorkload)
    alone = run_training(*paths, tmp_path / "one", loop.StopFlag(), None, changes)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        monkeypatch.setenv("MASTER_PORT", str(free.getsockname()[1]))
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    torch.multiprocessing.spawn(train_part, (2, paths, tmp_path / "two", changes), nprocs=2)
    assert alone["steps"] == 16
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        torch.testing.assert_close(two[name], one[name], atol=1e-9, rtol=0)
    statistics = [read_json(tmp_path / state / "statistics.json")["rows"] for state in ("one", "two")]
    assert [row[:2] for row in statistics[0]] == [row[:2] for row in statistics[1]]
    assert [row[2] for row in statistics[0]] == pytest.approx([row[2] for row in statistics[1]], abs=1e-6)


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


def test_an_epoch_visits_every_sentence_once_and_the_two_views_differ(tiny, demo_tasks):
    folder, model, sentences = tiny
    workload = SentenceWorkload(TokenisedCorpus(folder), model, {**SETTINGS, "batch_size": 64}, 1, demo_tasks)
    assert workload.steps_per_epoch == 10
    rows = np.concatenate([workload.order_of(step) for step in range(10)])
    assert sorted(rows) == list(range(len(sentences)))
    assert not np.array_equal(rows, np.concatenate([workload.order_of(step) for step in range(10, 20)]))
    workload.model.train()
    ((view1, view2, _),) = workload.terms(workload.model, 0, torch.device("cpu"))
    assert view1.shape == view2.shape == (64, 32)
    assert not torch.allclose(view1, view2)
    workload.model.eval()
    ((view1, view2, _),) = workload.terms(workload.model, 0, torch.device("cpu"))
    torch.testing.assert_close(view1, view2)  # without dropout both views are the same sentence


@pytest.mark.parametrize("pooling", ["cls", "avg"])
def test_checkpoints_load_in_transformers_and_sentence_transformers(tiny, demo_tasks, tmp_path, pooling):
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel

    from clrepro.evaluation.senteval.embed import embed, tokenise_for_embedding

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
    _, model, _ = tiny
    torch.manual_seed(0)
    encoder = SentenceEncoder(model, head="tanh_linear", freeze_embeddings=True)
    assert not any(p.requires_grad for p in encoder.transformer.embeddings.parameters())
    assert all(p.requires_grad for p in encoder.transformer.encoder.parameters())
    assert isinstance(encoder.head[0], torch.nn.Tanh)
    assert encoder.head[1].bias.std().item() == pytest.approx(0.006, rel=0.5)
    assert json.dumps([type(part).__name__ for part in SentenceEncoder(model, head="linear").head]) == '["Linear"]'
