"""Small stand-ins for encoders, and for image sets that cannot be had: generated, in the layout of a mirror."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

# the sentence encoders of a small configuration: one, as it is made, without pretraining
ONE_ENCODER = {
    "BERT_base": {"kind": "scratch", "layers": 1, "hidden_size": 16, "heads": 2, "mlm_epochs": 0},
    **dict.fromkeys(("BERT_large", "RoBERTa_base", "RoBERTa_large")),
}
CLASSES_OF_A_KIND = 10  # hues that stand for classes; two classes of one hue differ in their stripes


def photograph(label: int, number: int, side: int = 40) -> Image.Image:
    """A noisy picture whose hue and stripes are those of its class; no two are equal, nor square."""
    noise = np.random.default_rng([label, number])
    hue, stripes = label % CLASSES_OF_A_KIND, 1 + label // CLASSES_OF_A_KIND
    height, width = side + int(noise.integers(0, 9)), side + int(noise.integers(0, 9))
    waves = np.sin(np.linspace(0, np.pi * stripes, width))[None, :, None]
    colour = 0.5 + 0.5 * np.cos(2 * np.pi * (hue / CLASSES_OF_A_KIND + np.array([0, 1 / 3, 2 / 3])))
    pixels = 255 * (0.25 + 0.5 * colour * waves**2) + noise.normal(0, 12, (height, width, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def write_imagenet(folder: Path, classes: Iterable[str], train: int = 2, val: int = 1) -> None:
    """folder/<train|val>/<class>/<name>.JPEG, as ImageNet is unpacked; so many pictures of each class."""
    for label, name in enumerate(classes):
        for split, count in (("train", train), ("val", val)):
            place = folder / split / name
            place.mkdir(parents=True)
            for number in range(count):
                picture = photograph(label, number + (train if split == "val" else 0))
                picture.save(place / f"{name}_{number}.JPEG", "JPEG", quality=90)
