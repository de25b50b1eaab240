"""Quantities of image encoders and of simulations."""

import math

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.ledger.quantities import resolver
from clrepro.ledger.records import Records
from clrepro.paths import write_json


@pytest.fixture
def sweeps(tmp_path, monkeypatch) -> Catalogue:
    monkeypatch.chdir(tmp_path)
    raw = configuration.load("demo").model_dump()
    return Catalogue(configuration.parse({**raw, "figures": ["oar2024/figure_2"], "seeds": [1, 2]}))


def probed(run, accuracy: float, variance: float | None) -> None:
    write_json(run.record, {"identity": run.identity, "seed": run.seed, "code": run.code})
    write_json(run.folder / "statistics.json", {"rows": []})
    write_json(run.folder / "finetune.json", {"rows": [["finetune_10", "test", "top1", accuracy]]})
    rows = [] if variance is None else [["collapse", "test", "variance_raw", variance]]
    write_json(run.folder / "collapse.json", {"rows": rows})


def test_the_share_of_series_that_are_best_where_embeddings_vary_most(sweeps):
    # (accuracy, variance) at the demo's three rates; None: diverged
    numbers = {
        "InfoNCE": [(50, 1.0), (60, 2.0), (10, 0.1)],  # together
        "DCL": [(50, 3.0), (60, 2.0), (10, 0.1)],  # apart
        "InfoNCE [mean]": [(50, 1.0), (50, 0.5), (0, None)],  # together: as good as the best
    }
    figure = sweeps.figure("oar2024/figure_2")
    for name, values in numbers.items():
        points = [point for point in figure.points if point.series == name]
        for point, (accuracy, variance) in zip(points, values, strict=True):
            for run in point.runs:
                shift = run.seed if name == "DCL" and accuracy == 50 else 0  # seed 2 is as good as 52
                probed(run, accuracy + 5 * shift, variance)
    resolve = resolver(sweeps, "oar2024", Records())
    of = "figure_2/{}/CIFAR10_ResNet-18/peaks(finetune_10/top1, collapse/variance_raw)"
    three = resolve(of.format("InfoNCE and DCL and InfoNCE [mean]"))
    assert three.values == {1: pytest.approx(2 / 3), 2: 1.0}
    assert len(three.runs) == 3 * 3 * 2
    unfinished = resolve(of.format("InfoNCE and BT"))
    assert unfinished.values == {}
    assert unfinished.why == "seed 1, 2 not finished: snakemake oar2024_figure_2 --cores all"
    assert resolve("figure_2/InfoNCE [mean][1.0e-2]/CIFAR10_ResNet-18/finetune_10/top1").values == {1: 50, 2: 50}
    left_out = resolve("figure_2/InfoNCE [mean][1.0e-1]/CIFAR10_ResNet-18/finetune_10/top1").why
    assert left_out == "this configuration's `image.training` leaves that point of the sweep out"
    together = "figure_2/{}/CIFAR10_ResNet-18/correlation(finetune_10/top1, collapse/variance_raw)"
    # ranks 2 3 1 and 2 3 1; 2 3 1 and 3 2 1, then 2.5 2.5 1 and 3 2 1; no order of the accuracies
    assert resolve(together.format("InfoNCE")).values == {1: pytest.approx(1), 2: pytest.approx(1)}
    assert resolve(together.format("DCL")).values == {1: 0.5, 2: pytest.approx(math.sqrt(0.75))}
    assert resolve(together.format("InfoNCE [mean]")).values == {1: 0, 2: 0}
    assert resolve(together.format("InfoNCE and DCL")).values == {1: 0.75, 2: pytest.approx((1 + math.sqrt(0.75)) / 2)}
    with pytest.raises(UserError, match="unknown score 'collapse/variance'"):
        resolve(together.format("DCL").replace("_raw", ""))
    absent = resolver(sweeps, "huang2023", Records())
    why = absent("figure_4/MACL/ImageNet100_ResNet-50/places/central_separability").why
    assert why == "this configuration has no `image.backbones.ImageNet100_ResNet-50`"
    for wrong in ("InfoNCE and DLC", "InfoNCE [maen]"):
        with pytest.raises(UserError, match=r"unknown series .* Did you mean"):
            resolve(of.format(wrong))


def test_numbers_of_a_simulation_are_found_by_seed_series_loss_and_weight(sweeps):
    (study,) = (one for one in sweeps.simulations if one.paper == "oar2024")
    lines = ["kind,series,loss,anchor_weight,seed,cluster,x,y,z,metric,value"]
    lines += [f"number,strong,{loss},{weight},{seed},,,,,axes_angle,{value}" for loss, weight, seed, value in (
        ("BT", 0, 0, 0.5), ("BT", 0, 1, ""), ("OAR-BT", 1, 0, 0.75), ("OAR-BT", 1, 1, 1.0), ("OAR-BT", 100, 0, 1.5),
    )]  # fmt: skip
    lines += ["number,moderate,BT,0,0,,,,,axes_angle,9", "point,strong,BT,0,0,1,1,0,0,,"]
    missing = resolver(sweeps, "oar2024", Records())("table_2/strong/BT/axes_angle")
    assert (missing.values, missing.why) == ({}, "not computed yet: snakemake oar2024_table_2 --cores all")
    study.csv.parent.mkdir(parents=True)
    study.csv.write_text("\n".join(lines))
    resolve = resolver(sweeps, "oar2024", Records())
    plain = resolve("table_2/strong/BT/axes_angle")
    assert (plain.values, plain.why) == ({0: 0.5}, "seed 1 diverged")
    assert resolve("table_2/strong/OAR-BT[1]/axes_angle").values == {0: 0.75, 1: 1.0}
    assert resolve("table_2/strong/OAR-BT[100]/axes_angle").values == {0: 1.5}
    for reference, message in (
        ("table_2/weak/BT/axes_angle", "unknown series 'weak'"),
        ("table_2/strong/BT/axes_angel", "Did you mean axes_angle"),
        ("table_2/moderate/OAR-BT[100]/axes_angle", "no anchors of weight 100 there; give one of 1"),
        ("table_2/strong/BT[1]/axes_angle", "a loss without anchors has no weight"),
        ("table_2/strong/axes_angle", "is no number of a simulation"),
    ):
        with pytest.raises(UserError) as failure:
            resolve(reference)
        assert message in str(failure.value)
