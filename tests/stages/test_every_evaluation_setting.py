"""Every setting of an evaluation changes its result: a field of its form, at a value of its own, on data of seconds."""

from typing import Any

import numpy as np
import pytest
import torch

from clrepro.modalities import evaluation_of
from clrepro.modalities.graph import svm
from clrepro.modalities.graph.forms import SvmForm
from clrepro.modalities.graph.molecules.encoder import MoleculeEncoder
from clrepro.modalities.graph.molecules.fine_tuning import Classifier, fine_tune
from clrepro.modalities.graph.molecules.forms import FineTuningForm
from clrepro.modalities.image.augmentations import STATISTICS
from clrepro.modalities.image.detection import detector, fine_tuning
from clrepro.modalities.image.detection.plan import DetectionSettings
from clrepro.modalities.image.forms import HeadForm, LinearForm, NeighbourForm
from clrepro.modalities.image.probes import Features
from clrepro.paths import ROOT
from tests.modalities.graph.molecules.drawn import SMILES, stored
from tests.modalities.image.detection import drawn as rectangles
from tests.oracles import molecules as oracle
from tests.stop import Stop

LINEAR = dict(augmentation="none", epochs=3, batch_size=32, learning_rate=0.05, momentum=0.5, weight_decay=1e-3,
              nesterov=False, schedule="constant", seed=0)  # fmt: skip
HEAD = dict(share=0.3, hidden=[8], frozen=True, epochs=3, batch_size=32, learning_rate=0.05, momentum=0.5,
            weight_decay=1e-3, seed=0)  # fmt: skip
NEIGHBOURS = dict(k=9, weighting="weighted", temperature=0.1)
SVM = dict(folds=5, inner_folds=3, costs=[0.01, 1, 100], gamma="scale")
FINE_TUNING = dict(epochs=2, batch_size=4, learning_rate=0.01, dropout=0.5)
DETECTION = dict(**rectangles.SMALL, iterations=3, batch_size=2, learning_rate=0.02, momentum=0.9, weight_decay=1e-4,
                 warmup=2, precise_norm=1)  # fmt: skip
CHANGES: dict[tuple[str, str], Any] = {
    **{("linear", key): value for key, value in dict(
        epochs=1, batch_size=300, learning_rate=0.001, momentum=0.95, weight_decay=1.0, nesterov=True,
        schedule="cosine", seed=1).items()},
    **{("finetune_30", key): value for key, value in dict(
        share=0.9, hidden=[8, 8], epochs=1, batch_size=90, learning_rate=0.001, momentum=0.95, weight_decay=1.0,
        seed=1).items()},
    **{("knn", key): value for key, value in dict(k=90, weighting="plain", temperature=5.0).items()},
    **{("svm", key): value for key, value in dict(folds=3, inner_folds=2, costs=[1e-3], gamma="auto").items()},
    **{("molecules", key): value for key, value in dict(
        epochs=3, batch_size=5, learning_rate=0.1, dropout=0.1).items()},
    **{("detection", key): value for key, value in dict(
        iterations=4, batch_size=3, learning_rate=0.01, momentum=0.5, weight_decay=0.1, warmup=0, precise_norm=2,
        sides=[48], longest_side=40, anchors=[8, 24, 32], regions=8, region_size=2).items()},
}  # fmt: skip
ELSEWHERE = {  # the test that shows what they do
    ("linear", "augmentation"): "tests/modalities/image/test_training.py",
    ("finetune_30", "frozen"): "tests/stages/test_probing.py",
}
USUAL = {"linear": LINEAR, "finetune_30": HEAD, "knn": NEIGHBOURS, "svm": SVM, "molecules": FINE_TUNING,
         "detection": DETECTION}  # fmt: skip
FORMS = {
    "linear": LinearForm,
    "finetune_30": HeadForm,
    "knn": NeighbourForm,
    "svm": SvmForm,
    "molecules": FineTuningForm,
    "detection": DetectionSettings,
}


def features(count: int = 3000) -> Features:
    """Six overlapping clouds."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 6, count)
    vectors = generator.normal(size=(6, 12))[labels] + 1.5 * generator.normal(size=(count, 12))
    half = count // 4
    vectors = vectors.astype(np.float32)
    return Features(vectors[:half], labels[:half], vectors[half:], labels[half:])


def result(kind: str, settings: dict[str, Any], tmp_path) -> Any:
    """What an evaluation finds, as precisely as it says it."""
    if kind == "svm":
        found = features(600)
        return svm.accuracies(10 * found.test, found.test_labels % 2, settings, 3).mean()
    if kind == "molecules":
        labels = np.array([[1 if "1" in text else -1] for text in SMILES], np.int8)
        data = stored([oracle.molecule_from_smiles(text) for text in SMILES], labels)
        torch.manual_seed(5)
        model = Classifier(MoleculeEncoder(8, 2), 1, settings["dropout"])
        return fine_tune(model, data, np.arange(len(SMILES)), settings, 1, tmp_path / str(settings), Stop())
    if kind == "detection":
        torch.manual_seed(5)
        model = detector.make_detector(rectangles.TinyResNet(), 2, settings, STATISTICS["imagenet"])
        losses = fine_tuning.fine_tune(model, rectangles.pictures(6, 0), settings, 1, tmp_path, Stop())
        return losses, model.backbone.stem[1].running_mean.tolist()
    about = evaluation_of(f"{kind}/top1")
    about.check(kind, settings, "here")
    return about.function()(features(), {kind: settings}, [kind])["rows"]


@pytest.mark.parametrize(("kind", "key"), CHANGES)
def test_a_setting_changes_the_result(kind, key, tmp_path):
    usual, changed = USUAL[kind], {**USUAL[kind], key: CHANGES[kind, key]}
    assert FORMS[kind](**changed) != FORMS[kind](**usual)
    first, again, other = (result(kind, how, tmp_path / name) for how, name in
                           ((usual, "one"), (usual, "two"), (changed, "three")))  # fmt: skip
    assert first == again
    assert first != other


def test_no_field_is_left_out():
    fields = {(kind, name) for kind, form in FORMS.items() for name in form.model_fields}
    assert fields == {*CHANGES, *ELSEWHERE}
    for (_, name), file in ELSEWHERE.items():
        assert name in (ROOT / file).read_text("utf-8")
