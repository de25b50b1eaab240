"""Evaluations on a pretended GPU: the numbers of the CPU, and no tensor of another device."""

import numpy as np
import pytest
import torch

from clrepro.errors import Interrupted
from clrepro.evaluation import fine_tune, knn, linear_probe
from clrepro.evaluation.senteval import transfer
from clrepro.evaluation.senteval.embed import embed, pad_batches
from clrepro.modalities.image import augmented_probe, image_sets
from clrepro.modalities.image.augmentations import STATISTICS, Augmentation
from clrepro.modalities.image.detection import detector
from clrepro.modalities.image.detection.fine_tuning import fine_tune as fine_tune_detector
from clrepro.modalities.image.detection.precision import answers
from clrepro.modalities.image.encoder import make_encoder
from clrepro.modalities.image.features import Images, augmented
from clrepro.modalities.image.features import embed as embed_images
from clrepro.modalities.sentence.encoder import SentenceEncoder
from tests.evaluation.features import noisy
from tests.gpu.pretended import pretended
from tests.modalities.image.detection import drawn
from tests.stop import Stop

DEVICES = ("cpu", "cuda")


def on_both(compute) -> list:
    """What a function of a device returns on either."""
    found = []
    for device in DEVICES:
        torch.manual_seed(0)
        with pretended():
            found.append(compute(torch.device(device)))
    return found


PARTS = (*noisy(170), *(part[:60] for part in noisy(170)))
EVALUATIONS = {
    "kNN": lambda device: knn.evaluate(*PARTS, 7, device=device),
    "linear probe": lambda device: linear_probe.evaluate(
        *PARTS, linear_probe.ProbeSettings(epochs=3, batch_size=32), device
    ),
    "head": lambda device: fine_tune.evaluate(
        *PARTS, fine_tune.HeadSettings(hidden=(8,), epochs=3, batch_size=32), device
    ),
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_probes_of_features(name):
    one, two = on_both(EVALUATIONS[name])
    assert one == two


def test_batched_transfer_tasks():
    """On a GPU all problems are solved together; a device in the place of its name asks for the same on the CPU."""
    features, labels = noisy(90)
    one, two = on_both(lambda device: transfer.nested(transfer.Task(features, labels % 2, "fast", "", device)))
    assert one == two


def test_embeddings_of_sentences(tiny):
    _, model, _ = tiny
    tokens = [list(range(5, 5 + length)) for length in (3, 9, 1, 14, 9)]
    for pooling in ("cls", "avg", "avg_first_last"):
        one, two = on_both(
            lambda device, pooling=pooling: embed(SentenceEncoder(model, pooling).to(device), tokens, device)
        )
        np.testing.assert_allclose(one, two, atol=1e-6)  # batches differ, and with them rounding


def test_the_device_is_waited_for_once_however_many_batches_there_are(tiny, monkeypatch):
    monkeypatch.setattr("clrepro.evaluation.senteval.embed.GPU_TOKENS", 20)
    tokens = [list(range(5, 5 + length)) for length in (3, 9, 1, 14, 9, 8, 8)]
    with pretended() as gpu:
        encoder = SentenceEncoder(tiny[1], "avg").to("cuda")
        gpu.waits.clear()
        assert len(pad_batches(encoder, tokens, torch.device("cuda")).parts) > 3
        embed(encoder, tokens, torch.device("cuda"))
    assert len(gpu.waits) == 1, gpu.places


def test_features_of_images_and_of_augmented_images(tmp_path):
    image_sets.prepare(None, "digits", tmp_path)
    split = image_sets.load(tmp_path / "test")

    def compute(device):
        encoder = make_encoder("conv3", None, 1)
        plain = embed_images(encoder, split, Augmentation("test", None, "digits"), device)
        batches = augmented(encoder, split, Augmentation("digits", None, "digits"), 100, device, seed=1)
        return plain, np.concatenate([features.cpu().numpy() for features, _ in batches(0)])

    one, two = on_both(compute)
    for ours, theirs in zip(one, two, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_probe_of_augmented_images(tmp_path):
    image_sets.prepare(None, "digits", tmp_path)
    splits = {"train": image_sets.load(tmp_path / "test")}

    def compute(device):
        encoder = make_encoder("conv3", None, 1)
        images = Images(lambda: encoder, splits, Augmentation("test", None, "digits"), device)
        how = linear_probe.ProbeSettings(epochs=2, batch_size=100)
        with pytest.raises(Interrupted):
            augmented_probe.fit(images, "digits", encoder.width, 10, how, tmp_path / device.type, Stop(3))
        found = augmented_probe.fit(images, "digits", encoder.width, 10, how, tmp_path / device.type, Stop())
        return [part.cpu() for part in found]

    one, two = on_both(compute)
    assert all(map(torch.equal, one, two))


def test_detection(tmp_path):
    settings = dict(iterations=3, batch_size=2, learning_rate=0.02, momentum=0.9, weight_decay=1e-4, warmup=2,
                    precise_norm=1)  # fmt: skip

    def compute(device):
        model = detector.make_detector(drawn.TinyResNet(), 2, drawn.SMALL, STATISTICS["imagenet"]).to(device)
        losses = fine_tune_detector(model, drawn.pictures(6, 0), settings, 1, tmp_path / device.type, Stop())
        found, _ = answers(model, drawn.pictures(2, 1), Stop())
        return losses, [{key: value.tolist() for key, value in one.items()} for one in found]

    one, two = on_both(compute)
    assert one == two
