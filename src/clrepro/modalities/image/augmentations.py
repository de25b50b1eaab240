"""Augmentations by name, and the parameters that they draw for each picture."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from clrepro.errors import UserError, unknown
from clrepro.modalities.image.draws import uniforms

# mean and standard deviation of each channel over the training set (digits: over all), pixels in 0..1
STATISTICS = {
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "cifar100": ((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)),
    "digits": ((0.3053,), (0.3760,)),
}
RATIOS = (3 / 4, 4 / 3)  # of width to height of a random crop, as torchvision's and SimCLR's
ATTEMPTS = 10  # at a crop that fits, then the largest central one: likewise
BRIGHTNESS, CONTRAST, SATURATION, HUE = range(4)


@dataclass(frozen=True)
class Operations:
    """What an augmentation does, in order: crop and resize, flip, rotation, jitter, grayscale, blur, normalisation."""

    side: int | None  # of the square result; None: the shorter side of the input
    statistics: str = "imagenet"
    crop: tuple[float, float] | None = None  # share of the area; None: the central square
    centre: float = 1.0  # side of the central square, as a share of the picture's shorter side
    frame: int | None = None  # boxes are drawn as if the picture had been resized to this side before
    flip: float = 0.0  # probability
    degrees: float = 0.0  # rotation by at most this
    jitter: tuple[float, float, float, float] | None = None  # brightness, contrast, saturation, hue
    jitter_probability: float = 0.8
    grey: float = 0.0  # probability
    blur: float = 0.0  # probability
    sigma: tuple[float, float] = (0.1, 2.0)  # of the blur, in pixels


AUGMENTATIONS = {
    # SimCLR, appendix A, at strength 1; MACL follows it (B.1). Its own code leaves pixels in 0..1; mmselfsup, in which
    # MACL was written, normalises them.
    "simclr_imagenet": Operations(224, crop=(0.08, 1), flip=0.5, jitter=(0.8, 0.8, 0.8, 0.2), grey=0.2, blur=0.5),
    # MoCo v2's released program; its blur is Pillow's, an approximation of the same Gaussian
    "moco_v2": Operations(224, crop=(0.2, 1), flip=0.5, jitter=(0.4, 0.4, 0.4, 0.1), grey=0.2, blur=0.5),
    # MACL B.3 names the four operations without strengths; these are the public CIFAR recipe of DCL's third-party code
    "macl_cifar": Operations(32, "cifar10", crop=(0.08, 1), flip=0.5, jitter=(0.4, 0.4, 0.4, 0.1), grey=0.2),
    # OAR section 5: images are resized to 224 first; jitter and crop are all that it names, without a probability. The
    # crop is drawn on the 224 grid but taken from the picture itself: one interpolation instead of two.
    "oar": Operations(224, "cifar10", crop=(0.8, 1), frame=224, jitter=(0.2, 0.2, 0.2, 0.1), jitter_probability=1.0),
    # no paper: the demo's 8x8 grey digits. No flip, since digits are not symmetric.
    "digits": Operations(8, "digits", crop=(0.6, 1), degrees=15.0),
    # the training of a probe on frozen features: MACL does not say; the usual pair of operations
    "linear": Operations(None, crop=(0.08, 1), flip=0.5),
    # the whole picture (its central square)
    "test": Operations(None),
    # the usual test view of ImageNet: shorter side to 256, central 224
    "test_centre": Operations(224, centre=224 / 256),
}


@dataclass(frozen=True)
class Augmentation:
    """An augmentation by name; ``side`` in pixels and ``statistics`` of the normalisation replace its own.

    >>> Augmentation("macl_cifar", statistics="cifar100")
    >>> Augmentation("test", side=224, statistics="cifar10")
    """

    name: str
    side: int | None = None
    statistics: str | None = None
    operations: Operations = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        if self.name not in AUGMENTATIONS:
            raise unknown("augmentation", self.name, AUGMENTATIONS)
        if self.statistics is not None and self.statistics not in STATISTICS:
            raise unknown("image statistics", self.statistics, STATISTICS, f"augmentation '{self.name}'")
        if self.side is not None and self.side < 1:
            raise UserError(f"augmentation '{self.name}': side is {self.side}; it is a number of pixels, from 1")
        object.__setattr__(self, "operations", AUGMENTATIONS[self.name])

    @cached_property
    def normalisation(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """(mean, standard deviation) of each channel."""
        return STATISTICS[self.statistics or self.operations.statistics]

    def output_side(self, height: int, width: int) -> int:
        return self.side or self.operations.side or min(height, width)


@dataclass(frozen=True)
class Draws:
    """The parameters of N pictures; None for what the augmentation does not do."""

    boxes: np.ndarray  # (N, 4) float64: top, left, height, width in pixels of the input
    flip: np.ndarray  # (N,) bool
    degrees: np.ndarray | None  # (N,) counter-clockwise
    jittered: np.ndarray  # (N,) bool
    factors: np.ndarray | None  # (N, 4): brightness, contrast, saturation as factors, hue as a share of the circle
    order: np.ndarray | None  # (N, 4): which of the four comes first, second, third, last
    grey: np.ndarray  # (N,) bool
    sigma: np.ndarray  # (N,) in pixels; 0 is no blur


def draw(
    augmentation: Augmentation,
    seed: int,
    epoch: int,
    indices: np.ndarray,
    view: int,
    height: int,
    width: int,
    sizes: np.ndarray | None = None,
) -> Draws:
    """The parameters for pictures of ``height`` x ``width``, a function of (seed, epoch, index, view) alone.

    sizes: (N, 2) heights and widths that the pictures had before they were squashed to a common shape; boxes are drawn
    in those, so that shapes and shares are those of the original photograph.
    """
    operations = augmentation.operations
    # every operation has rows of its own, so that switching one on never changes another
    numbers = uniforms(2 * ATTEMPTS + 16, seed, epoch, indices, view)
    place, rest = numbers[2 * ATTEMPTS : 2 * ATTEMPTS + 2], numbers[2 * ATTEMPTS + 2 :]
    flip, angle, jittered, grey, blurred, sigma = rest[:6]
    strengths, ranks = rest[6:10], rest[10:14]

    shape = np.array([[height, width]], float)
    original = np.broadcast_to(shape, (len(indices), 2)) if sizes is None else np.asarray(sizes, float)
    if original.shape != (len(indices), 2):
        raise UserError(f"augmentation: sizes must be (N, 2) = ({len(indices)}, 2), found {original.shape}")
    if operations.frame:
        original = np.round(original * operations.frame / original.min(1, keepdims=True))
    if operations.crop:
        boxes = random_boxes(original, operations.crop, numbers[:ATTEMPTS], numbers[ATTEMPTS : 2 * ATTEMPTS], place)
    else:
        side = original.min(1, keepdims=True) * operations.centre
        boxes = np.concatenate([(original - side) / 2, side, side], 1)
    boxes = boxes * np.tile(shape / original, 2)

    factors = order = None
    if operations.jitter:
        signed = (2 * strengths.T - 1) * operations.jitter
        # a factor is uniform in [max(0, 1 - s), 1 + s]; all strengths here are at most 1
        factors = signed + np.array([1.0, 1.0, 1.0, 0.0])
        order = np.argsort(ranks.T, axis=1)
    low, high = operations.sigma
    return Draws(
        boxes=boxes,
        flip=flip < operations.flip,
        degrees=(2 * angle - 1) * operations.degrees if operations.degrees else None,
        jittered=(jittered < operations.jitter_probability) & (operations.jitter is not None),
        factors=factors,
        order=order,
        grey=grey < operations.grey,
        sigma=np.where(blurred < operations.blur, low + (high - low) * sigma, 0.0),
    )


def random_boxes(
    shapes: np.ndarray, scale: tuple[float, float], areas: np.ndarray, ratios: np.ndarray, place: np.ndarray
) -> np.ndarray:
    """Boxes (N, 4) of whole pixels: top, left, height, width, with the area uniform in ``scale`` and the logarithm of
    width / height uniform; the first attempt that fits, else the largest central box with an admitted ratio.

    shapes (N, 2); areas, ratios (attempts, N) and place (2, N) uniform in (0, 1).
    """
    heights, widths = shapes.T
    low, high = np.log(RATIOS)
    area = heights * widths * (scale[0] + (scale[1] - scale[0]) * areas)
    ratio = np.exp(low + (high - low) * ratios)
    tall, wide = np.round(np.sqrt(area / ratio)), np.round(np.sqrt(area * ratio))
    fits = (tall >= 1) & (tall <= heights) & (wide >= 1) & (wide <= widths)
    first, columns = fits.argmax(0), np.arange(len(shapes))
    found = fits[first, columns]
    fallback_wide = np.minimum(widths, np.round(heights * RATIOS[1]))
    fallback_tall = np.minimum(heights, np.round(widths / RATIOS[0]))
    tall = np.where(found, tall[first, columns], fallback_tall)
    wide = np.where(found, wide[first, columns], fallback_wide)
    top = np.where(found, np.floor(place[0] * (heights - tall + 1)), np.floor((heights - tall) / 2))
    left = np.where(found, np.floor(place[1] * (widths - wide + 1)), np.floor((widths - wide) / 2))
    return np.stack([top, left, tall, wide], 1)
