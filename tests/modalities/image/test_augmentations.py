"""The recipes of augmentation: views of tests, and the distribution of drawn parameters."""

import numpy as np
import pytest
import torch
from torchvision.transforms.v2 import functional as oracle

from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.augmentations import STATISTICS, draw
from clrepro.modalities.image.draws import uniforms
from tests.modalities.image.drawn import pictures


@pytest.mark.parametrize(("name", "statistics"), [("test", "cifar10"), ("test", "digits")])
def test_the_test_view_is_exactly_the_normalised_picture(name, statistics):
    mean, deviation = (torch.tensor(values).view(-1, 1, 1) for values in STATISTICS[statistics])
    batch = pictures(5, 32, 32, len(mean))
    found = augment(batch, Augmentation(name, statistics=statistics), 0, 0, np.arange(5), 0)
    assert torch.equal(found, (batch.float() / 255 - mean) / deviation)


def test_the_centre_view_of_a_squashed_photograph_is_torchvisions():
    photograph = oracle.gaussian_blur(pictures(1, 300, 420).float(), [31, 31], [6.0, 6.0])[0]
    photograph = ((photograph - photograph.min()) / (photograph.max() - photograph.min()) * 255).byte()
    squashed = oracle.resize(photograph, [256, 256], antialias=True)
    found = augment(squashed[None], Augmentation("test_centre"), 0, 0, np.arange(1), 0, sizes=np.array([[300, 420]]))[0]
    usual = oracle.center_crop(oracle.resize(photograph, [256], antialias=True), [224, 224]).float() / 255
    expected = oracle.normalize(usual, *STATISTICS["imagenet"])
    assert (found - expected).abs().mean() < 0.02  # of a standard deviation; the picture itself spreads over four
    assert (oracle.horizontal_flip(found) - expected).abs().mean() > 0.3


def test_drawn_parameters_have_the_augmentations_distribution():
    count = 20_000
    drawn = draw(Augmentation("simclr_imagenet"), 0, 0, np.arange(count), 0, 375, 500)
    top, left, height, width = drawn.boxes.T
    assert min(top.min(), left.min()) >= 0
    assert (top + height).max() <= 375
    assert (left + width).max() <= 500
    assert (drawn.boxes == np.round(drawn.boxes)).all()
    area, ratio = height * width / (375 * 500), width / height
    assert 0.078 < area.min() < 0.09
    assert 0.73 < ratio.min() < 0.76
    assert 1.31 < ratio.max() < 1.36
    # what torchvision draws, by its own generator
    from torchvision.transforms import RandomResizedCrop

    torch.manual_seed(0)
    blank = torch.empty(1, 375, 500)
    reference = np.array([RandomResizedCrop.get_params(blank, (0.08, 1.0), (3 / 4, 4 / 3)) for _ in range(5000)])
    for ours, theirs in zip(drawn.boxes.T, reference.T, strict=True):
        points = np.sort(np.concatenate([ours, theirs]))
        distance = np.abs(
            np.searchsorted(np.sort(ours), points, "right") / len(ours)
            - np.searchsorted(np.sort(theirs), points, "right") / len(theirs)
        ).max()
        assert distance < 1.95 * np.sqrt(1 / len(ours) + 1 / len(theirs))  # Kolmogorov-Smirnov at 0.1 %
    for found, expected in (
        (drawn.flip, 0.5),
        (drawn.jittered, 0.8),
        (drawn.grey, 0.2),
        (drawn.sigma > 0, 0.5),
    ):
        assert abs(found.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / count)
    assert np.allclose(drawn.factors.min(0), [0.2, 0.2, 0.2, -0.2], atol=0.01)
    assert np.allclose(drawn.factors.max(0), [1.8, 1.8, 1.8, 0.2], atol=0.01)
    sigma = drawn.sigma[drawn.sigma > 0]
    assert np.allclose([sigma.min(), sigma.mean(), sigma.max()], [0.1, 1.05, 2.0], atol=0.03)
    _, orders = np.unique(drawn.order @ [64, 16, 4, 1], return_counts=True)
    assert len(orders) == 24
    assert np.abs(orders - count / 24).max() < 5 * np.sqrt(count / 24)
    # neighbours in every coordinate of the key are independent
    base = uniforms(4, 0, 0, np.arange(count), 0)
    for other in (uniforms(4, 1, 0, np.arange(count), 0), uniforms(4, 0, 0, np.arange(count), 1), base[[1, 2, 3, 0]]):
        assert abs(np.corrcoef(base.ravel(), other.ravel())[0, 1]) < 4 / np.sqrt(4 * count)
