"""Every setting of a graph encoder's training, at a value of its own, ends in the weights that plain code reaches.

From the settings of a run through recipe, workload and loop on our side; on the other a trainer written from the
papers (tests/oracles/trainers.py) with the values that stand here, on the same augmented views. Graphs and molecules.
"""

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file

from clrepro import config as configuration
from clrepro import objectives, stages
from clrepro.modalities.graph import graph_sets
from clrepro.modalities.graph.encoder import embed, load
from clrepro.modalities.graph.molecules import storage
from clrepro.modalities.graph.molecules.training import MoleculeWorkload
from clrepro.modalities.graph.plan import GRAPH
from clrepro.modalities.graph.recipe import GraphRecipe
from clrepro.modalities.graph.training import GraphWorkload, as_seen
from clrepro.modalities.run import Wanted
from clrepro.sources.source import source
from tests.oracles import trainers

SEED = 7
BASE = dict(
    augmentation="drop_nodes", behaviour="released", drop_share=0.2, subgraph_share=0.2, order="once",
    identical_views=False, optimiser="adam", learning_rate=3e-3, weight_decay=0.01, schedule="constant", epochs=2.0,
    batch_size=32, clip=None, precision="fp32", temperature=0.2,
)  # fmt: skip
CHANGES = {  # of one setting each, but where another has to change with it
    "base": {},
    "another objective's hyperparameters": {"objective": "macl", "base_temperature": 0.3, "alpha": 1.5},
    "temperature": {"temperature": 0.7},
    **{f"augmentation {name}": {"augmentation": name}
       for name in ("permute_edges", "mask_nodes", "subgraph", "random2", "random3", "random4")},
    "behaviour": {"behaviour": "written"},
    "drop_share": {"drop_share": 0.4},
    "subgraph_share": {"augmentation": "subgraph", "behaviour": "written", "subgraph_share": 0.6},
    "order": {"order": "every_epoch"},
    "optimiser adamw": {"optimiser": "adamw"},
    "learning_rate": {"learning_rate": 1e-3},
    "weight_decay": {"weight_decay": 0.2},
    "schedule linear": {"schedule": "linear"},
    "schedule cosine": {"schedule": "cosine"},
    "epochs": {"epochs": 1.0},
    "batch_size": {"batch_size": 20},
    "clip": {"clip": 0.5},
}  # fmt: skip
MOLECULES = {  # what they share with graphs is tested above
    "base": {},
    "temperature": {"temperature": 0.7},
    "augmentation random2": {"augmentation": "random2"},
    "drop_share": {"drop_share": 0.4},
    "identical_views": {"identical_views": True},
    "batch_size": {"batch_size": 20},
}
BESIDE = {"subgraph_share": "augmentation subgraph"}
PARTS = {("graphs", name): change for name, change in CHANGES.items()} | {
    ("molecules", name): change for name, change in MOLECULES.items()
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A working directory where graphs and molecules are ready, and the trained runs by name."""
    backbones = {
        "graphs": dict(data="demo-graphs", architecture="gin", width=8, layers=2),
        "molecules": dict(data="demo-molecules", architecture="gin_bonds", width=16, layers=2),
    }
    graph = dict(backbones=backbones, molecules=dict(data="demo-molecules", sets=["BBBP"]))
    raw = dict(scale="demo", papers=[], seeds=[SEED], device="cpu", sentence={"backbones": {}}, graph=graph)
    config = configuration.parse(raw)
    runs = {}
    for (kind, name), change in PARTS.items():
        settings = {**BASE, **change}
        objective = settings.pop("objective", "infonce")
        if objective == "macl":
            del settings["temperature"]
        (runs[kind, name],) = GRAPH.define(config, Wanted(objective, None, kind, settings, {}, name))
    folder = tmp_path_factory.mktemp("settings")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        smooth(patch)
        for name in ("demo-graphs", "demo-molecules"):
            stages.fetch(source(name), config)
        for kind in backbones:
            stages.prepare(runs[kind, "base"].backbone, config)
        stages.train(list(runs.values()), config)
    return folder, runs


def smooth(patch) -> None:
    """In the place of ReLU on both sides: a unit that rounding moves across 0 would tear equal trainings apart."""
    patch.setattr(torch.nn.functional, "relu", lambda x, inplace=False: torch.nn.functional.gelu(x))


@pytest.fixture(autouse=True)
def there(place, monkeypatch):
    monkeypatch.chdir(place[0])
    smooth(monkeypatch)


def ours(run) -> dict[str, torch.Tensor]:
    return load_file(run.folder / "model/model.safetensors")


def expected(kind: str, run, settings: dict) -> dict[str, torch.Tensor]:
    """The encoder that the plain trainer ends in."""
    folder = run.backbone.folder
    torch.manual_seed(SEED)
    if kind == "molecules":
        workload = MoleculeWorkload(storage.load(folder), {"width": 16, "layers": 2}, settings, SEED)
    else:
        seen = as_seen(graph_sets.load(folder), settings["behaviour"])
        workload = GraphWorkload(seen, {"width": 8, "layers": 2}, settings, SEED)
    sizes = (workload.count, settings["batch_size"], settings["epochs"], SEED)
    order = trainers.batches(*sizes, once=settings["order"] == "once")
    views = []
    for step, rows in enumerate(order):
        assert workload.rows_of(step)[1].tolist() == rows.tolist()
        views.append(workload.views(step, torch.device("cpu")))
    names = ("temperature", "base_temperature", "alpha")
    parameters = {key: settings[key] for key in names if key in settings}
    objective = objectives.make(settings.get("objective", "infonce"), **parameters)
    names = ("learning_rate", "optimiser", "weight_decay", "schedule", "clip")
    trainers.train_graphs(workload.model, views, objective, **{key: settings[key] for key in names})
    return dict(workload.model.encoder.state_dict())


def test_every_field_of_a_recipe_has_its_change():
    assert {key for change in PARTS.values() for key in change} == set(GraphRecipe.model_fields) - {"precision"} | {
        "temperature", "objective", "base_temperature", "alpha"
    }  # fmt: skip


def test_the_only_precision_is_fp32():
    with pytest.raises(ValidationError, match="precision"):
        GraphRecipe(**{key: BASE[key] for key in GraphRecipe.model_fields} | {"precision": "bf16"})


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_a_setting_ends_in_the_weights_of_the_plain_trainer(place, kind, name):
    _, runs = place
    settings = {**BASE, **PARTS[kind, name]}
    if settings.get("objective") == "macl":
        del settings["temperature"]
    run = runs[kind, name]
    found, wanted = ours(run), expected(kind, run, settings)
    assert set(found) == set(wanted)
    assert trainers.apart(found, wanted) < 1e-5
    if name != "base":
        other = runs[kind, BESIDE.get(name, "base")]
        assert trainers.apart(found, ours(other)) > 1e-3  # the setting does far more than rounding
        assert run.folder.parent != other.folder.parent


@pytest.mark.parametrize("name", ["base", "behaviour"])
def test_evaluations_read_embeddings_of_graphs_as_training_saw_them(place, name, tmp_path):
    """With the self loops of the released code, or, as written, without."""
    _, runs = place
    run = runs["graphs", name]
    stages.embed([run], configuration.load("demo"), tmp_path)
    with np.load(tmp_path / f"{run.name}.npz") as stored:
        vectors = stored["vectors"]
    graphs = graph_sets.load(run.backbone.folder)
    looped = graphs.with_released_loops()
    usual, other = (embed(load(run.folder / "model"), seen, torch.device("cpu")) for seen in (looped, graphs))
    if name == "behaviour":
        usual, other = other, usual
    np.testing.assert_allclose(vectors, usual, rtol=1e-5, atol=1e-5)
    assert np.abs(vectors - other).max() > 0.1
