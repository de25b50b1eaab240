"""Statistics of a training."""

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from clrepro.evaluation.senteval.pairs import load_pairs
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.encoder import SentenceEncoder
from clrepro.modalities.sentence.training import SentenceWorkload, measure_encoder
from clrepro.paths import read_json, write_json
from clrepro.training import export, loop
from clrepro.training.recorder import Recorder, recorded_steps
from tests.modalities.sentence.trainings import SETTINGS, train, weights


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


def test_a_batch_is_recorded_as_its_statistics_are_defined():
    rng = np.random.default_rng(0)
    first, second = (rng.normal(size=(6, 4)) for _ in range(2))
    recorder = Recorder()
    recorder.batch(7, torch.from_numpy(first), torch.from_numpy(second), 1.25)
    found = {name: value for step, name, value in recorder.rows if step == 7}
    first, second = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (first, second))
    cosines = first @ second.T
    angles = np.arccos(cosines)
    apart = ~np.eye(6, dtype=bool)

    def uniformity(rows):
        distances = ((rows[:, None] - rows[None]) ** 2).sum(-1)[np.triu_indices(6, 1)]
        return np.log(np.exp(-2 * distances).mean())

    loss = np.log(np.exp(cosines / 0.05).sum(1)) - cosines.diagonal() / 0.05
    distances = np.sqrt(2 - 2 * cosines)
    assert found == pytest.approx({
        "train_loss": 1.25,
        "train_contrastive_loss": loss.mean(),
        "train_alignment": (2 - 2 * cosines.diagonal()).mean(),
        "train_uniformity": (uniformity(first) + uniformity(second)) / 2,
        "train_distance_gap": distances[apart].mean() - distances.diagonal().mean(),
        "train_positive_angle_mean": angles.diagonal().mean(),
        "train_negative_angle_mean": angles[apart].mean(),
    }, rel=1e-6)  # fmt: skip


def test_what_is_recorded_of_held_out_examples():
    """Where the papers name no value, the ones that figures and claims read."""
    views = torch.from_numpy(np.random.default_rng(1).normal(size=(2, 8, 5)))
    recorder = Recorder()
    recorder.held_out(3, [tuple(views)])
    names = [name for _, name, _ in recorder.rows]
    for share in ("hardest_share", "hardest_weight"):
        at = [name.split("@")[1] for name in names if name.startswith(f"heldout_{share}@")]
        assert at == ["0.001", "0.003", "0.005", "0.01", "0.02", "0.03", "0.05", "0.07", "0.1", "0.2", "0.3", "0.5",
                      "1", "3"]  # fmt: skip
    lambdas = ["0.1", "0.25", "0.5", "1", "2"]
    assert [name.split("@")[1] for name in names if name.startswith("heldout_ratio_kept@")] == lambdas
    met = [tuple(name.split("@")[1:]) for name in names if name.startswith("heldout_ratio_met@")]
    assert met == [(lam, ratio) for lam in lambdas for ratio in ("1", "1.5")]
    histograms = {part["statistic"]: (part["low"], part["high"], len(part["counts"])) for part in recorder.histograms}
    assert histograms == {
        "heldout_positive_cosine": (-1, 1, 200),
        "heldout_within_cosine": (-1, 1, 200),
        **{f"heldout_ratio_lower@{lam}": (0, 4, 100) for lam in lambdas},
    }


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
        export.export(tmp_path / "state", tmp_path / "run")
    names = {str(file.parent.relative_to(tmp_path / "run")) for file in tmp_path.glob("run/**/model.safetensors")}
    assert names == {"model", "checkpoints/step-8", "checkpoints/step-16"}
    assert read_json(tmp_path / "run" / "statistics.json")["rows"]
    (tmp_path / "state" / "statistics.json").unlink()  # as older code left it
    export.export(tmp_path / "state", tmp_path / "run")
    assert read_json(tmp_path / "run" / "statistics.json")["rows"] == []
