"""How image encoders are evaluated: probes and pictures of stored features, and fine-tuning as a detector."""

from functools import partial

from clrepro.modalities.evaluation import Evaluation, Resources, Score
from clrepro.modalities.image.detection.plan import DETECTION
from clrepro.modalities.image.forms import HeadForm, LinearForm, NeighbourForm


def of_linear(how: dict, kind: str) -> str:
    return (
        f"Linear probe of frozen features: {how['epochs']} epochs, batch {how['batch_size']}, rate "
        f"{how['learning_rate']:g}."
    )


def of_neighbours(how: dict, kind: str) -> str:
    return f"Neighbours: k = {how['k']}, {how['weighting']} votes ({kind})."


def of_head(how: dict, kind: str) -> str:
    encoder = "on the frozen encoder" if how["frozen"] else "and the encoder, trained together"
    return (
        f"Fine-tuning: a head of {'-'.join(map(str, how['hidden']))} {encoder}, "
        f"{how['epochs']} epochs, batch {how['batch_size']}, rate {how['learning_rate']:g}."
    )


def shows_images(settings: dict) -> bool:
    """Whether an evaluation of features shows the encoder images as well."""
    parts = settings.values()
    return any(part.get("augmentation", "none") != "none" or not part.get("frozen", True) for part in parts)


# one job makes them all: loading features and torch costs more than most of them
of_features = partial(Evaluation, group="features", resources=Resources(8000, 240))
probe = partial(of_features, code=("clrepro.modalities.image.probes", "clrepro.modalities.image.stored"))
picture = partial(of_features, code=("clrepro.modalities.image.pictures", "clrepro.modalities.image.stored"))

LINEAR = probe(
    name="linear",
    described="linear probe",
    scores={"linear": Score()},
    settings={"linear": LinearForm},
    caption=of_linear,
    uses_gpu=shows_images,
    resumes=shows_images,
    work="clrepro.modalities.image.probes:evaluate_linear",
)
NEIGHBOURS = probe(
    name="knn",
    described="nearest neighbours",
    scores={"knn": Score(), "knn_plain": Score()},
    settings={"knn": NeighbourForm, "knn_plain": NeighbourForm},
    caption=of_neighbours,
    work="clrepro.modalities.image.probes:evaluate_neighbours",
)
FINE_TUNING = probe(
    name="finetune",
    described="fine-tuning with a share of the labels",
    # _selection: on the part of the training images that chooses
    scores={"finetune_*": Score(), "finetune_*_selection": Score(split="selection")},
    settings={"finetune_*": HeadForm},
    caption=of_head,
    uses_gpu=shows_images,
    work="clrepro.modalities.image.probes:evaluate_heads",
)
COLLAPSE = probe(
    name="collapse",
    described="variance and rank of the embeddings",
    scores={"collapse": Score(unit=None, better=None)},
    caption=lambda settings, kind: "Variances and ranks are those of the test images' embeddings.",
    work="clrepro.modalities.image.probes:evaluate_collapse",
)
SPECTRUM = picture(
    name="spectrum",
    scores={"spectrum": Score()},
    arrays=("singular_value", "affinity"),
    work="clrepro.modalities.image.pictures:evaluate_spectrum",
)
PLACES = picture(
    name="places",
    scores={"places": Score()},
    arrays=("x", "y", "class"),
    work="clrepro.modalities.image.pictures:evaluate_places",
)
EVALUATIONS = (LINEAR, NEIGHBOURS, FINE_TUNING, COLLAPSE, SPECTRUM, PLACES, DETECTION)
