"""The operations of augmentation. The oracle is torchvision's, one picture at a time."""

import numpy as np
import pytest
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as oracle

from clrepro.errors import UserError
from clrepro.modalities.image import augment as operations
from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.augmentations import AUGMENTATIONS
from tests.modalities.image.drawn import pictures

BILINEAR = InterpolationMode.BILINEAR


# Augmentation: the operations


@pytest.mark.parametrize("side", [12, 24, 64])
def test_resized_crop_is_torchvisions(side):
    batch = pictures(6, 40, 50)
    boxes = np.array([[3, 4, 20, 30], [0, 0, 40, 50], [10, 20, 30, 30], [0, 0, 5, 4], [7, 3, 33, 11], [1, 1, 1, 48]])
    flip = np.array([0, 1, 0, 1, 0, 0], bool)
    found = operations.resized_crop(batch, boxes.astype(float), side, flip)
    for picture, box, mirrored, result in zip(batch, boxes.tolist(), flip, found, strict=True):
        expected = oracle.resized_crop(picture.float() / 255, *box, [side, side], BILINEAR, antialias=True)
        expected = oracle.horizontal_flip(expected) if mirrored else expected
        torch.testing.assert_close(result, expected, atol=5e-6, rtol=0)


def test_colour_operations_are_torchvisions_in_any_order():
    batch = pictures(24, 9, 11).float() / 255
    batch[0] = batch[0, :1]  # grey: no hue
    order = np.array([np.random.default_rng(row).permutation(4) for row in range(24)])
    factors = np.random.default_rng(0).uniform(0, 2, (24, 4))
    factors[:, 3] = np.linspace(-0.5, 0.5, 24)
    found = operations.colour_jitter(batch, factors, order)
    apply = [oracle.adjust_brightness, oracle.adjust_contrast, oracle.adjust_saturation, oracle.adjust_hue]
    for row, picture in enumerate(batch):
        for kind in order[row]:
            picture = apply[kind](picture, factors[row, kind])
        torch.testing.assert_close(found[row], picture, atol=2e-5, rtol=0)
    grey = operations.grey_of(batch)
    torch.testing.assert_close(grey, oracle.rgb_to_grayscale(batch), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("side", "window"), [(224, 23), (40, 5), (8, 3)])
def test_blur_is_torchvisions(side, window):
    batch = pictures(4, side, side).float() / 255
    sigma = np.array([0.1, 0.6, 1.3, 2.0])
    found = operations.blur(batch, sigma)
    for picture, deviation, result in zip(batch, sigma, found, strict=True):
        expected = oracle.gaussian_blur(picture, [window, window], [deviation, deviation])
        torch.testing.assert_close(result, expected, atol=2e-6, rtol=0)


def test_rotation_is_torchvisions():
    batch = pictures(5, 8, 8, channels=1).float() / 255
    degrees = np.array([15.0, -7.0, 30.0, 90.0, 0.0])
    for picture, angle, result in zip(batch, degrees, operations.rotate(batch, degrees), strict=True):
        torch.testing.assert_close(result, oracle.rotate(picture, angle, BILINEAR), atol=1e-5, rtol=0)


# Augmentations


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_a_picture_does_not_depend_on_its_batch(name):
    augmentation = Augmentation(name)
    channels = len(augmentation.normalisation[0])
    batch, indices = pictures(9, 16, 16, channels), np.array([5, 70_000, 2, 9, 1, 0, 4_000_000_000, 3, 8])
    whole = augment(batch, augmentation, 7, 3, indices, 1)
    some = [6, 0, 3]
    assert torch.allclose(augment(batch[some], augmentation, 7, 3, indices[some], 1), whole[some], atol=1e-5)
    assert torch.equal(augment(batch.numpy(), augmentation, 7, 3, torch.from_numpy(indices), 1), whole)
    assert whole.dtype == torch.float32
    assert whole.isfinite().all()
    if not name.startswith("test"):
        for changed in ((8, 3, 1), (7, 4, 1), (7, 3, 0)):
            seed, epoch, view = changed
            assert (augment(batch, augmentation, seed, epoch, indices, view) != whole).flatten(1).any(1).all(), changed


def test_a_step_of_a_large_batch_equals_its_pieces(monkeypatch):
    batch, augmentation = pictures(40, 32, 32), Augmentation("macl_cifar")
    whole = augment(batch, augmentation, 0, 0, np.arange(40), 0)
    monkeypatch.setattr(operations, "CPU_CHUNK", 3 * 3072)
    assert torch.allclose(augment(batch, augmentation, 0, 0, np.arange(40), 0), whole, atol=1e-5)


def test_augment_refuses_what_it_cannot_do():
    batch = pictures(2, 8, 8)
    with pytest.raises(UserError, match="macl_cifar"):
        Augmentation("macl_cifra")
    with pytest.raises(UserError, match="statistics='digits'"):
        augment(batch[:, :1], Augmentation("test"), 0, 0, np.arange(2), 0)
    with pytest.raises(UserError, match="2 pictures but 3 indices"):
        augment(batch, Augmentation("test"), 0, 0, np.arange(3), 0)
    with pytest.raises(UserError, match="uint8"):
        augment(batch.float(), Augmentation("test"), 0, 0, np.arange(2), 0)
    with pytest.raises(UserError, match="indices run from -1"):
        augment(batch, Augmentation("test"), 0, 0, np.array([-1, 0]), 0)
