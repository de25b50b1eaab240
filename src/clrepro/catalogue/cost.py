"""What a plan costs: an estimate from floating-point operations and file sizes, made before anything starts.

Counted: training, selection and test embeddings, checkpoints, fine-tuning as detectors. Not counted: downloads, probes,
start-up, and the pretraining of encoders from scratch.
"""

from dataclasses import dataclass

from clrepro.catalogue import detection
from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.runs import Run
from clrepro.catalogue.tables import Table
from clrepro.modalities.image.augmentations import AUGMENTATIONS
from clrepro.sources.source import source

TOKENS_PER_SENTENCE = 26  # mean length of the Wikipedia sentences at 32 tokens, special ones included
DEVELOPMENT_SENTENCES = 4000  # STS-B and SICK-R dev, both columns
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
EVALUATION_SENTENCES = 140_000  # distinct sentences of the seven STS and seven transfer sets


@dataclass(frozen=True)
class Cost:
    """hours: of the unit that `hardware` names. gigabytes: the checkpoint of a trained run."""

    hours: float
    gigabytes: float

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.hours + other.hours, self.gigabytes + other.gigabytes)


def encoder_size(run: Run) -> tuple[int, int]:
    """(parameters of the transformer layers, of the embeddings)."""
    spec = run.backbone.spec
    if spec["kind"] == "scratch":
        layers, width, vocabulary = spec["layers"], spec["hidden_size"], spec["vocabulary"]
        between = spec["intermediate_size"] or 4 * width
    else:
        size = source(spec["source"]).encoder if spec.get("source") else {}
        layers, width = size.get("layers", 12), size.get("hidden_size", 768)
        vocabulary, between = size.get("vocabulary", 30522), 4 * width
    return layers * (4 * width + 2 * between) * width, (vocabulary + 512) * width


def steps(catalogue: Catalogue, run: Run) -> int:
    if run.modality == "image":
        return max(1, round(run.recipe.epochs * images(run) / run.recipe.batch_size))
    lines = catalogue.config.sentence.corpus_lines or catalogue.corpus.sentences or 0
    lines *= 1 - run.recipe.held_out
    return round(run.recipe.epochs * lines / run.recipe.batch_size) if run.objective else 0


def images(run: Run) -> int:
    """Training images, those of a subset of classes in proportion."""
    about = run.backbone.source.images
    return about["train"] // 10 if run.backbone.spec["classes"] else about["train"]


def of_images(catalogue: Catalogue, run: Run) -> Cost:
    """The same for an image encoder: two views forwards and backwards, one pass over both splits."""
    spec = run.backbone.spec
    side, millions, parameters = ENCODERS[spec["architecture"], spec["stem"]]
    settings = AUGMENTATIONS[run.recipe.augmentation]
    shown = spec["side"] or settings.side or run.backbone.source.images["side"]
    forwards = 2 * millions * 1e6 * (shown / side) ** 2
    tested = images(run) + run.backbone.source.images["test"]
    operations = forwards * (3 * 2 * steps(catalogue, run) * run.recipe.batch_size + tested)
    return Cost(operations / (catalogue.config.hardware.teraflops * 1e12) / 3600, 4 * parameters / 1e3)


def of_detection(catalogue: Catalogue, run: Run) -> Cost:
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
    operations += catalogue.detection.test.boxes["images"] * forwards(how["sides"][-1], TEST_REGIONS)
    return Cost(operations / (catalogue.config.hardware.teraflops * 1e12) / 3600, 0.0)


def of_table(catalogue: Catalogue, table: Table) -> Cost:
    """Of a table's runs, and of their fine-tuning as detectors if it is this table that asks for it."""
    price = of_runs(catalogue, table.runs)
    asking = dict.fromkeys(run for cell in table.cells if detection.FILE in cell.results for run in cell.runs)
    return sum((of_detection(catalogue, run) for run in asking), price)


def of_all(catalogue: Catalogue) -> Cost:
    """Of all runs, each once, and of their fine-tuning as detectors."""
    asking = [run for run in catalogue.runs if catalogue.tests(run, "detection")]
    return sum((of_detection(catalogue, run) for run in asking), of_runs(catalogue, catalogue.runs))


def of_run(catalogue: Catalogue, run: Run) -> Cost:
    if run.modality == "image":
        return of_images(catalogue, run)
    return of_sentences(catalogue, run)


def of_sentences(catalogue: Catalogue, run: Run) -> Cost:
    """Two operations a weight and token forwards, four backwards; two views; development and test embeddings."""
    layers, embeddings = encoder_size(run)
    count = steps(catalogue, run)
    trained = count * run.recipe.batch_size * 2 * TOKENS_PER_SENTENCE
    selected = count // run.recipe.evaluate_every * DEVELOPMENT_SENTENCES * TOKENS_PER_SENTENCE
    tests = 6000 if catalogue.tasks.kind == "generated" else EVALUATION_SENTENCES
    operations = layers * (6 * trained + 2 * selected + 2 * tests * TOKENS_PER_SENTENCE)
    hours = operations / (catalogue.config.hardware.teraflops * 1e12) / 3600
    return Cost(hours, 4 * (layers + embeddings) / 1e9 if run.objective else 0.0)


def of_runs(catalogue: Catalogue, runs: tuple[Run, ...]) -> Cost:
    return sum((of_run(catalogue, run) for run in runs), Cost(0.0, 0.0))
