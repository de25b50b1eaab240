"""Training of image encoders through the loop, and the rows of their probes."""

import json
import os
import signal

import numpy as np
import pytest
import torch

from clrepro import objectives
from clrepro.errors import Interrupted, UserError
from clrepro.evaluation import linear_probe
from clrepro.modalities import evaluation_of
from clrepro.modalities.image import image_sets
from clrepro.modalities.image.encoder import load
from clrepro.modalities.image.features import Images, augmentation_of_tests, augmented, embed
from clrepro.modalities.image.probes import Features, rows
from clrepro.modalities.image.training import ImageWorkload, train_encoder
from clrepro.paths import read_json
from clrepro.training import loop
from tests.stop import Stop

ENCODER = dict(architecture="conv3", stem=None, side=None, statistics="digits")
PROJECTOR = dict(hidden=16, output=12, layers=2, norm="hidden")
SETTINGS = dict(
    framework="plain", augmentation="digits", projector=None, symmetric=False, key_momentum=None, queue=None,
    predictor_hidden=None, support=None, labelled=0.1, optimiser="sgd", momentum=0.0, learning_rate=0.01,
    learning_rate_rule="fixed", weight_decay=0.0, schedule="constant", warmup_epochs=0.0, epochs=1.5, batch_size=100,
    precision="fp32", clip=None,
)  # fmt: skip


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    image_sets.prepare(None, "digits", folder)
    return folder


def train(digits, state, objective, anchored=False, **changes):
    with loop.StopFlag() as stop:
        return train_encoder(
            objective, {**SETTINGS, **changes}, 3, data=digits, encoder=ENCODER, device="cpu", state=state, stop=stop,
            anchored=anchored,
        )  # fmt: skip


def weights(state):
    (folder,) = state.glob("best-*")
    return (folder / "model.safetensors").read_bytes()


FRAMEWORKS = {
    "oar": (
        objectives.make("oar", base="nt_xent", temperature=0.1),
        dict(framework="simclr", projector=PROJECTOR, optimiser="adam", schedule="cosine", warmup_epochs=0.5),
    ),
    "moco": (
        objectives.make("infonce", temperature=0.2),
        dict(framework="moco", projector=PROJECTOR, key_momentum=0.9, queue=300, momentum=0.9),
    ),
    "nnclr": (
        objectives.make("macl", base_temperature=0.1, negatives="cross"),
        dict(framework="nnclr", projector=PROJECTOR, predictor_hidden=20, support=300, optimiser="lars"),
    ),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_interrupted_image_training_ends_in_the_same_files_to_the_bit(digits, tmp_path, name):
    """Weights, momentum weights, queue, support set and anchors; batch norm and probes."""
    objective, changes = FRAMEWORKS[name]
    whole = train(digits, tmp_path / "whole", objective, name == "oar", **changes)
    assert (whole["steps"], whole["best_step"]) == (20, 20)  # 13 steps an epoch, one and a half of them
    calls, terms = 0, 2 if name == "nnclr" else 1

    def interrupted(view1, view2, **extras):
        nonlocal calls
        calls += 1
        if calls == 9 * terms:
            os.kill(os.getpid(), signal.SIGTERM)
        return objective(view1, view2, **extras)

    with pytest.raises(Interrupted, match="stopped at step 9 of 20"):
        train(digits, tmp_path / "parts", interrupted, name == "oar", **changes)
    parts = train(digits, tmp_path / "parts", objective, name == "oar", **changes)
    assert parts["history"] == whole["history"]
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    assert (tmp_path / "parts/statistics.json").read_bytes() == (tmp_path / "whole/statistics.json").read_bytes()
    found = {name for _, name, _ in read_json(tmp_path / "whole/statistics.json")["rows"]}
    assert {"train_alignment", "train_uniformity", "gradient_norm_mean"} <= found
    assert "gradient_clipped_share" not in found


def test_images_differ_between_views_and_a_single_last_image_is_left_out(digits):
    split = image_sets.load(digits / "train")
    workload = ImageWorkload(split, ENCODER, {**SETTINGS, "batch_size": 16}, 1)
    assert len(split.labels) % 16 == 1
    assert workload.steps_per_epoch == 81
    epoch = np.concatenate([workload.order_of(step) for step in range(81)])
    assert len(set(epoch)) == 1296
    again = np.concatenate([workload.order_of(step) for step in range(81, 162)])
    assert not np.array_equal(epoch, again)
    ((view1, view2, extras),) = workload.terms(workload.model, 0, torch.device("cpu"))
    assert view1.shape == (16, 64)
    assert not torch.allclose(view1, view2)
    assert extras == {}
    with pytest.raises(UserError, match="single process"):
        workload.terms(workload.model, 0, torch.device("cpu"), 0, 2)


def test_anchors_see_the_labels_of_the_share_only(digits):
    split = image_sets.load(digits / "train")
    workload = ImageWorkload(split, ENCODER, SETTINGS, 1, anchored=True)
    known = (workload.labels >= 0).numpy()
    assert 0.09 < known.mean() < 0.11
    assert (workload.labels.numpy()[known] == split.labels[known]).all()
    ((_, _, extras),) = workload.terms(workload.model, 0, torch.device("cpu"))
    assert extras["anchors"].shape == (10, 64)
    assert extras["labels"].shape == (100,)


def test_a_training_that_diverges_is_a_result_that_counts_nothing(digits, tmp_path):
    objective = objectives.make("nt_xent", temperature=0.1)
    calls = 0

    def breaks(view1, view2):
        nonlocal calls
        calls += 1
        return objective(view1, view2) * (float("inf") if calls == 5 else 1)

    result = train(digits, tmp_path, breaks)
    assert "training diverged at step 5: the objective is inf" in result["diverged"]["cause"]
    assert weights(tmp_path)
    labels = image_sets.load(digits / "train").labels, image_sets.load(digits / "test").labels
    lost = [np.full((len(part), 4), np.nan, np.float32) for part in labels]
    features = Features(lost[0], labels[0], lost[1], labels[1])
    settings = {"linear": {"epochs": 1}, "finetune_10": {"share": 0.1, "hidden": [4], "epochs": 1}}
    kinds = ("linear", "finetune_10", "finetune_10_selection", "collapse")
    found = {file: rows(f"{file}.json", features, settings, kinds) for file in ("linear", "finetune", "collapse")}
    assert {row[3] for row in found["linear"]} == {row[3] for row in found["finetune"]} == {0}
    assert {row[1] for row in found["finetune"]} == {"test", "selection"}
    assert found["collapse"] == []
    json.dumps(result, allow_nan=False)


def test_probes_of_features_have_the_rows_that_scores_take(digits, tmp_path):
    train(digits, tmp_path, objectives.make("nt_xent", temperature=0.1))
    (folder,) = tmp_path.glob("best-*")
    encoder, parts = load(folder), []
    recipe = augmentation_of_tests("digits", ENCODER)
    for split in ("train", "test"):
        part = image_sets.load(digits / split)
        parts += [embed(encoder, part, recipe, torch.device("cpu")), part.labels]
    settings = {
        "linear": {"augmentation": "none", "epochs": 2},
        "knn": {"k": 5000, "weighting": "weighted", "temperature": 0.1},
        "knn_plain": {"k": 200, "weighting": "plain"},
        "finetune_10": {"share": 0.1, "hidden": [8], "epochs": 2},
        "finetune_100": {"share": 1, "hidden": [8], "epochs": 2},
    }
    names = ("linear/top1", "knn/top1", "knn_plain/top5", "finetune_10/top1", "finetune_100_selection/top5")
    for name in (*names, "collapse/variance_unit"):
        evaluation = evaluation_of(name)
        kinds = [name.split("/")[0]]
        made = evaluation.function()(Features(*parts), evaluation.settings_of(settings), kinds)
        assert made["rows"] == rows(evaluation.file, Features(*parts), settings, kinds)
        assert 0 < evaluation.score(name, made["rows"]) <= 100
    # the views of a probe that augments are those of the epoch, and the features those of the encoder at rest
    train_set = image_sets.load(digits / "train")
    batches = augmented(encoder, train_set, recipe, 300, torch.device("cpu"))
    features, labels = next(iter(batches(1)))
    order = torch.randperm(len(parts[1]), generator=torch.Generator().manual_seed(1))[:300]
    assert (labels.numpy() == parts[1][order]).all()
    torch.testing.assert_close(features, torch.from_numpy(parts[0][order]), rtol=1e-4, atol=1e-5)
    weights, _ = linear_probe.fit(batches, 64, 10, linear_probe.ProbeSettings(epochs=1))
    assert weights.shape == (10, 64)
    seen = Images(lambda: load(folder), {"train": train_set}, recipe, torch.device("cpu"))
    augmenting = {"linear": {"augmentation": "linear", "epochs": 1}}
    probed = rows("linear.json", Features(*parts, seen), augmenting, ["linear"], state=tmp_path / "probe", stop=Stop())
    assert probed[0][:3] == ["linear", "test", "top1"]
