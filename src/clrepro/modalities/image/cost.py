"""What an image encoder costs, from operation counts."""

from clrepro.modalities.image.augmentations import AUGMENTATIONS
from clrepro.modalities.run import Cost, Run
from clrepro.settings import Common
from clrepro.sources.source import source
from clrepro.training.epochs import Epochs

# multiplications of one image forwards: architecture and stem -> (at side, millions, parameters in millions)
ENCODERS = {
    ("resnet18", "cifar"): (32, 556, 11.2),
    ("resnet18", "imagenet"): (224, 1814, 11.2),
    ("resnet50", "cifar"): (32, 1298, 23.5),
    ("resnet50", "imagenet"): (224, 4089, 23.5),
    ("resnet8", None): (32, 3.1, 0.08),
    ("conv3", None): (8, 0.1, 0.02),
}
# of a ResNet's multiplications, those of its last stage, which a detector applies to every region; width before it
LAST_STAGE = {"resnet18": (0.23, 256), "resnet50": (0.20, 1024)}
TEST_REGIONS = 1000


def steps(run: Run) -> int:
    return Epochs(images(run), run.recipe.batch_size).steps_of(run.recipe.epochs)


def images(run: Run) -> int:
    """Training images, those of a subset of classes in proportion."""
    about = run.backbone.source.images
    return about["train"] // 10 if run.backbone.spec["classes"] else about["train"]


def of_run(config: Common, run: Run) -> Cost:
    """Two views forwards and backwards, one pass over both splits."""
    spec = run.backbone.spec
    side, millions, parameters = ENCODERS[spec["architecture"], spec["stem"]]
    settings = AUGMENTATIONS[run.recipe.augmentation]
    shown = spec["side"] or settings.side or run.backbone.source.images["side"]
    forwards = 2 * millions * 1e6 * (shown / side) ** 2
    tested = images(run) + run.backbone.source.images["test"]
    operations = forwards * (3 * 2 * steps(run) * run.recipe.batch_size + tested)
    return Cost(operations / (config.hardware.teraflops * 1e12) / 3600, 4 * parameters / 1e3)


def of_detection(config: Common, run: Run) -> Cost:
    """Fine-tuning as a detector, and the test: features and proposals of whole photographs, 4 : 3, then the regions."""
    how, spec = run.evaluation["detection"], run.backbone.spec
    side, millions, _ = ENCODERS[spec["architecture"], spec["stem"]]
    share, width = LAST_STAGE[spec["architecture"]]

    def forwards(shorter: float, regions: int) -> float:
        pixels = shorter**2 * 4 / 3
        whole = (1 - share) * millions * 1e6 * pixels / side**2 + 9 * width**2 * pixels / 16**2
        return 2 * (whole + regions * share * millions * 1e6 * (how["region_size"] / 14) ** 2)

    shown = how["iterations"] * how["batch_size"]
    operations = 3 * shown * forwards(sum(how["sides"]) / len(how["sides"]), how["regions"])
    operations += source(how["test"].split("@")[0]).boxes["images"] * forwards(how["sides"][-1], TEST_REGIONS)
    return Cost(operations / (config.hardware.teraflops * 1e12) / 3600, 0.0)
