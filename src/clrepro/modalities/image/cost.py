"""What an image encoder costs, from operation counts."""

from dataclasses import dataclass
from itertools import pairwise

from clrepro.modalities.image.augmentations import AUGMENTATIONS
from clrepro.modalities.run import HALF_SHARE, RUNTIME_GB, Cost, Run
from clrepro.settings import Common, Hardware
from clrepro.sources.source import source
from clrepro.training.epochs import Epochs


@dataclass(frozen=True)
class Encoder:
    """Of one image of `side` pixels: million multiplications forwards, and MB in fp32 that wait for the backward pass.

    parameters: in millions. layers: as many of a transformer take a CPU as long to start. width: of the features.
    """

    side: int
    multiplications: float
    kept: float
    parameters: float
    layers: int
    width: int


ENCODERS = {
    ("resnet18", "cifar"): Encoder(32, 556, 4.7, 11.2, 5, 512),
    ("resnet18", "imagenet"): Encoder(224, 1814, 22.2, 11.2, 5, 512),
    ("resnet50", "cifar"): Encoder(32, 1298, 25.5, 23.5, 13, 2048),
    ("resnet50", "imagenet"): Encoder(224, 4089, 85.9, 23.5, 13, 2048),
    ("resnet8", None): Encoder(32, 3.1, 0.17, 0.08, 2, 64),
    ("conv3", None): Encoder(8, 0.1, 0.005, 0.02, 1, 64),
}
DECODING = 0.002  # seconds of a core that Pillow takes for a JPEG of 512 x 375, measured
# of a ResNet's multiplications, those of its last stage, which a detector applies to every region; width before it
LAST_STAGE = {"resnet18": (0.23, 256), "resnet50": (0.20, 1024)}
TEST_REGIONS = 1000
FILES = {"image-folder"}  # kinds of image sets that are read from a file a picture
CORE = Hardware()


def steps(run: Run) -> int:
    return Epochs(images(run), run.recipe.batch_size).steps_of(run.recipe.epochs)


def images(run: Run) -> int:
    """Training images, those of a subset of classes in proportion."""
    about = run.backbone.source.images
    return about["train"] // 10 if run.backbone.spec["classes"] else about["train"]


def shown_side(run: Run) -> int:
    """Of the views that are trained on, in pixels."""
    return (
        run.backbone.spec["side"] or AUGMENTATIONS[run.recipe.augmentation].side or run.backbone.source.images["side"]
    )


def encoder_of(run: Run) -> Encoder:
    return ENCODERS[run.backbone.spec["architecture"], run.backbone.spec["stem"]]


def forwards(run: Run, side: int) -> float:
    """Operations of one image."""
    encoder = encoder_of(run)
    return 2e6 * encoder.multiplications * (side / encoder.side) ** 2


def memory_gb(run: Run) -> float:
    """Of a GPU that trains it: what two views of every image keep, and weights, gradients and momentum."""
    encoder, half = encoder_of(run), run.recipe.precision != "fp32"
    kept = 2 * run.recipe.batch_size * encoder.kept * (shown_side(run) / encoder.side) ** 2
    return RUNTIME_GB + (kept * (HALF_SHARE if half else 1) + 3 * 4 * encoder.parameters) / 1e3


def decoding(run: Run, shown: float) -> float:
    """Hours of a core to read images, where every one is a file."""
    return shown * DECODING / 3600 if run.backbone.source.images["kind"] in FILES else 0.0


def of_run(config: Common, run: Run) -> Cost:
    """Two views forwards and backwards, one pass over both splits."""
    encoder = encoder_of(run)
    count, one, unit = steps(run), forwards(run, shown_side(run)), config.hardware
    shown, tested = count * run.recipe.batch_size, images(run) + run.backbone.source.images["test"]
    training = unit.hours(one * 3 * 2 * shown, run.recipe.precision, count * encoder.layers)
    read = decoding(run, shown + tested)
    return Cost(training, unit.hours(one * tested), decoding=read, gigabytes=4 * encoder.parameters / 1e3)


def of_probe(config: Common, run: Run, settings: dict[str, dict]) -> Cost:
    """Linear probes and heads: on stored features a CPU's work, else with the encoder that shows them images."""
    width, classes, found = encoder_of(run).width, run.backbone.source.images["classes"], Cost()
    for how in settings.values():
        if "epochs" not in how:
            continue
        widths = (width, *how.get("hidden", ()), classes)
        shown = how["epochs"] * images(run) * how.get("share", 1)
        head = 6 * shown * sum(before * after for before, after in pairwise(widths))
        passes = 1 if how.get("augmentation", "none") != "none" else 0 if how.get("frozen", True) else 3
        if passes:
            with_encoder = config.hardware.hours(passes * shown * forwards(run, shown_side(run)) + head)
            found += Cost(fine_tuning=with_encoder, decoding=decoding(run, shown))
        else:
            found += Cost(probing=CORE.hours(head))
    return found


def of_detection(config: Common, run: Run) -> Cost:
    """Fine-tuning as a detector, and the test: features and proposals of whole photographs, 4 : 3, then the regions."""
    how, spec = run.evaluation["detection"], run.backbone.spec
    encoder = encoder_of(run)
    share, width = LAST_STAGE[spec["architecture"]]

    def whole_and_regions(shorter: float, regions: int) -> float:
        pixels = shorter**2 * 4 / 3
        whole = (1 - share) * encoder.multiplications * 1e6 * pixels / encoder.side**2 + 9 * width**2 * pixels / 16**2
        return 2 * (whole + regions * share * encoder.multiplications * 1e6 * (how["region_size"] / 14) ** 2)

    shown = how["iterations"] * how["batch_size"]
    operations = 3 * shown * whole_and_regions(sum(how["sides"]) / len(how["sides"]), how["regions"])
    operations += source(how["test"].split("@")[0]).boxes["images"] * whole_and_regions(how["sides"][-1], TEST_REGIONS)
    return Cost(fine_tuning=config.hardware.hours(operations))
