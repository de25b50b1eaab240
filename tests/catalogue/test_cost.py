"""The price of a scale."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost
from clrepro.cli import plan_tables
from clrepro.modalities.image.plan import IMAGE


def test_the_price_of_the_paper_scale_is_of_the_right_order(paper_scale):
    price = cost.of_runs(paper_scale, paper_scale.runs)
    assert 300 < price.hours < 3000  # the anchors paper names 1100 to 1300 minutes for one training on an older GPU
    images = cost.of_runs(paper_scale, tuple(run for run in paper_scale.runs if run.plan is IMAGE))
    assert 20 < price.hours - images.hours < 500
    assert 40 < price.gigabytes < 250


SECOND = 1e13  # operations, at paper scale's 10 TFLOP/s
BERT = 12 * (4 * 768**2 + 2 * 768 * 3072)  # weights of the layers
GIN = 3 * 2 * (2 * 3371 * 32**2 + 7442 * 32)  # one pass over MUTAG: two matrices a layer and node, a sum an edge
MOLECULES = 8 * 5 * 300**2 * 25  # one pass over a molecule of 25 atoms: two matrices of 300 x 600 in five layers


@pytest.mark.parametrize(
    ("key", "operations", "numbers"),
    [
        # a million sentences in batches of 64, 26 tokens each; 125 looks at 4,000 sentences, 140,000 embedded once
        ("BERT_base", BERT * 26 * (6 * 2 * 10**6 + 2 * 125 * 4000 + 2 * 140_000), BERT + (30_522 + 512) * 768),
        # 782 steps an epoch, the last one smaller but priced as whole; all images once to embed them
        ("CIFAR_ResNet-18", 2 * 556e6 * (200 * 782 * 64 * 2 * 3 + 60_000), 11.2e6),
        ("GIN_MUTAG", GIN * (20 * 2 * 3 + 1), 3 * (2 * 32**2 + 4 * 32) + 7 * 32),
        # views keep four fifths and one fifth of the atoms
        ("GIN_molecules", 0.5 * MOLECULES * 80 * 2_000_000 * 2 * 3, 5 * 4 * 300**2 + 120 * 300),
    ],
)
def test_the_price_of_one_training(paper_scale, key, operations, numbers):
    run = next(run for run in paper_scale.runs if run.backbone.key == key and run.objective and run.seed == 42)
    price = cost.of_run(paper_scale, run)
    assert price.hours == pytest.approx(operations / SECOND / 3600)
    assert price.gigabytes == pytest.approx(4 * numbers / 1e9)


def test_the_price_of_fine_tunings(paper_scale):
    run = next(run for run in paper_scale.runs if run.backbone.key == "GIN_molecules" and run.objective)
    counts = {"Tox21": 7831, "BBBP": 2039, "ToxCast": 8575, "SIDER": 1427, "ClinTox": 1478, "MUV": 93087,
              "HIV": 41127, "BACE": 1513}  # fmt: skip
    prices = {one.name: run.plan.cost_of(paper_scale.config, run, one) for one in paper_scale.evaluations(run)}
    expected = {
        f"molecules_{name.lower()}": 0.8 * molecules * 100 * 10 * 3 * MOLECULES / SECOND / 3600
        for name, molecules in counts.items()
    }
    assert {name: price.hours for name, price in prices.items()} == pytest.approx(expected)


def test_a_time_limit_that_four_attempts_overrun_is_named_with_one_that_is_enough(capsys):
    def printed(minutes: int, runs: int = 1) -> list[str]:
        config = configuration.load("paper")
        jobs = config.jobs.model_copy(update={"runtime_minutes": minutes, "runs": runs})
        plan_tables.print_limits(Catalogue(config.model_copy(update={"jobs": jobs})))
        return capsys.readouterr().out.splitlines()

    assert printed(720) == []
    (line,) = printed(41)  # 6.835 hours are 410.1 minutes, ten times 41.01
    assert line.startswith("TOO SHORT: a training job of CIFAR100_ResNet-50 is priced at 6.8 hours; four attempts")
    assert "`jobs.runtime_minutes: 42` or more" in line
    assert printed(42) == []
    assert len(printed(42, runs=2)) > 0
