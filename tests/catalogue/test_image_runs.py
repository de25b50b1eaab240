"""Image runs in the catalogue: settings of tables, rows and columns, and what a scale divides."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers, tables
from clrepro.errors import UserError
from clrepro.modalities.image.evaluations import LINEAR
from tests.catalogue.asking import asking, cell_of

# the catalogue


def test_settings_of_tables_rows_and_columns_are_united_and_never_contradict():
    parts = [
        {"backbone": "A", "settings": {"epochs": 2}},
        {"settings": {"batch_size": 4}},
        None,
        {"score": "linear/top1"},
    ]
    merged = tables.unite("here", *parts)
    assert merged == {"backbone": "A", "score": "linear/top1", "settings": {"epochs": 2, "batch_size": 4}}
    with pytest.raises(UserError, match="here: `settings` give epochs twice, 2 and 3"):
        tables.unite("here", *parts, {"settings": {"epochs": 3}})


def test_columns_set_batch_sizes_which_a_scale_divides_or_leaves_out():
    cells = {size: cell_of(asking("demo"), "huang2023", "table_9", "MACL", size, "linear") for size in ("64", "1024")}
    assert {size: cell.runs[0].recipe.batch_size for size, cell in cells.items()} == {"64": 8, "1024": 128}
    assert [one.file for one in cells["64"].evaluations] == ["linear.json"]
    some = asking("demo", image={"training": {"batch_sizes": [256]}})
    assert (
        "`image.training.batch_sizes` leaves 64 out"
        in cell_of(some, "huang2023", "table_9", "MACL", "64", "linear").hole
    )
    assert cell_of(some, "huang2023", "table_9", "MACL", "256", "linear").runs
    absent = asking("demo", image={"backbones": {"CIFAR_ResNet-18": None}})
    hole = cell_of(absent, "huang2023", "table_9", "MACL", "64", "linear").hole
    assert hole == "this configuration has no `image.backbones.CIFAR_ResNet-18`"


def test_paper_scale_trains_images_by_the_papers_own_settings():
    catalogue = Catalogue(configuration.load("paper"))
    run = cell_of(catalogue, "huang2023", "table_9", "MACL", "1024", "linear").runs[0]
    assert (run.recipe.batch_size, run.recipe.epochs, run.recipe.learning_rate_rule) == (1024, 200, "linear_above_256")
    assert run.params["alpha"] == 0.5
    assert catalogue.compares([run])
    assert not asking("demo").compares(asking("demo").runs[-1:])
    rates = {place: cell_of(catalogue, "oar2024", "table_4", place, "10%", "top5") for place in ("BT", "OAR-BT")}
    assert {place: cell.runs[0].recipe.learning_rate for place, cell in rates.items()} == {"BT": 0.01, "OAR-BT": 1}
    assert rates["BT"].score == "finetune_10/top5"
    sweep = cell_of(catalogue, "oar2024", "table_3", "BT", "10%")
    assert [value for value, _ in sweep.points] == [10.0**power for power in range(-7, 1)]
    stated = cell_of(catalogue, "oar2024", "figure_2", "InfoNCE", "variance at learning rate 1")
    assert not stated.percent
    assert set(stated.runs) <= set(sweep_runs(catalogue, "InfoNCE"))
    hole = cell_of(catalogue, "huang2023", "table_1", "MACL", "200").hole
    assert hole == "image set imagenet-1k has no url: put it into <mirror>/imagenet"


def sweep_runs(catalogue, row):
    return cell_of(catalogue, "oar2024", "table_3", row, "10%").runs


def test_imagenet_is_planned_where_a_mirror_has_it(tmp_path):
    (tmp_path / "imagenet").mkdir()
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    catalogue = Catalogue(configuration.parse({**raw, "mirror": str(tmp_path)}))
    run = cell_of(catalogue, "huang2023", "table_B1", "MACL", "4096", "top1").runs[0]
    assert (run.recipe.framework, run.recipe.queue, run.recipe.key_momentum) == ("moco", 4096, 0.999)
    assert LINEAR.uses_gpu(LINEAR.settings_of(run.evaluation))  # its probe shows augmented images
    equal = [
        cell_of(catalogue, "huang2023", "table_8", row, "accuracy", "top1").runs for row in ("tau0=0.1", "alpha=0.5")
    ]
    assert equal[0] == equal[1]
    assert "without adaptive" in next(
        row for row in papers.published_tables("huang2023")["table_7"]["rows"][-1].values()
    )
    drop = cell_of(catalogue, "huang2023", "figure_3", "MACL drop 2048 to 256", "top1")
    ((plus, minus),) = drop.differences
    assert (plus[0][2], minus[0][2]) == ("2048", "256")
    assert "quoted" in cell_of(catalogue, "huang2023", "figure_3", "SimCLR", "8192").hole


def test_a_row_of_an_image_recipe_stands_in_tables_of_images_only():
    recipe = {"objective": "barlow_twins", "recipe": "huang2023.simclr_cifar"}
    catalogue = asking("demo", rows={"mine": recipe})
    found = {(cell.paper, cell.table) for cell in catalogue.cells.values() if cell.row == "mine"}
    assert found == {("huang2023", "table_9"), ("huang2023", "table_B3")}
    sizes = {cell_of(catalogue, "huang2023", "table_9", "mine", size, "linear").runs[0].recipe.batch_size
             for size in ("64", "1024")}  # fmt: skip
    assert sizes == {8, 128}


def test_a_scale_sweeps_the_rates_that_it_names():
    some = asking("demo", image={"training": {"learning_rates": [1e-4, 1.0]}})
    sweep = cell_of(some, "oar2024", "table_3", "BT", "10%")
    assert [value for value, _ in sweep.points] == [1e-4, 1.0]


# sweeps, from results written by hand


def test_a_scale_divides_the_widths_of_heads_and_nothing_else_of_them():
    def heads(divisor):
        catalogue = asking("demo", image={"training": {"hidden_divisor": divisor, "probe_epochs": None}})
        runs = [run for run in catalogue.runs if run.backbone.key == "CIFAR10_ResNet-18"]
        return {kind: part for run in runs for kind, part in run.evaluation.items() if "hidden" in part}

    printed, third, tiny = heads(1), heads(3), heads(1000)
    assert len(printed) == 3
    for kind, head in printed.items():
        assert head["hidden"] == [256, 128, 64]
        assert third[kind] == {**head, "hidden": [85, 42, 21]}
        assert tiny[kind]["hidden"] == [1, 1, 1]
