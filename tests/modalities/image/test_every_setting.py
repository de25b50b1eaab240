"""Every setting of an image encoder's training, at a value of its own, ends in the weights that plain code reaches.

From the settings of a run through recipe, framework and loop on our side; on the other a trainer written from the
papers (tests/oracles/trainers.py) with the values that stand here, on the same augmented views.
"""

import pytest
import torch
from safetensors.torch import load_file

from clrepro import config as configuration
from clrepro import objectives, stages
from clrepro.modalities.image import cost, frameworks, image_sets
from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.encoder import make_encoder
from clrepro.modalities.image.label_shares import label_subset
from clrepro.modalities.image.plan import IMAGE
from clrepro.modalities.image.recipe import ImageRecipe, Projector
from clrepro.modalities.run import Wanted
from clrepro.paths import read_json
from clrepro.sources.source import source
from tests.oracles import trainers

SEED = 7
PROJECTOR = dict(hidden=24, output=16, layers=2, norm="hidden")
BASE = dict(
    framework="simclr", augmentation="digits", projector=PROJECTOR, symmetric=False, key_momentum=None, queue=None,
    predictor_hidden=None, support=None, labelled=0.1, optimiser="sgd", momentum=0.5, learning_rate=0.1,
    learning_rate_rule="fixed", weight_decay=1e-3, schedule="constant", warmup_epochs=0.0, epochs=0.4, batch_size=64,
    clip=None, precision="fp32", temperature=0.2,
)  # fmt: skip
MOCO = dict(framework="moco", key_momentum=0.9, queue=200)
NNCLR = dict(framework="nnclr", predictor_hidden=20, support=200)
OAR = dict(objective="oar", base="infonce")
CHANGES = {  # of one setting each, but where another has to change with it
    "base": {},
    "another objective's hyperparameters": {"objective": "macl", "base_temperature": 0.3, "alpha": 1.5},
    "temperature": {"temperature": 0.7},
    "framework plain": {"framework": "plain", "projector": None},
    "symmetric": {"symmetric": True},
    "augmentation": {"augmentation": "linear"},
    **{f"projector's {name}": {"projector": {**PROJECTOR, name: value}}
       for name, value in dict(hidden=40, output=8, layers=3, norm="all").items()},
    "projector without norm": {"projector": {**PROJECTOR, "norm": "none"}},
    "moco": MOCO,
    "moco's key_momentum": {**MOCO, "key_momentum": 0.3},
    "moco's queue": {**MOCO, "queue": 90},
    "nnclr": NNCLR,
    "nnclr's predictor_hidden": {**NNCLR, "predictor_hidden": 36},
    "nnclr's support": {**NNCLR, "support": 90},
    "anchors": OAR,
    "labelled": {**OAR, "labelled": 0.6},
    "optimiser adam": {"optimiser": "adam", "learning_rate": 1e-3},
    "optimiser adamw": {"optimiser": "adamw", "learning_rate": 1e-3, "weight_decay": 0.5},
    "optimiser lars": {"optimiser": "lars"},
    "momentum": {"momentum": 0.9},
    "learning_rate": {"learning_rate": 0.03},
    "learning_rate_rule linear": {"learning_rate_rule": "linear"},
    "learning_rate_rule square_root": {"learning_rate_rule": "square_root"},
    "a large batch": {"batch_size": 512, "epochs": 1.0},
    "learning_rate_rule linear_above_256": {
        "batch_size": 512, "epochs": 1.0, "learning_rate_rule": "linear_above_256"},
    "weight_decay": {"weight_decay": 0.2},
    "schedule cosine": {"schedule": "cosine"},
    "warmup_epochs": {"schedule": "cosine", "warmup_epochs": 0.2},
    "epochs": {"epochs": 1.1},
    "batch_size": {"batch_size": 48},
    "clip": {"clip": 0.2},
    "two steps": {"epochs": 0.08},
    "precision bf16": {"epochs": 0.08, "precision": "bf16"},  # rounding to bf16 soon tears equal trainings apart
}  # fmt: skip
BESIDE = {  # what a change differs from, where that is not the base
    "precision bf16": "two steps", "moco's key_momentum": "moco", "moco's queue": "moco", "labelled": "anchors",
    "nnclr's predictor_hidden": "nnclr", "nnclr's support": "nnclr", "warmup_epochs": "schedule cosine",
    "learning_rate_rule linear_above_256": "a large batch",
}  # fmt: skip


class Smooth(torch.nn.GELU):
    """In the place of ReLU on both sides: a unit that rounding moves across 0 would tear equal trainings apart."""

    def __init__(self, inplace: bool = False):
        super().__init__()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A working directory where the digits are ready, and the trained runs by name."""
    backbone = dict(data="digits", architecture="conv3")
    image = dict(backbones={"CIFAR_ResNet-18": backbone})
    raw = dict(scale="demo", papers=[], seeds=[SEED], device="cpu", sentence={"backbones": {}}, image=image)
    config = configuration.parse(raw)
    runs = {}
    for name, change in CHANGES.items():
        settings = {**BASE, **change}
        objective = settings.pop("objective", "infonce")
        if objective == "macl":
            del settings["temperature"]
        (runs[name],) = IMAGE.define(config, Wanted(objective, None, "CIFAR_ResNet-18", settings, {}, name))
    folder = tmp_path_factory.mktemp("settings")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(torch.nn, "ReLU", Smooth)
        stages.fetch(source("digits"), config)
        stages.prepare(runs["base"].backbone, config)
        stages.train(list(runs.values()), config)
        yield folder, runs


@pytest.fixture(autouse=True)
def there(place, monkeypatch):
    monkeypatch.chdir(place[0])


def ours(run) -> dict[str, torch.Tensor]:
    return load_file(run.folder / "model/model.safetensors")


def expected(run, settings: dict) -> dict[str, torch.Tensor]:
    """The encoder that the plain trainer ends in."""
    split = image_sets.load(run.backbone.folder / "train")
    torch.manual_seed(SEED)
    own = {
        "plain": {}, "simclr": {}, "moco": {"momentum": settings["key_momentum"], "queue": settings["queue"]},
        "nnclr": {"hidden": settings["predictor_hidden"], "support": settings["support"]},
    }[settings["framework"]]  # fmt: skip
    if settings["projector"]:
        own["projector"] = settings["projector"]
    anchored = settings.get("objective") == "oar"
    if anchored:
        own["classes"] = 10
    start = frameworks.make(settings["framework"], make_encoder("conv3", None, 1), **own)
    networks = {name: getattr(start, name) for name in ("encoder", "projector", "predictor") if hasattr(start, name)}
    for name in ("queue", "support"):
        if hasattr(start, name):
            networks[name] = getattr(start, name).keys
    views, labels = [], []
    known = torch.full((len(split.labels),), -1)
    kept = label_subset(split.labels, settings["labelled"], 0)
    known[kept] = torch.from_numpy(split.labels[kept]).to(known.dtype)
    recipe = Augmentation(settings["augmentation"], None, "digits")
    per_epoch = -(-len(split.labels) // settings["batch_size"])
    order = trainers.batches(len(split.labels), settings["batch_size"], settings["epochs"], SEED)
    for step, rows in enumerate(order):
        images = torch.from_numpy(split.images[rows])
        views.append([augment(images, recipe, SEED, step // per_epoch, rows, view) for view in (0, 1)])
        labels.append(known[torch.from_numpy(rows)])
    names = ("temperature", "base_temperature", "alpha", "base")
    parameters = {key: settings[key] for key in names if key in settings}
    objective = objectives.make(settings.get("objective", "infonce"), **parameters)
    how = {key: settings[key] for key in (
        "symmetric", "key_momentum", "batch_size", "learning_rate", "learning_rate_rule", "optimiser", "momentum",
        "weight_decay", "schedule", "warmup_epochs", "clip", "precision")}  # fmt: skip
    if anchored:
        how |= {"labels": labels, "anchors": start.anchors}
    trainers.train_images(settings["framework"], networks, views, objective, steps_per_epoch=per_epoch, **how)
    return dict(networks["encoder"].state_dict())


def test_every_field_of_a_recipe_has_its_change():
    assert {key for change in CHANGES.values() for key in change} >= set(ImageRecipe.model_fields)
    parts = [change["projector"] or {} for change in CHANGES.values() if "projector" in change]
    changed = {key for part in parts for key in part if part[key] != PROJECTOR[key]}
    assert changed == set(Projector.model_fields)


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_ends_in_the_weights_of_the_plain_trainer(place, name):
    _, runs = place
    settings = {**BASE, **CHANGES[name]}
    if settings.get("objective") == "macl":
        del settings["temperature"]
    found, wanted = ours(runs[name]), expected(runs[name], settings)
    assert set(found) == set(wanted)
    assert trainers.apart(found, wanted) < 1e-5
    if name != "base":
        other = runs[BESIDE.get(name, "base")]
        assert trainers.apart(found, ours(other)) > 1e-3  # the setting does far more than rounding
        assert runs[name].folder.parent != other.folder.parent
    steps = len(trainers.batches(1297, settings["batch_size"], settings["epochs"], SEED))
    assert read_json(runs[name].record)["steps"] == steps == cost.steps(runs[name])
