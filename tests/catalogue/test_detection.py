"""Detection in the catalogue: settings, prices, and scales that have no images with boxes."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost
from clrepro.catalogue.jobs import Jobs
from clrepro.errors import UserError
from clrepro.modalities.image.detection.plan import DETECTION
from clrepro.report import tables

PLACE = ("huang2023", "table_2", "MACL", "AP_50", "value")


def of_paper_scale(architecture="resnet50", stem="imagenet", **detection):
    """A paper scale whose encoder's images can be reached, with other settings of detection."""
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    backbone = {"data": "cifar10", "architecture": architecture, "stem": stem}
    changes = {"backbones": {"ImageNet_ResNet-50": backbone}, "detection": detection}
    return Catalogue(configuration.parse(configuration.merge(raw, {"image": changes})))


def test_paper_scale_fine_tunes_by_the_usual_settings_and_prices_it():
    catalogue = of_paper_scale()
    cell = catalogue.cells[PLACE]
    assert (cell.score, cell.evaluations, len(cell.runs)) == ("detection/AP_50", (DETECTION,), 3)
    run = cell.runs[0]
    how = run.evaluation["detection"]
    assert how["train"] == ["voc2007-trainval@2007", "voc2012-trainval@2012"]
    assert (how["iterations"], how["batch_size"], how["learning_rate"]) == (24_000, 16, 0.02)
    assert (run.recipe.epochs, run.recipe.batch_size) == (200, 256)
    assert run in catalogue.cells["huang2023", "table_1", "MACL", "200", "value"].runs
    asked = catalogue.evaluations(run)
    assert [(one.file, one.reads) for one in asked] == [("linear.json", "features"), ("detection.json", "checkpoint")]
    # six runs, and the published 4.1 billion multiplications of a ResNet-50 at 224 x 224, a fifth in its last stage:
    # 512 regions cost 2 * 0.2 * 4.089e9 * 512 each way; whole photographs a seventh of that
    price = run.plan.cost_of(catalogue.config, run, DETECTION).hours * 3600 * 10e12
    regions = 3 * 24_000 * 16 * 2 * 0.2 * 4.089e9 * 512
    assert 1.1 * regions < price < 1.25 * regions
    tables_ = {table.name: cost.of_table(catalogue, table).hours for table in catalogue.tables}
    assert tables_["table_2"] > cost.of_runs(catalogue, cell.runs).hours
    table = next(part for part in catalogue.tables if (part.paper, part.name) == ("huang2023", "table_2"))
    assert "24,000 iterations of 16 images" in " ".join(tables.caption(catalogue, table))


def test_the_time_limit_of_fine_tuning_is_the_configuration_s():
    for minutes in (2880, 7):
        assert Jobs(of_paper_scale(runtime_minutes=minutes)).checkpoint_minutes(DETECTION.job) == minutes


def test_scales_without_images_with_boxes_say_so():
    for scale in ("demo", "bench"):
        hole = Catalogue(configuration.load(scale)).cells[PLACE].hole
        assert hole == "this configuration has no `image.detection`: no images with boxes to fine-tune on"
    for small in ("conv3", "resnet8"):
        hole = of_paper_scale(small, None).cells[PLACE].hole
        assert hole == "a detector needs resnet18 or resnet50 and colour images"
    hole = Catalogue(configuration.load("paper")).cells[PLACE].hole
    assert hole == "image set imagenet-1k has no url: put it into <mirror>/imagenet"


@pytest.mark.parametrize(
    ("detection", "message"),
    [
        ({"test": "voc2007-tset"}, "unknown data source 'voc2007-tset' in image.detection.test. Did you mean voc2007"),
        ({"train": ["cifar10"]}, "image.detection.train: 'cifar10' has no boxes"),
        ({"train": []}, "image.detection.train names no source"),
        ({"settings": {"iteration": 5}}, "unknown setting 'iteration' in image.detection.settings. Did you mean iter"),
        ({"settings": {"learning_rate": -1}}, "image.detection.settings: learning_rate: Input should be greater"),
    ],
)
def test_a_wrong_configuration_of_detection_is_refused_at_once(detection, message):
    with pytest.raises(UserError) as failure:
        of_paper_scale(**detection)
    assert message in str(failure.value)
