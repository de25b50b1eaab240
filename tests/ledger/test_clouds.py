"""Clouds of alignment and uniformity: how near they lie, and where they come from."""

import math

import numpy as np
import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.ledger import clouds
from clrepro.ledger.quantities import resolver
from clrepro.ledger.records import Records
from clrepro.paths import write_json
from tests.ledger.results import finish

# evaluation


def test_how_near_one_cloud_comes_to_another():
    first, second = np.array([[0.0, 0.0], [2.0, 4.0]]), np.array([[0.0, 8.0], [1.0, 1.0], [2.0, 8.0]])
    # extents 2 and 4: (0, 0) lies sqrt(1/4 + 1/16) from (1, 1), (2, 4) lies sqrt(1/4 + 9/16) from it and 1 from (2, 8)
    assert clouds.apart(first, second) == pytest.approx((math.sqrt(5) / 4 + math.sqrt(13) / 4) / 2)
    assert clouds.apart(second, first) != pytest.approx(clouds.apart(first, second))
    random = np.random.default_rng(4)
    one, two = random.normal(size=(9, 2)), random.normal(size=(7, 2)) * (3.0, 0.2)
    scale = [max(column) - min(column) for column in one.T]
    nearest = [min(math.hypot((a - c) / scale[0], (b - d) / scale[1]) for c, d in two) for a, b in one]
    assert clouds.apart(one, two) == pytest.approx(sum(nearest) / 9)
    assert clouds.apart(one * (5, 0.1), two * (5, 0.1)) == pytest.approx(clouds.apart(one, two))  # no unit counts
    assert clouds.apart(one, np.concatenate([two, one])) == 0  # the second has been where the first was
    astray = np.concatenate([two, [[90.0, 90.0]]])
    assert clouds.apart(one, astray) == clouds.apart(one, two)  # nor does it come nearer by going elsewhere


def test_the_middle_of_the_image_lies_between_its_ends():
    # x falls and y rises from the bottom right to the top left; places 0, 0.3, 0.5, 1 of the way
    line = np.array([[1.0, 0.0, 10.0], [0.7, 0.6, 20.0], [0.5, 1.0, 40.0], [0.0, 2.0, 30.0]])
    found = {name: measure(line[:2], line[2:]) for name, (*_, measure) in clouds.MEASURES.items() if name != "apart"}
    assert found == {"bottom_right": 15.0, "middle": 40.0, "top_left": 30.0}
    assert math.isnan(clouds.mean_of_third(1, line[[0, 3]]))
    assert clouds.along_diagonal(line[:, 0], line[:, 1]).tolist() == [0, 0, 1, 2]
    random = np.random.default_rng(5)
    x, y = random.normal(size=(2, 30))
    place = [(b - min(y)) / (max(y) - min(y)) + (max(x) - a) / (max(x) - min(x)) for a, b in zip(x, y, strict=True)]
    cuts = [min(place) + part * (max(place) - min(place)) / 3 for part in (1, 2)]
    assert clouds.along_diagonal(x, y).tolist() == [sum(one >= cut for cut in cuts) for one in place]


# of image encoders and of simulations


def test_clouds_join_the_steps_of_statistics_and_leave_the_untrained_encoder_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = configuration.load("demo").model_dump()
    catalogue = Catalogue(configuration.parse({**raw, "figures": ["nie2023/figure_1a"], "seeds": [1, 2]}))
    plane = {"L_cl": [(0, 9, 9), (10, 0, 0), (20, 1, 0)], "L_dcl": [(0, 9, 9), (10, 0, 4), (20, 1, 1), (30, 2, 4)]}
    for point in catalogue.figure("nie2023/figure_1a").points:
        for run in point.runs[: 2 if point.series == "L_cl" else 1]:
            if point.series not in plane:
                continue
            finish(run, {}, [0.1, 0.2])  # scores at steps 10 and 20
            rows = [[step, "dev_uniformity", x] for step, x, _ in plane[point.series]]
            rows += [[step, "dev_alignment", y] for step, _, y in plane[point.series]]
            write_json(run.folder / "statistics.json", {"rows": rows, "histograms": []})
    resolve = resolver(catalogue, "nie2023", Records())
    apart = resolve("figure_1a/L_cl and L_dcl/BERT_base/apart(dev_uniformity, dev_alignment)")
    assert apart.values == {1: pytest.approx((math.sqrt(2) + 1) / 2)}  # L_cl's extents: 1, and 1 for want of any
    assert apart.why == "seed 2 not run yet: snakemake nie2023_figure_1a --cores all"
    assert len(apart.runs) == 3
    # both have scores at (0, 0) and (1, 0), (0, 4) and (1, 1): places 0 and -1, 1 and -0.75 in extents 1 and 4
    scored = "figure_1a/L_cl and L_dcl/BERT_base/{}(dev_uniformity, dev_alignment, stsb_dev)"
    ends = [resolve(scored.format(name)).values for name in ("bottom_right", "top_left")]
    assert ends == [{1: pytest.approx(0.2)}, {1: pytest.approx(0.1)}]
    assert resolve(scored.format("middle")).values == {1: pytest.approx(0.1)}
    none = resolve("figure_1a/L_cl and L_a&u/BERT_base/apart(dev_uniformity, dev_alignment)")
    assert (none.values, none.why[:12]) == ({}, "not run yet:")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("figure_1a/L_cl and L_dcl/BERT_base/near(dev_uniformity, dev_alignment)", "unknown measure 'near'"),
        ("figure_1a/L_cl/BERT_base/apart(dev_uniformity, dev_alignment)", "apart takes 2 series"),
        ("figure_1a/L_cl and L_dcl/BERT_base/middle(dev_uniformity, dev_alignment)", "and 3 statistics"),
        ("figure_1a/L_cl and L_x/BERT_base/apart(dev_uniformity, dev_alignment)", "unknown series 'L_x'"),
        ("figure_1a/L_cl and L_dcl/BERT_base/apart(dev_uniformity, dev_align)", "unknown statistic 'dev_align'"),
    ],
)
def test_an_unknown_cloud_is_named(catalogue, reference, message):
    with pytest.raises(UserError, match="figure_1a") as failure:
        resolver(catalogue, "nie2023", Records())(reference)
    assert message in str(failure.value)
