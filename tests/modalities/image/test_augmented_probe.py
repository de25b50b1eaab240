"""The linear probe of augmented images: it resumes to the bit, and reads nothing twice."""

from pathlib import Path

import pytest
import torch

from clrepro.errors import Interrupted
from clrepro.evaluation import linear_probe
from clrepro.modalities.image import image_sets
from clrepro.modalities.image.augment import Augmentation
from clrepro.modalities.image.augmented_probe import fit
from clrepro.modalities.image.encoder import make_encoder
from clrepro.modalities.image.features import Images
from clrepro.training import resuming
from tests.modalities.image.photographs import decoded, prepared
from tests.stop import Stop

__all__ = ["decoded"]
HOW = linear_probe.ProbeSettings(
    epochs=3, batch_size=7, learning_rate=0.5, weight_decay=1e-3, nesterov=True, schedule="cosine", seed=2
)
STEPS = 4  # of an epoch


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Images:
    folder = prepared(tmp_path_factory.mktemp("photographs"))
    torch.manual_seed(0)
    encoder = make_encoder("resnet8", None, 3)
    splits = {split: image_sets.load(folder / split) for split in image_sets.SPLITS}
    return Images(lambda: encoder, splits, Augmentation("test_centre", 16, "imagenet"), torch.device("cpu"))


def probe(images: Images, state: Path, stop: Stop) -> tuple[torch.Tensor, torch.Tensor]:
    return fit(images, "linear", images.encoder().width, 3, HOW, state, stop)


def test_it_learns_what_a_probe_without_a_state_learns(images, tmp_path):
    wanted = linear_probe.fit(images.augmented("linear", 7), images.encoder().width, 3, HOW)
    found = probe(images, tmp_path / "state", Stop())
    assert torch.equal(found[0], wanted[0])
    assert torch.equal(found[1], wanted[1])
    assert wanted[0].abs().max() > 0.1


def test_it_resumes_in_the_middle_of_an_epoch_to_the_bit(images, tmp_path, decoded):
    whole = probe(images, tmp_path / "whole", Stop())
    parts = tmp_path / "parts"
    for look, step in ((7, 6), (3, 8)):  # the second stop lies between two epochs
        with pytest.raises(Interrupted, match=f"stopped at step {step} of 12; the state is saved in"):
            probe(images, parts, Stop(look))
        assert (parts / f"saved-{step}").is_dir()
    decoded.clear()
    found = probe(images, parts, Stop())
    assert set(decoded.values()) == {1}  # the last epoch alone
    assert torch.equal(found[0], whole[0])
    assert torch.equal(found[1], whole[1])
    decoded.clear()
    again = probe(images, parts, Stop())
    assert torch.equal(again[0], whole[0])
    assert not decoded


def test_it_saves_every_few_minutes(images, tmp_path, monkeypatch):
    steps = []
    monkeypatch.setattr(resuming, "SAVE_SECONDS", -1)
    monkeypatch.setattr(resuming.saved, "write", lambda state, step, content: steps.append(step))
    probe(images, tmp_path, Stop())
    assert steps == [*range(3 * STEPS), 3 * STEPS]
