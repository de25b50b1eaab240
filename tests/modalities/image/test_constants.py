"""Constants of images that come from a source: written here a second time from it, or read from torchvision."""

from inspect import signature

import pytest
from sklearn.datasets import load_digits
from torchvision import models, transforms

from clrepro.modalities.image.augmentations import ATTEMPTS, AUGMENTATIONS, RATIOS, STATISTICS, Operations

# share of the area, flip, (brightness, contrast, saturation, hue) and its probability, grey, blur and its sigmas
STATED = {
    # Chen et al. 2020, appendix A, strength 1
    "simclr_imagenet": (224, (0.08, 1), 0.5, (0.8, 0.8, 0.8, 0.2), 0.8, 0.2, 0.5, (0.1, 2.0)),
    # MoCo's main_moco.py with --aug-plus
    "moco_v2": (224, (0.2, 1), 0.5, (0.4, 0.4, 0.4, 0.1), 0.8, 0.2, 0.5, (0.1, 2.0)),
    # the CIFAR-10 program that DCL's authors name
    "macl_cifar": (32, (0.08, 1), 0.5, (0.4, 0.4, 0.4, 0.1), 0.8, 0.2, 0.0, (0.1, 2.0)),
    # oar2024, section 5
    "oar": (224, (0.8, 1), 0.0, (0.2, 0.2, 0.2, 0.1), 1.0, 0.0, 0.0, (0.1, 2.0)),
}


@pytest.mark.parametrize("name", STATED)
def test_an_augmentation_is_as_its_source_states_it(name):
    found = AUGMENTATIONS[name]
    jitter = (found.jitter, found.jitter_probability)
    assert (found.side, found.crop, found.flip, *jitter, found.grey, found.blur, found.sigma) == STATED[name]
    assert found.degrees == 0
    assert (found.frame, found.statistics) == {
        "simclr_imagenet": (None, "imagenet"),
        "moco_v2": (None, "imagenet"),
        "macl_cifar": (None, "cifar10"),
        "oar": (224, "cifar10"),
    }[name]


def test_the_other_augmentations():
    assert set(AUGMENTATIONS) == {*STATED, "digits", "linear", "test", "test_centre"}
    assert AUGMENTATIONS["linear"] == Operations(None, crop=(0.08, 1), flip=0.5)
    assert AUGMENTATIONS["test"] == Operations(None)
    usual = models.ResNet50_Weights.IMAGENET1K_V1.transforms()
    centre = AUGMENTATIONS["test_centre"]
    assert (centre.side, centre.centre) == (usual.crop_size[0], usual.crop_size[0] / usual.resize_size[0])


def test_random_crops_are_torchvisions():
    defaults = signature(transforms.RandomResizedCrop).parameters
    assert defaults["scale"].default == AUGMENTATIONS["simclr_imagenet"].crop
    assert defaults["ratio"].default == RATIOS
    assert ATTEMPTS == 10


def test_the_statistics_that_normalise_pictures():
    usual = models.ResNet50_Weights.IMAGENET1K_V1.transforms()
    assert STATISTICS["imagenet"] == (tuple(usual.mean), tuple(usual.std))
    assert STATISTICS["cifar10"] == ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))
    assert STATISTICS["cifar100"] == ((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762))
    pixels = load_digits().data / 16
    assert STATISTICS["digits"] == ((round(pixels.mean(), 4),), (round(pixels.std(), 4),))
