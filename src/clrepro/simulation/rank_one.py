r"""The synthetic study of orthonormal anchors regression 2024, section 3 (printed as its table 2, made of pictures).

Three clusters of points, each on a line through the origin of R^3, plus Gaussian noise:

    x = t q_y + noise,   t uniform in [-1, 1],   q_0, q_1, q_2 orthonormal,   positive of x: -x + noise.

Three dense layers with batch norm and ReLU and outputs in R^3 are trained by InfoNCE (the paper's equation (1), all
a != i: `nt_xent`), DCL, VICReg and Barlow Twins, and by each of them with the anchors of equation (2) added, which see
the labels of some of the points. The paper observes that the plain losses fuse the clusters onto one line and that the
anchors keep them apart. It prints no numbers and states no setting; those here, and the numbers beside the pictures,
are ours.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from clrepro import plotting
from clrepro.errors import unknown
from clrepro.objectives import make
from clrepro.objectives._anchors import orthonormal_anchors

CLUSTERS = 3
METRICS = ("effective_rank", "rank_95", "axes_angle", "probe_accuracy", "variance")
BEFORE = {"raw": "raw input", "untrained": "untrained network"}
OUTPUTS = ("dense", "relu", "norm", "norm_relu")
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
COLUMNS = ["kind", "series", "loss", "anchor_weight", "seed", "cluster", "x", "y", "z", "metric", "value"]
EXPLAINED = """Below each sphere: mean ± standard deviation over the seeds.
rank: exp of the entropy of the singular values' shares, 1 to 3
angle: between the clusters' principal axes, mean, 0° to 90°
probe: accuracy of logistic regression on the half of the points
    that it was not fitted to; a third is chance
Drawn: unit embeddings of the first seed, a colour a cluster.
A dead network puts points at the centre."""


# The metrics, each of embeddings (N, 3) with rows of unit length (or 0, where a network is dead).


def concentration(embeddings: np.ndarray) -> np.ndarray:
    """Singular values (not centred) as shares of their sum, falling: (3,); zeros if all rows are 0."""
    values = np.linalg.svd(embeddings, compute_uv=False)
    return values / max(values.sum(), 1e-300)


def effective_rank(embeddings: np.ndarray) -> float:
    """exp of the entropy of the singular values' shares (Roy and Vetterli 2007): 1 on one line, 3 if all are equal."""
    shares = concentration(embeddings)
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def rank_95(embeddings: np.ndarray) -> int:
    """How many singular values hold 95 % of their sum: a reading of the effective rank of the paper's figure 3."""
    return int((concentration(embeddings).cumsum() < 0.95 - 1e-12).sum()) + 1


def axes_angle(embeddings: np.ndarray, clusters: np.ndarray) -> float:
    """Mean angle (rad, 0 to pi/2) between the clusters' principal axes, which are lines through the origin.

    NaN if a dead network leaves a cluster at 0, where it has no axis.
    """
    if not all(embeddings[clusters == cluster].any() for cluster in range(CLUSTERS)):
        return float("nan")
    axes = [np.linalg.svd(embeddings[clusters == cluster])[2][0] for cluster in range(CLUSTERS)]
    cosines = [abs(axes[i] @ axes[j]) for i in range(CLUSTERS) for j in range(i)]
    return float(np.mean(np.arccos(np.minimum(cosines, 1.0))))


def probe_accuracy(embeddings: np.ndarray, clusters: np.ndarray, known: np.ndarray) -> float:
    """Accuracy (0 to 1) of logistic regression, fitted where known (N,) bool holds, on the other points.

    A linear probe cannot tell a line from another where both x and -x belong to it: raw input is near chance.
    """
    probe = LogisticRegression(solver="newton-cg", max_iter=1000).fit(embeddings[known], clusters[known])
    return float(probe.score(embeddings[~known], clusters[~known]))


def measure(embeddings: np.ndarray, clusters: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """All metrics; NaN if training has diverged. variance: summed over the dimensions, as in the paper's figure 2."""
    if not np.isfinite(embeddings).all():
        return dict.fromkeys(METRICS, float("nan"))
    return {
        "effective_rank": effective_rank(embeddings),
        "rank_95": rank_95(embeddings),
        "axes_angle": axes_angle(embeddings, clusters),
        "probe_accuracy": probe_accuracy(embeddings, clusters, known),
        "variance": float(embeddings.var(0).sum()),
    }


# Data, network, training.


def sample(seed: int, count: int, noise: float) -> tuple[Tensor, np.ndarray, np.ndarray]:
    """Points (3 count, 3), their clusters (3 count,), and which half is known to the probe; all in float64."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    clusters = np.repeat(np.arange(CLUSTERS), count)
    places = rng.uniform(-1, 1, size=(len(clusters), 1))
    points = directions[clusters] * places + noise * rng.normal(size=(len(clusters), 3))
    return torch.from_numpy(points), clusters, np.tile(np.arange(count) < count // 2, CLUSTERS)


def network(seed: int, width: int, output: str) -> nn.Sequential:
    """Three dense layers; the first two end in batch norm and ReLU, the last as `output` says.

    Batch norm takes the statistics of the batch at hand, in evaluation as well.
    """
    if output not in OUTPUTS:
        raise unknown("output", output, OUTPUTS, "the settings of rank_one")
    sizes = [3, width, width, 3]
    layers: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for i in range(3):
            last = i == 2
            layers.append(nn.Linear(sizes[i], sizes[i + 1]))
            if not last or output in ("norm", "norm_relu"):
                layers.append(nn.BatchNorm1d(sizes[i + 1], track_running_stats=False))
            if not last or output in ("relu", "norm_relu"):
                layers.append(nn.ReLU())
    return nn.Sequential(*layers).double()


def unit(embeddings: Tensor) -> np.ndarray:
    """Rows scaled to unit length; a row of zeros stays."""
    return (embeddings / embeddings.norm(dim=1, keepdim=True).clamp(min=1e-12)).detach().numpy()


def objective(spec: dict[str, Any], weight: float) -> Any:
    """A loss of the settings, with the anchors around it unless their weight is 0."""
    spec = dict(spec)
    name, variant = spec.pop("objective"), spec.pop("variant", None)
    if not weight:
        return make(name, variant, **spec)
    # barlow_twins has a lam of its own, which keeps its default
    return make("oar", base=name, base_variant=variant, lam=weight, **spec)


def train(spec: dict[str, Any], weight: float, seed: int, settings: dict[str, Any]) -> nn.Sequential:
    """A network after training: every step shows all points, beside positives drawn anew."""
    points, clusters, known = sample(seed, settings["samples"], settings["noise"])
    model = network(seed, settings["width"], settings["output"])
    loss = objective(spec, weight)
    state = {}
    if weight:  # labels of the probe's half only, so that its test stays clean
        rank = np.tile(np.arange(settings["samples"]), CLUSTERS)
        labelled = known & (rank < int(settings["labelled"] * settings["samples"]))
        state = {
            "labels": torch.from_numpy(np.where(labelled, clusters, -1)),
            "anchors": orthonormal_anchors(CLUSTERS, 3, seed),
        }
    if settings["optimizer"] not in OPTIMIZERS:
        raise unknown("optimizer", settings["optimizer"], OPTIMIZERS, "the settings of rank_one")
    extra = {"momentum": settings["momentum"]} if settings["optimizer"] == "sgd" else {}
    optimizer = OPTIMIZERS[settings["optimizer"]](model.parameters(), lr=settings["learning_rate"], fused=True, **extra)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(settings["steps"]):
        noise = torch.randn(points.shape, generator=generator, dtype=points.dtype)
        positives = -points + settings["positive_noise"] * noise
        view1, view2 = model(torch.cat([points, positives])).chunk(2)
        optimizer.zero_grad()
        loss(view1, view2, **state).backward()
        optimizer.step()
    return model


@contextmanager
def one_thread() -> Iterator[None]:
    """Threads would change the order of sums, hence the digits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def rows_of(place: dict[str, Any], embeddings: np.ndarray, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of one set of embeddings: its numbers and, of the first seed, its points."""
    _, clusters, known = sample(place["seed"], settings["samples"], settings["noise"])
    for metric, value in measure(embeddings, clusters, known).items():
        yield {"kind": "number", **place, "metric": metric, "value": value}
    if place["seed"] == settings["seeds"][0]:
        for cluster, (x, y, z) in zip(clusters, embeddings, strict=True):
            yield {"kind": "point", **place, "cluster": cluster, "x": x, "y": y, "z": z}


def panels(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """What is trained: series, loss and anchor_weight, row by row; a row is a series at one weight, 0 being plain."""
    return [
        {"series": series, "loss": f"OAR-{loss}" if weight else loss, "anchor_weight": weight}
        for series, changes in settings["series"].items()
        for weight in (0, *{**settings, **changes}["anchor_weights"])
        for loss in settings["losses"]
    ]


def compute(settings: dict[str, Any]) -> pd.DataFrame:
    """Points (unit embeddings, first seed) and numbers (every seed) before training and after it with every loss.

    Columns: kind (point, number), series, loss, anchor_weight, seed, cluster, x, y, z, metric, value. A series is a
    set of settings that replace others; "before" is none of them. Losses: raw, untrained, those of the settings, and
    OAR-<loss> for each weight of the anchors.
    """
    rows: list[dict[str, Any]] = []
    with one_thread():
        for seed in settings["seeds"]:
            points, _, _ = sample(seed, settings["samples"], settings["noise"])
            untrained = network(seed, settings["width"], settings["output"])
            for loss, embeddings in (("raw", points), ("untrained", untrained(points))):
                place = {"series": "before", "loss": loss, "anchor_weight": 0, "seed": seed}
                rows += rows_of(place, unit(embeddings), settings)
            for panel in panels(settings):
                changed = {**settings, **settings["series"][panel["series"]]}
                spec = settings["losses"][panel["loss"].removeprefix("OAR-")]
                model = train(spec, panel["anchor_weight"], seed, changed)
                rows += rows_of({**panel, "seed": seed}, unit(model(points)), changed)
    return pd.DataFrame(rows, columns=COLUMNS)


# The picture.


def caption(numbers: pd.DataFrame) -> str:
    """Mean and standard deviation over the seeds, of the numbers of one panel."""
    values = numbers.pivot(index="seed", columns="metric", values="value")
    diverged = int(values["effective_rank"].isna().sum())
    if diverged == len(values):
        return "diverged"
    mean, std = values.mean(), values.std(ddof=1).fillna(0.0)
    degrees = 180 / np.pi
    lines = [
        f"rank {mean['effective_rank']:.2f} ± {std['effective_rank']:.2f}",
        f"angle {mean['axes_angle'] * degrees:.0f} ± {std['axes_angle'] * degrees:.0f}°",
        f"probe {mean['probe_accuracy'] * 100:.0f} ± {std['probe_accuracy'] * 100:.0f} %",
    ]
    return "\n".join(lines + ([f"{diverged} of {len(values)} diverged"] if diverged else []))


def draw(frame: pd.DataFrame, settings: dict[str, Any]) -> Figure:
    """Unit spheres: before training on top, then a block a series; a column a loss, the plain row above OAR's."""
    columns = len(settings["losses"])
    blocks = {"before": [{"series": "before", "loss": loss, "anchor_weight": 0} for loss in BEFORE]}
    for panel in panels(settings):
        blocks.setdefault(panel["series"], []).append(panel)
    heights = [-(-len(block) // columns) for block in blocks.values()]
    with plotting.style():
        figure = Figure(figsize=(2.05 * columns, 2.15 * sum(heights) + 0.35 * len(blocks)), layout="constrained")
        parts = figure.subfigures(len(blocks), 1, height_ratios=heights, hspace=0.02, squeeze=False)[:, 0]
        for part, height, (series, block) in zip(parts, heights, blocks.items(), strict=True):
            part.suptitle(heading(series, settings), x=0.01, ha="left", fontsize=10, fontweight="bold")
            for i, panel in enumerate(block):
                axis = part.add_subplot(height, columns, i + 1, projection="3d")
                chosen = frame[(frame[list(panel)] == pd.Series(panel)).all(axis=1)]
                sphere(axis, chosen[chosen["kind"] == "point"])
                weight = panel["anchor_weight"]
                name = panel["loss"].replace("OAR-", f"OAR × {weight:g} + " if weight != 1 else "OAR + ")
                axis.set_title(BEFORE.get(name, name), loc="center", pad=0)
                text = caption(chosen[chosen["kind"] == "number"])
                axis.text2D(0.5, 0.0, text, transform=axis.transAxes, ha="center", va="top", fontsize=7.5)
        parts[0].text(2 / columns + 0.01, 0.5, EXPLAINED, va="center", fontsize=8, color="#555555", linespacing=1.4)
        plotting.footnote(figure, settings.get("footnote", ""))
    return figure


def heading(series: str, settings: dict[str, Any]) -> str:
    """A series by its name and the settings that are its own."""
    changes = settings["series"].get(series, {})
    own = [f"{key.replace('_', ' ')} {value}" for key, value in changes.items() if key != "anchor_weights"]
    return f"{series}: {', '.join(own)}" if own else f"{series} training" if series == "before" else series


def sphere(axis: Any, points: pd.DataFrame) -> None:
    """Points on a unit sphere of which the great circles in the coordinate planes are drawn."""
    circle = np.linspace(0, 2 * np.pi, 61)
    flat = np.stack([np.cos(circle), np.sin(circle), np.zeros_like(circle)])
    for turn in range(3):
        axis.plot(*np.roll(flat, turn, axis=0), color="#bbbbbb", linewidth=0.6)
    # falling sizes, so that points of several clusters show where they coincide
    for size, (_, cluster) in zip((13, 8, 4), points.dropna(subset=["x"]).groupby("cluster"), strict=False):
        axis.scatter(cluster["x"], cluster["y"], cluster["z"], s=size, linewidths=0, depthshade=False, alpha=0.75)
    axis.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    axis.set_box_aspect((1, 1, 1), zoom=1.45)
    axis.view_init(elev=22, azim=35)
    axis.set_axis_off()
