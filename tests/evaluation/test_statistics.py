"""Statistics of embeddings against plain NumPy loops written from the equations."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from clrepro.evaluation import statistics

MARGIN = 0.05


@pytest.fixture(scope="module")
def views():
    """Two views whose positives are near and some of whose anchors are beyond the margin."""
    rng = np.random.default_rng(3)
    centre = rng.normal(size=(1, 6))
    first = rng.normal(size=(12, 6)) + 1.2 * centre
    second = first + rng.normal(size=(12, 6)) * rng.uniform(0.05, 1.2, size=(12, 1))
    return first, second


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def tensors(views):
    return tuple(torch.from_numpy(view) for view in views)


def hardest_pairs(h, p):
    """(anchor, hardest negative) of the active anchors."""
    for i in range(len(h)):
        j = max((j for j in range(len(h)) if j != i), key=lambda j: h[i] @ p[j])
        if h[i] @ p[i] - h[i] @ p[j] < MARGIN:
            yield i, j


def test_the_filter_of_active_anchors_is_not_empty_and_not_full(views):
    h, p = map(unit, views)
    active = statistics.active_anchors(*tensors(views), MARGIN).numpy()
    assert list(np.flatnonzero(active)) == [i for i, _ in hardest_pairs(h, p)]
    assert 2 < active.sum() < len(h)


def test_alignment_uniformity_gap_and_loss(views, monkeypatch):
    monkeypatch.setattr(statistics, "BLOCK", 5)  # several blocks, the last one smaller
    h, p = map(unit, views)
    n, one, two = len(h), *tensors(views)
    align = sum(sum((a - b) ** 2) for a, b in zip(h, p, strict=True)) / n
    assert statistics.alignment(one, two) == pytest.approx(align)
    pairs = [math.exp(-2 * sum((h[i] - h[j]) ** 2)) for i in range(n) for j in range(i)]
    assert statistics.uniformity(one) == pytest.approx(math.log(sum(pairs) / len(pairs)))
    gap = [
        np.mean([np.linalg.norm(h[i] - p[j]) for j in range(n) if j != i]) - np.linalg.norm(h[i] - p[i])
        for i in range(n)
    ]
    assert statistics.distance_gap(one, two) == pytest.approx(np.mean(gap))

    def loss(rows):
        exponential = {(i, j): math.exp(h[i] @ p[j] / 0.5) for i in rows for j in rows}
        return np.mean([-math.log(exponential[i, i] / sum(exponential[i, j] for j in rows)) for i in rows])

    assert statistics.contrastive_loss(one, two, 0.5) == pytest.approx(loss(range(n)))
    batched = (loss(range(5)) + loss(range(5, 10))) / 2  # rows 10 and 11 make no batch
    assert statistics.contrastive_loss(one, two, 0.5, batch_size=5) == pytest.approx(batched)
    assert math.isnan(statistics.contrastive_loss(one, two, 0.5, batch_size=13))


def test_development_statistics_tell_the_written_threshold_from_the_released_one():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 80, 4))
    gold = np.array([5.0] * 3 + [4.6] * 67 + [4.0] * 5 + [0.2] * 5)
    measured = statistics.development_statistics(*map(torch.from_numpy, (first, second, gold)))
    squares = ((unit(first) - unit(second)) ** 2).sum(1)
    assert measured["alignment"] == pytest.approx(squares[:70].mean())
    assert measured["alignment_released"] == pytest.approx(squares[:3].mean())
    both = unit(np.concatenate([first, second]))
    pairs = [math.exp(-2 * ((both[i] - both[j]) ** 2).sum()) for i in range(160) for j in range(i)]
    assert measured["uniformity"] == pytest.approx(math.log(np.mean(pairs)))
    exponentials = np.exp(unit(first[:64]) @ unit(second[:64]).T / 0.05)
    assert measured["contrastive_loss"] == pytest.approx(
        -np.mean(np.log(exponentials.diagonal() / exponentials.sum(1)))
    )
    # the angle program takes pairs of 4 and more: 75, of which the first 64 make a batch
    angle = np.arccos(unit(first[:64]) @ unit(second[:64]).T - 1e-5)
    assert measured["positive_angle_mean"] == pytest.approx(angle.diagonal().mean())
    assert measured["negative_angle_mean"] == pytest.approx(angle[~np.eye(64, dtype=bool)].mean())
    few = statistics.development_statistics(*map(torch.from_numpy, (first[60:], second[60:], gold[60:])))
    assert math.isfinite(few["contrastive_loss"])  # 10 pairs above 4
    none = statistics.development_statistics(*map(torch.from_numpy, (first[75:], second[75:], gold[75:])))
    assert [name for name, value in none.items() if math.isnan(value)] == [
        "alignment", "alignment_released", "contrastive_loss", "positive_angle_mean", "negative_angle_mean",
    ]  # fmt: skip


def test_cosines_and_angles_of_positives_and_negatives(views):
    h, p = map(unit, views)
    n, (positive, negative) = len(h), statistics.pair_cosines(*tensors(views))
    np.testing.assert_allclose(positive, [h[i] @ p[i] for i in range(n)])
    np.testing.assert_allclose(negative, [[h[i] @ p[j] for j in range(n) if j != i] for i in range(n)])
    within = sorted(h[i] @ h[j] for i in range(n) for j in range(i))
    np.testing.assert_allclose(sorted(statistics.within_cosines(tensors(views)[0]).numpy()), within)
    assert statistics.angles(torch.tensor([1.0 + 1e-6, 0.0, -2.0])).tolist() == pytest.approx([0, math.pi / 2, math.pi])


def test_distance_from_normal_is_scipys():
    rng = np.random.default_rng(5)
    for values in (rng.normal(0.3, 0.05, 40), rng.exponential(size=41), np.array([0.0, 0.0, 0.0, 1.0])):
        measured = statistics.shape(torch.from_numpy(values))
        fitted = stats.norm(values.mean(), values.std())
        expected = [stats.skew(values), stats.kurtosis(values), stats.kstest(values, fitted.cdf).statistic]
        np.testing.assert_allclose(list(measured.values()), expected, rtol=1e-12)
    # two values stand at -1 and 1 deviation: D = Phi(1) - 1/2, kurtosis 1
    pair = statistics.shape(torch.tensor([2.0, 4.0], dtype=torch.float64))
    assert pair == pytest.approx(
        {"skewness": 0, "excess_kurtosis": -2, "normal_distance": math.erf(math.sqrt(0.5)) / 2}, abs=1e-15
    )
    assert all(map(math.isnan, statistics.shape(torch.full((5,), 0.1, dtype=torch.float64)).values()))


def test_share_of_the_hardest_negative_by_projection(views):
    h, p = map(unit, views)
    temperatures = (0.01, 0.05, 0.5, 3.0)
    expected = []
    for temperature in temperatures:
        row = []
        for i, hardest in hardest_pairs(h, p):
            others = [j for j in range(len(h)) if j != i]
            scale = sum(math.exp(h[i] @ p[j] / temperature) for j in others)
            pulls = {j: math.exp(h[i] @ p[j] / temperature) / scale * (p[j] - (h[i] @ p[j]) * h[i]) for j in others}
            total = sum(pulls.values())
            # the projection of the hardest pull on the sum, in lengths of the sum
            row.append(pulls[hardest] @ total / np.linalg.norm(total) / np.linalg.norm(total))
        expected.append(row)
    shares = statistics.hardest_shares(*tensors(views), temperatures, MARGIN)
    np.testing.assert_allclose(shares, expected)
    assert shares[0].median() > 0.9 > shares[-1].max()  # cold: mostly one negative has all; hot: nobody has


def test_the_hardest_negatives_plain_weight_is_its_part_of_the_softmax(views):
    h, p = map(unit, views)
    temperatures = (0.01, 0.5)
    weights = statistics.hardest_weights(*tensors(views), temperatures).numpy()
    for row, temperature in zip(weights, temperatures, strict=True):
        for i, weight in enumerate(row):  # every anchor, also those beyond the margin
            pulls = [math.exp(h[i] @ p[j] / temperature) for j in range(len(h)) if j != i]
            assert weight == pytest.approx(max(pulls) / sum(pulls))
    # one negative as near as the other: each has half, whatever the positive
    even = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert statistics.hardest_weights(even, even, (0.05,))[0, 0] == pytest.approx(0.5)


def test_bounds_of_lemma_1_and_what_they_say(views):
    h, p = map(unit, views)
    lambdas = (0.25, 1.0)
    bounds = statistics.ratio_bounds(*tensors(views), lambdas, MARGIN)
    for lam, (lower, upper) in zip(lambdas, bounds, strict=True):
        expected = []
        for i, j in hardest_pairs(h, p):
            to_positive, to_negative = p[i] - (h[i] @ p[i]) * h[i], p[j] - (h[i] @ p[j]) * h[i]
            a, b = math.acos(h[i] @ p[i]), math.acos(h[i] @ p[j])
            c = math.acos(to_positive @ to_negative / np.linalg.norm(to_positive) / np.linalg.norm(to_negative))
            if min(map(math.cos, (a, b, c))) <= 0 or math.sin(a) <= lam * math.sin(b) * math.sin(c):
                continue
            quotient = math.sin(b) / math.sin(a)
            root = math.sqrt(1 / lam**2 - (quotient * math.sin(c)) ** 2)
            expected.append((1 / lam + quotient * math.cos(c) - root, 1 / lam + quotient * math.cos(c) + root))
            # the lemma: in the tangent plane the step lam (r p - n) brings the anchor nearer just between the bounds
            for ratio, nearer in ((expected[-1][0] - 1e-6, False), (expected[-1][0] + 1e-6, True)):
                moved = lam * (ratio * to_positive - to_negative)
                assert (np.linalg.norm(moved - to_positive) < np.linalg.norm(to_positive)) == nearer
        assert expected
        np.testing.assert_allclose(torch.stack([lower, upper], 1), expected)


def test_dynamic_ratios(views):
    h, p = map(unit, views)
    ratios = statistics.dynamic_ratios(*tensors(views), MARGIN)
    expected = {"arccon": [], "met": [], "mat": []}
    for i, j in hardest_pairs(h, p):
        a, b = math.acos(h[i] @ p[i]), math.acos(h[i] @ p[j])
        expected["arccon"].append(math.sin(a + math.pi / 18) / math.sin(a))
        expected["met"].append(np.linalg.norm(h[i] - p[j]) / np.linalg.norm(h[i] - p[i]))
        expected["mat"].append(math.sin(b) / math.sin(a))
    for name, values in expected.items():
        np.testing.assert_allclose(ratios[name], values)


def test_no_active_anchor_gives_empty_results_not_errors():
    far = torch.eye(4, dtype=torch.float64)
    assert statistics.hardest_shares(far, far, (0.05,), MARGIN).shape == (1, 0)
    assert statistics.dynamic_ratios(far, far, MARGIN)["met"].shape == (0,)
    assert statistics.ratio_bounds(far, far, (1.0,), MARGIN)[0][0].shape == (0,)
