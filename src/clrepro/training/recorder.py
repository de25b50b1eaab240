"""Statistics recorded while a training runs, from which figures over training steps are drawn.

They cost little and change nothing: random numbers and the model's mode are put back, so that a training ends in
the same weights to the bit with them and without.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.evaluation import statistics
from clrepro.paths import write_text

RECORDED_STEPS = 40  # at most so many besides step 0
HELD_OUT_SENTENCES = 1024  # of the held-out share, the part that is embedded each time
HELD_OUT_BATCH = 128  # N of li2024, appendix on the representation space
HELD_OUT_SEED = 0  # which examples are held out, and their dropout masks, are the same for every run and step
MARGIN = 0.30  # m of li2024's baseline: which anchors count for shares and ratios
TEMPERATURES = (0.001, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0)
LAMBDAS = (0.1, 0.25, 0.5, 1.0, 2.0)  # the paper names none
RATIOS = (1.0, 1.5)  # the static ratio, and the middle of the range that li2024 finds for dynamic ones
COSINE_BINS = 200  # on [-1, 1]
RATIO_BINS, RATIO_LIMIT = 100, 4.0  # on [0, 4]; what lies beyond counts in the last bin
SETTINGS = {
    "development": "encoder outputs before the head, dropout off; contrastive loss at 0.05, uniformity at t = 2",
    "train": "the batch of the step as the objective sees it (at step 0 the first batch), uniformity within each "
    "view; loss is the objective's own value; gradient norms before clipping, of all steps since the last record",
}
HELD_OUT_SETTINGS = {
    "held_out": "encoder outputs before the head, dropout on, tokens cut as in training; a positive pair is one "
    "example twice in a batch",
    "margin": MARGIN,
    "temperatures": list(TEMPERATURES),
    "lambdas": list(LAMBDAS),
    "ratios": list(RATIOS),
}


def evaluation_steps(total: int, every: int) -> list[int]:
    """The steps after which a training of ``total`` steps is evaluated: every so many, but at least once."""
    return list(range(every, total + 1, every)) or [total]


def recorded_steps(total: int, every: int) -> set[int]:
    """Step 0 and the evaluation steps, these thinned evenly to RECORDED_STEPS; the last one stays."""
    steps = evaluation_steps(total, every)
    if len(steps) > RECORDED_STEPS:
        steps = [steps[round(len(steps) * number / RECORDED_STEPS) - 1] for number in range(1, RECORDED_STEPS + 1)]
    return {0, *steps}


@contextmanager
def undisturbed(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Whatever happens inside, random numbers and the model's mode go on afterwards as if it had not."""
    backend = None if device.type == "cpu" else getattr(torch, device.type)
    training, rng, rng_of_device = model.training, torch.get_rng_state(), backend and backend.get_rng_state()
    try:
        yield
    finally:
        model.train(training)
        torch.set_rng_state(rng)
        if backend:
            backend.set_rng_state(rng_of_device)


class Recorder:
    """The rows [step, statistic, value] and the histograms of one training.

    A value that is not finite (no pair of that kind, no active anchor) is left out.
    """

    def __init__(self):
        self.rows: list[list] = []
        self.histograms: list[dict] = []
        self.settings: dict = dict(SETTINGS)

    def state_dict(self) -> dict:
        return {"rows": self.rows, "histograms": self.histograms, "settings": self.settings}

    def load_state_dict(self, content: dict) -> None:
        self.rows, self.histograms, self.settings = content["rows"], content["histograms"], content["settings"]

    def write(self, file: Path) -> None:
        """statistics.json, one row or histogram a line."""
        rows, histograms = (",\n".join(map(json.dumps, part)) for part in (self.rows, self.histograms))
        settings = json.dumps(self.settings)
        write_text(file, f'{{"rows": [\n{rows}\n],\n"histograms": [\n{histograms}\n],\n"settings": {settings}}}\n')

    def add(self, step: int, group: str, values: dict[str, float]) -> None:
        for name, value in values.items():
            if math.isfinite(value):
                self.rows.append([step, f"{group}_{name}", float(f"{value:.7g}")])

    def add_histogram(self, step: int, name: str, values: Tensor, low: float, high: float, bins: int) -> None:
        counts = np.histogram(values.clamp(low, high).numpy(), bins, (low, high))[0].tolist()
        self.histograms.append({"step": step, "statistic": name, "low": low, "high": high, "counts": counts})

    def development(self, step: int, first: Tensor, second: Tensor, gold: Tensor) -> None:
        """Pairs of the development set with their gold similarities; names begin with dev_."""
        self.settings["development_batch_size"] = statistics.development_batch(gold)
        self.add(step, "dev", statistics.development_statistics(first, second, gold))

    def batch(self, step: int, view1: Tensor, view2: Tensor, loss: float) -> None:
        """The two views (N, D) of a training batch and its loss; names begin with train_."""
        view1, view2 = precise(view1), precise(view2)
        positive, negative = (statistics.angles(part) for part in statistics.pair_cosines(view1, view2))
        uniformity = (statistics.uniformity(view1) + statistics.uniformity(view2)) / 2
        values = {
            "loss": loss,
            "contrastive_loss": statistics.contrastive_loss(view1, view2),
            "alignment": statistics.alignment(view1, view2),
            "uniformity": uniformity,
            "distance_gap": statistics.distance_gap(view1, view2),
            "positive_angle_mean": float(positive.mean()),
            "negative_angle_mean": float(negative.mean()),
        }
        self.add(step, "train", values)

    def gradients(self, step: int, norms: list[float], clip: float | None) -> None:
        """Gradient norms of the steps since the last record, before clipping, if any; names begin with gradient_."""
        finite = np.array([norm for norm in norms if math.isfinite(norm)])
        if len(finite):
            values = {"norm_mean": float(finite.mean()), "norm_max": float(finite.max())}
            if clip is not None:
                values["clipped_share"] = float((finite > clip).mean())
            self.add(step, "gradient", values)

    def held_out(self, step: int, batches: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Batches of two views of held-out examples; names begin with heldout_.

        Averages go over all anchors of all batches (li2024, figures 5, 7, 8 and 9).
        """
        parts: dict[str, list[Tensor]] = defaultdict(list)
        views = []
        for view1, view2 in batches:
            view1, view2 = precise(view1), precise(view2)
            views.append(view1)
            for name, values in held_out_statistics(view1, view2).items():
                parts[name].append(values)
        if not views:
            return
        sizes = {"batch_size": len(views[0]), "examples": sum(map(len, views))}
        self.settings.update({**HELD_OUT_SETTINGS, **sizes})
        pooled = {name: torch.cat(values) for name, values in parts.items()}
        summary: dict[str, float] = {}
        for side in ("positive", "negative"):
            cosines = pooled.pop(f"{side}_cosine")
            for kind, values in (("cosine", cosines), ("angle", statistics.angles(cosines))):
                summary[f"{side}_{kind}_mean"] = float(values.mean())
                summary[f"{side}_{kind}_std"] = float(values.std(correction=0))
                if kind == "angle":  # li2024 takes angles for normal
                    summary.update({f"{side}_angle_{name}": value for name, value in statistics.shape(values).items()})
            if side == "positive":
                self.add_histogram(step, "heldout_positive_cosine", cosines, -1.0, 1.0, COSINE_BINS)
        within = statistics.within_cosines(torch.cat(views))  # the negatives that li2024's figure 5 shows
        self.add_histogram(step, "heldout_within_cosine", within, -1.0, 1.0, COSINE_BINS)
        active = pooled.pop("active")
        summary["active_share"] = float(active.mean())
        for lam in LAMBDAS:
            lower = pooled[f"ratio_lower@{lam:g}"]
            summary[f"ratio_kept@{lam:g}"] = len(lower) / float(active.sum().clamp(min=1))
            self.add_histogram(step, f"heldout_ratio_lower@{lam:g}", lower, 0.0, RATIO_LIMIT, RATIO_BINS)
        summary.update({name: float(values.mean()) for name, values in pooled.items()})
        self.add(step, "heldout", summary)


def held_out_statistics(view1: Tensor, view2: Tensor) -> dict[str, Tensor]:
    """The values of one batch, a (count,) tensor for each statistic."""
    positive, negative = statistics.pair_cosines(view1, view2)
    active = statistics.active_anchors(view1, view2, MARGIN).to(view1.dtype)
    values = {"positive_cosine": positive, "negative_cosine": negative.flatten(), "active": active}
    shares = statistics.hardest_shares(view1, view2, TEMPERATURES, MARGIN)
    weights = statistics.hardest_weights(view1, view2, TEMPERATURES)
    for temperature, share, weight in zip(TEMPERATURES, shares, weights, strict=True):
        values[f"hardest_share@{temperature:g}"], values[f"hardest_weight@{temperature:g}"] = share, weight
    for lam, (lower, upper) in zip(LAMBDAS, statistics.ratio_bounds(view1, view2, LAMBDAS, MARGIN), strict=True):
        values[f"ratio_lower@{lam:g}"], values[f"ratio_upper@{lam:g}"] = lower, upper
        for ratio in RATIOS:  # whether this ratio meets the lemma's condition
            values[f"ratio_met@{lam:g}@{ratio:g}"] = (lower < ratio).to(lower.dtype)
    for name, ratio in statistics.dynamic_ratios(view1, view2, MARGIN).items():
        values[f"{name}_ratio"] = ratio
    return values


def precise(view: Tensor) -> Tensor:
    """float64 on the CPU: angles of near pairs need it, and not every device has it."""
    return view.detach().cpu().double()
