"""The graph workload and how its runs are planned."""

from inspect import signature
from itertools import chain

import numpy as np
import pytest
import torch

from clrepro import config as configuration
from clrepro import objectives
from clrepro.catalogue import Catalogue
from clrepro.demo import graphs as demo
from clrepro.errors import UserError
from clrepro.modalities.graph import tu_files
from clrepro.modalities.graph.training import GraphWorkload, as_seen
from clrepro.sources.source import source

CPU = torch.device("cpu")
SETTINGS = {
    "augmentation": "random4", "behaviour": "released", "drop_share": 0.1, "subgraph_share": 0.2, "order": "once",
    "batch_size": 32, "epochs": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    file = tmp_path_factory.mktemp("graphs") / "demo.zip"
    demo.write(file)
    return tu_files.read(file, source("demo-graphs").graphs)


def workload(graphs, seed: int = 0, **changes) -> GraphWorkload:
    settings = {**SETTINGS, **changes}
    torch.manual_seed(seed)
    return GraphWorkload(as_seen(graphs, settings["behaviour"]), {"width": 8, "layers": 2}, settings, seed)


def orders(work: GraphWorkload) -> list[list[int]]:
    """The graphs of every step of two epochs."""
    return [work.rows_of(step)[1].tolist() for step in range(2 * work.steps_per_epoch)]


def test_the_last_batch_is_kept_and_the_order_is_drawn_once_or_in_every_epoch(graphs):
    once = orders(workload(graphs))
    assert [len(rows) for rows in once] == [32, 32, 16] * 2
    assert sorted(chain(*once[:3])) == list(range(80))
    assert once[:3] == once[3:]
    again = orders(workload(graphs, order="every_epoch"))
    assert again[:3] != again[3:]
    assert sorted(chain(*again[3:])) == list(range(80))
    assert orders(workload(graphs, seed=1)) != once
    with pytest.raises(UserError, match="batch_size 81 is larger than the 80 examples"):
        workload(graphs, batch_size=81)


def test_a_released_first_view_is_the_graph_and_written_ones_are_both_augmented(graphs):
    work = workload(graphs)
    _, rows = work.rows_of(0)
    plain, other = work.views(0, CPU)
    assert len(plain.kinds) == as_seen(graphs, "released").sizes[rows].sum()
    assert work.view(0, work.steps_per_epoch, CPU) is plain  # kept: it is the same in every epoch
    assert len(other.kinds) < len(plain.kinds)
    written = workload(graphs, behaviour="written", augmentation="drop_nodes")
    kept = graphs.sizes[rows] - (graphs.sizes[rows] * 0.1).astype(int)
    for view in written.views(0, CPU):
        assert len(view.kinds) == kept.sum()


# all but the one that takes labels as well
TWO_VIEWS = [
    name for name in objectives.names() if "anchors" not in signature(objectives.make(name).function).parameters
]


@pytest.mark.parametrize("name", TWO_VIEWS)
def test_every_objective_on_two_views_trains_an_encoder_of_graphs(graphs, name):
    work = workload(graphs)
    before = [parameter.detach().clone() for parameter in work.model.encoder.parameters()]
    optimiser = torch.optim.Adam(work.model.parameters(), 0.01)
    for step in range(4):
        ((view1, view2, more),) = work.terms(work.model, step, CPU)
        loss = objectives.make(name)(view1, view2, **more)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    assert torch.isfinite(loss)
    after = list(work.model.encoder.parameters())
    assert all(torch.isfinite(parameter).all() for parameter in after)
    assert any(not torch.equal(*pair) for pair in zip(before, after, strict=True))


def planned(tmp_path, text: str = "{}", scale: str = "paper") -> Catalogue:
    file = tmp_path / "more.yaml"
    file.write_text(text)
    return Catalogue(configuration.load(scale, [configuration.ROOT / "config/graphs.yaml", file]))


def test_table_4_is_planned_with_the_papers_settings_and_compares(tmp_path):
    catalogue = planned(tmp_path)
    cells = {(cell.row, cell.column): cell for cell in catalogue.tables[0].cells}
    macl = cells["MACL", "DD"].runs
    assert [run.seed for run in macl] == [0, 1, 2, 3, 4]
    recipe = macl[0].recipe
    found = recipe.epochs, recipe.batch_size, recipe.learning_rate, recipe.augmentation, recipe.behaviour
    assert found == (20, 128, 0.01, "random2", "released")
    assert cells["MACL", "RDT-B"].runs[0].recipe.augmentation == "random4"
    assert macl[0].params["base_temperature"] == 0.2
    assert macl[0].evaluation["svm"]["folds"] == 10
    assert all(catalogue.compares(cell.runs) for cell in cells.values())
    untrained = cells["[untrained encoder]", "DD"].runs
    assert [run.repetition for run in untrained] == [0, 1, 2, 3, 4]
    fewer = planned(tmp_path, "graph: {training: {epochs: 10}}")
    assert not fewer.compares(fewer.tables[0].cells[0].runs)
    points = {
        (point.series, point.runs[0].recipe.epochs) for point in fewer.figures[0].points if point.runs[0].objective
    }
    assert points == {(series, epochs) for series in ("GraphCL", "MACL") for epochs in (0.5, 1, 2, 5, 10)}


def test_a_row_of_your_own_stands_in_the_table_of_its_recipe(tmp_path):
    catalogue = planned(tmp_path, "rows: {flat: {objective: flatnce, recipe: huang2023.graphcl}}")
    own = [cell for cell in catalogue.tables[0].cells if cell.own]
    assert [cell.column for cell in own] == ["NCI1", "PROTEINS", "MUTAG", "RDT-B", "DD", "IMDB-B"]
    assert {run.objective for cell in own for run in cell.runs} == {"flatnce"}


def test_what_a_mirror_lacks_is_a_hole_and_one_encoder_is_fine_tuned_often(tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    text = f"tables: [huang2023/table_5]\nfigures: []\nmirror: {mirror}\n"
    text += "graph: {molecules: {data: chem-dataset, sets: [BBBP]}}"
    holes = {cell.hole for cell in planned(tmp_path, text).tables[0].cells}
    assert f"chem-dataset is not in the mirror: put it into <mirror>/{source('chem-dataset').mirror}" in holes
    (mirror / "graphs").mkdir()
    (mirror / source("chem-dataset").mirror).touch()
    catalogue = planned(tmp_path, text)
    runs = {cell.runs for cell in catalogue.tables[0].cells if not cell.hole}
    assert len(runs) == 5
    assert all(len(some) == 1 for some in runs)
    (run, *_) = next(iter(runs))
    (one,) = catalogue.evaluations(run)
    assert one.seeds(catalogue.config) == tuple(range(10))
    assert np.isclose(run.recipe.epochs, 80)
