"""Fine-tuning on molecules as evaluations: what they ask for, and one from a checkpoint to its scores."""

from types import SimpleNamespace

import pytest
import torch

from clrepro.demo import molecules as demo
from clrepro.errors import Interrupted, UserError
from clrepro.modalities.graph.molecules import cost
from clrepro.modalities.graph.molecules.build import MoleculeSetBuild, molecule_build, molecule_set_builds
from clrepro.modalities.graph.molecules.encoder import MoleculeEncoder
from clrepro.modalities.graph.molecules.evaluations import MOLECULES, settings
from clrepro.modalities.graph.molecules.preparing import prepare_set
from clrepro.modalities.graph.molecules.work import evaluate
from clrepro.modalities.graph.plan import GRAPH
from clrepro.modalities.graph.recipe import GraphRecipe
from clrepro.modalities.graph.section import Graph
from clrepro.modalities.graph.weights import save
from clrepro.paths import sha256, write_json
from clrepro.settings import Hardware
from clrepro.sources.source import source
from tests.stop import Stop

HOW = {"epochs": 100, "batch_size": 16, "learning_rate": 0.001, "dropout": 0.5}
BBBP = next(one for one in MOLECULES if "BBBP" in one.scores)


def configuration(**changes):
    spec = {"data": "demo-molecules", "architecture": "gin_bonds", "width": 8, "layers": 2}
    section = {"backbones": {"GIN": spec, "GIN_TU": {**spec, "architecture": "gin"}}}
    if changes.get("molecules", True):
        section["molecules"] = {"data": "demo-molecules", "sets": ["BBBP", "Tox21"], "epochs": 2, **changes}
    return SimpleNamespace(scale="demo", device="cpu", mirror=None, graph=Graph(**section))


def test_what_the_evaluations_ask_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configuration(seeds=[3, 5])
    assert [one.name for one in MOLECULES][:2] == ["molecules_tox21", "molecules_bbbp"]
    assert len(MOLECULES) == 8
    assert BBBP.seeds(config) == (3, 5)
    assert [build.key for build in BBBP.builds(config)] == ["BBBP"]
    assert BBBP.lacks(config, "GIN") == ""
    assert "`architecture: gin_bonds`" in BBBP.lacks(config, "GIN_TU")
    assert MOLECULES[2].lacks(config, "GIN") == "`graph.molecules.sets` leaves ToxCast out"
    assert MOLECULES[2].builds(config) == ()
    assert "has no `graph.molecules`" in BBBP.lacks(configuration(molecules=None), "GIN")
    assert "put it into" in BBBP.lacks(configuration(data="moleculenet"), "GIN")
    assert settings(config, HOW, "here") == {**HOW, "epochs": 2}
    assert settings(configuration(epochs=None), HOW, "here") == HOW
    assert BBBP.score("BBBP/roc_auc", [["BBBP", "test", "roc_auc", 61.234567]]) == 61.23
    with pytest.raises(UserError, match="unknown setting 'rate' in here, evaluation.BBBP"):
        BBBP.check("BBBP", {"rate": 1}, "here")


def test_sets_and_sources_that_are_none_are_refused():
    with pytest.raises(UserError, match="unknown set of molecules 'BBPB' in graph.molecules.sets. Did you mean BBBP"):
        molecule_set_builds(configuration(sets=["BBPB"]))
    with pytest.raises(UserError, match="'mutag' has no sets of molecules"):
        molecule_set_builds(configuration(data="mutag"))


def test_builds_come_back_from_what_jobs_are_handed():
    config = configuration()
    for build in (molecule_build(config.graph, "demo", "GIN"), *molecule_set_builds(config).values()):
        assert GRAPH.build_from(build.given).folder == build.folder
        assert GRAPH.build_from(build.to_prepare).folder == build.folder


@pytest.mark.parametrize("scores", ["trained", "diverged"])
def test_an_encoder_is_fine_tuned_and_tested(tmp_path, monkeypatch, scores):
    monkeypatch.chdir(tmp_path)
    about = source("demo-molecules")
    about.folder.mkdir(parents=True)
    demo.write(about.folder / "molecules.zip")
    write_json(about.record, {"path": str(about.folder / "molecules.zip")})
    prepare_set(MoleculeSetBuild("BBBP", "demo", "demo-molecules"), None)
    torch.manual_seed(0)
    save(MoleculeEncoder(8, 2), tmp_path / "model")
    record = {"model": {"path": "model", "sha256": sha256(tmp_path / "model/model.safetensors")}}
    write_json(tmp_path / "record.json", {**record, "diverged": {}} if scores == "diverged" else record)
    run, protocol = SimpleNamespace(record=tmp_path / "record.json"), {"BBBP": {**HOW, "epochs": 8}}

    def found(stop, seed, place):
        return evaluate(run, configuration(), protocol, tmp_path / place, stop, seed)

    first = found(Stop(), 0, "first")
    if scores == "diverged":
        assert first["rows"] == [["BBBP", "test", "roc_auc", 0.0]]
        return
    assert [row[:3] for row in first["rows"]] == [["BBBP", split, "roc_auc"] for split in ("test", "selection")]
    assert all(0 <= row[3] <= 100 for row in first["rows"])
    assert first["history"][-1][0] == 24
    with pytest.raises(Interrupted):
        found(Stop(10), 0, "second")
    assert found(Stop(), 0, "second") == first
    assert found(Stop(), 1, "third")["history"] != first["history"]


def test_costs_follow_what_is_trained():
    recipe = GraphRecipe(
        augmentation="random2", drop_share=0.2, subgraph_share=0.2, order="every_epoch", optimiser="adam",
        learning_rate=1e-3, epochs=10, batch_size=32,
    )  # fmt: skip
    config = configuration(seeds=[0, 1])
    config.hardware = Hardware(teraflops=0.02)
    build = molecule_build(config.graph, "demo", "GIN")
    run = SimpleNamespace(backbone=build, recipe=recipe, objective="dcl", evaluation={"BBBP": HOW})
    # 120 molecules of 25 atoms, half of them kept, in 2 views for 10 epochs, 3 passes of 2 layers of 8 to 16 and back
    assert cost.of_run(config, run).hours == pytest.approx(120 * 12.5 * 2 * 10 * 3 * 2 * 4 * 8 * 16 / 2e10 / 3600)
    run.objective = None
    assert cost.of_run(config, run).hours == 0
    expected = 0.8 * 60 * 25 * 100 * 2 * 3 * 2 * 4 * 8 * 16 / 2e10 / 3600
    assert cost.of_fine_tuning(config, run, BBBP).hours == pytest.approx(expected)
