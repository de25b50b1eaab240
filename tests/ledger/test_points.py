"""Reductions of a curve to one number."""

import math
from types import SimpleNamespace

import numpy as np

from clrepro.ledger import points


def test_thirds_of_a_curve_are_fixed_beforehand():
    from clrepro.ledger.points import REDUCTIONS

    curve = [9.0, 5.0, 1.0, 2.0, 3.0, 4.0]
    found = {name: reduce(curve) for name, reduce in REDUCTIONS.items()}
    assert found == {"last": 4.0, "first": 9.0, "mean": 4.0, "early": 7.0, "middle": 1.5, "late": 3.5}
    # of a flat noisy curve no third lies below another on average, whereas its minimum lies below everything
    noise = np.random.default_rng(0).normal(size=(4000, 30))
    rises = [REDUCTIONS["late"](list(row)) - REDUCTIONS["middle"](list(row)) for row in noise]
    assert abs(np.mean(rises)) < 4 * np.std(rises) / math.sqrt(len(rises))


def test_a_curve_is_in_the_order_of_steps_and_empty_where_a_file_is_missing():
    run = SimpleNamespace(has_statistics=True)
    figure = SimpleNamespace(scored=(), statistics=(), histograms=(), scores=(), pictures=())
    record = {"history": [{"step": 8, "loss": 1.0}, {"step": 4, "loss": 2.0}]}
    found = {}
    for name, parts in {"whole": (record, {"rows": [[6, "loss", 1.5]]}), "no statistics": (record, None),
                        "no record": (None, {"rows": []})}.items():  # fmt: skip
        one, two = parts
        records = SimpleNamespace(record=lambda run, one=one: one, statistics=lambda run, two=two: two)
        found[name] = points.curve(run, figure, "loss", records)
    assert found == {"whole": [(4, 2.0), (6, 1.5), (8, 1.0)], "no statistics": [], "no record": []}
