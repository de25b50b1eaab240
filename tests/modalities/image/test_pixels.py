"""Images on their way to the device: read once for all views, read ahead, and what they were."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from clrepro import objectives
from clrepro.errors import Interrupted, UserError
from clrepro.modalities.image import files, image_sets
from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.encoder import make_encoder
from clrepro.modalities.image.features import augmented, embed, in_order
from clrepro.modalities.image.pixels import Pixels
from clrepro.modalities.image.training import ImageWorkload, train_encoder
from clrepro.training import loop
from tests.modalities.image.photographs import decoded, prepared
from tests.modalities.image.test_training import SETTINGS, weights

__all__ = ["decoded"]
ENCODER = dict(architecture="resnet8", stem=None, side=16, statistics="imagenet")
HOW = {**SETTINGS, "augmentation": "simclr_imagenet", "batch_size": 7, "epochs": 2, "learning_rate": 0.1}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory) -> Path:
    return prepared(tmp_path_factory.mktemp("photographs"))


def names(split, rows) -> set[str]:
    return {str(split.images.root / split.images.paths[row]) for row in rows}


def read_ahead(pixels: Pixels) -> None:
    for part in pixels.ahead.parts:
        part.result()


def test_a_step_decodes_its_pictures_once_for_both_views_and_those_of_the_next_step_ahead(photographs, decoded):
    split = image_sets.load(photographs / "train")
    workload = ImageWorkload(split, ENCODER, HOW, 3)
    seen = []
    workload.model.forward = lambda *views: seen.append(views[:2])
    for step in range(8):  # two epochs: the first step of the second is read ahead as well
        workload.terms(workload.model, step, CPU)
        rows, following = workload.order_of(step), workload.order_of(step + 1)
        if step < 7:
            read_ahead(workload.pixels)
            assert names(split, following) <= set(decoded)
        images = torch.from_numpy(split.images[rows])
        decoded.subtract(names(split, rows))
        for view in (0, 1):
            epoch = step // workload.steps_per_epoch
            wanted = augment(images, workload.augmentation, 3, epoch, rows, view, split.sizes[rows])
            assert torch.equal(seen[step][view], wanted)
    assert workload.pixels.ahead is None
    assert set(decoded.values()) == {2}  # once an epoch


def test_an_interrupted_training_on_photographs_ends_in_the_same_weights(photographs, tmp_path):
    objective = objectives.make("nt_xent", temperature=0.5)
    calls = 0

    def interrupted(view1, view2):
        nonlocal calls
        calls += 1
        if calls == 4:  # the last step of an epoch
            os.kill(os.getpid(), signal.SIGTERM)
        return objective(view1, view2)

    def train(place, objective):
        with loop.StopFlag() as stop:
            return train_encoder(
                objective, HOW, 3, data=photographs, encoder=ENCODER, device="cpu", state=tmp_path / place, stop=stop
            )

    train("whole", objective)
    with pytest.raises(Interrupted, match="stopped at step 4 of 8"):
        train("parts", interrupted)
    train("parts", objective)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def test_probes_and_features_decode_every_picture_once_a_pass(photographs, decoded, monkeypatch):
    monkeypatch.setattr("clrepro.modalities.image.features.BATCH", 5)  # smaller than the batches of a probe
    split = image_sets.load(photographs / "train")
    encoder = make_encoder("resnet8", None, 3)
    shown = Augmentation("test_centre", 16, "imagenet")
    features = embed(encoder, split, shown, CPU)
    assert set(decoded.values()) == {1}
    assert len(decoded) == len(features) == 24
    batches = augmented(encoder, split, shown, 9, CPU)  # of tests: the same picture in every epoch
    decoded.clear()
    found = list(batches(1))
    assert set(decoded.values()) == {1}
    order = torch.randperm(24, generator=torch.Generator().manual_seed(1)).numpy()
    assert [len(labels) for _, labels in found] == [9, 9, 6]
    assert (torch.cat([labels for _, labels in found]).numpy() == split.labels[order]).all()
    torch.testing.assert_close(torch.cat([part for part, _ in found]), torch.from_numpy(features[order]))
    decoded.clear()
    ((last, labels),) = batches(1, 2)
    assert torch.equal(last, found[2][0])
    assert torch.equal(labels, found[2][1])
    assert set(decoded) == names(split, order[18:])


def test_what_is_read_ahead_and_not_wanted_is_given_up(photographs, decoded, monkeypatch):
    split = image_sets.load(photographs / "train")
    decode = files.decode_square

    def slowly(path, side):
        time.sleep(0.05)
        return decode(path, side)

    monkeypatch.setattr(files, "decode_square", slowly)
    monkeypatch.setattr("clrepro.modalities.image.features.BATCH", 2)
    shown = in_order(split, np.arange(24), Augmentation("test", 16, "imagenet"), CPU)
    next(shown)
    shown.close()
    pixels = Pixels(split, CPU)
    images = pixels.images(np.arange(2), np.arange(2, 24))
    pixels.close()
    pixels.threads.shutdown()  # waits for what was begun
    assert sum(decoded.values()) < 20
    # another batch than the one that was announced is read as well
    pixels = Pixels(split, CPU)
    assert np.array_equal(images.numpy(), pixels.images(np.arange(2), np.arange(7)).numpy())
    assert np.array_equal(pixels.images(np.arange(3, 5)).numpy(), split.images[3:5])


def test_a_picture_that_cannot_be_read_ends_the_step_that_needs_it(tmp_path):
    folder = prepared(tmp_path, train=2)
    split = image_sets.load(folder / "train")
    pixels = Pixels(split, CPU)
    (split.images.root / split.images.paths[3]).unlink()
    pixels.images(np.array([0, 1]), np.array([2, 3]))
    with pytest.raises(UserError, match=r"b_1\.JPEG cannot be decoded"):
        pixels.images(np.array([2, 3]))


def test_images_that_lie_on_the_device_are_not_read_again(tmp_path):
    image_sets.prepare(None, "digits", tmp_path)
    split = image_sets.load(tmp_path / "test")
    pixels = Pixels(split, CPU)
    images = pixels.images(np.array([5, 2]), np.array([1]))
    assert pixels.ahead is None
    assert not hasattr(pixels, "threads")
    assert np.array_equal(images.numpy(), split.images[[5, 2]])
