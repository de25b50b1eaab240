"""Seconds for the simulated figures of li2024 at full size, against plain NumPy.

    python benchmarks/simulation.py                       # all of them, a table on stdout
    python benchmarks/simulation.py --figures figure_3

The peer is what one would write first: for each pair of means, double-precision normal angles of shape (batches,
negatives), their cosines, the formula, the mean; one thread. It runs at a few pairs of means spread over the same grid,
before and after ours, and its time is multiplied up to the whole grid. Each objective draws afresh in both. Where both
were computed, the largest difference is given in standard errors of the peer's mean.
"""

import argparse
import importlib
import os
import time
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from clrepro import threads
from clrepro.catalogue.papers import load

FIGURES = ("figure_2", "figure_3", "figure_4", "figure_10")


def plain_dissipation(objective: str, positive: np.ndarray, negatives: np.ndarray, parameters: dict) -> np.ndarray:
    """Gradient dissipation of positive (B,) and negatives (B, K) angles."""
    if objective in ("infonce", "arccon"):
        temperature = parameters["temperature"]
        numerator = np.exp(np.cos(positive + parameters.get("angle", 0)) / temperature)
        return 1 / (1 + numerator / np.exp(np.cos(negatives) / temperature).sum(axis=1))
    if objective == "mpt":
        return np.cos(positive) - np.cos(negatives).max(axis=1) < parameters["margin"]
    distances = np.sqrt(2 - 2 * np.cos(negatives))
    return distances.min(axis=1) - np.sqrt(2 - 2 * np.cos(positive)) < parameters["margin"]


def plain_ratio(objective: str, positive: np.ndarray, negatives: np.ndarray, parameters: dict) -> np.ndarray:
    """Dynamic ratio of positive (B,) and negatives (B, K) angles."""
    if objective == "arccon":
        return np.sin(positive + parameters["angle"]) / np.sin(positive)
    return np.sqrt(2 - 2 * np.cos(negatives)).min(axis=1) / np.sqrt(2 - 2 * np.cos(positive))


def spread(settings: dict, name: str, count: int) -> np.ndarray:
    """A few of the means of one axis, both ends included."""
    means = np.pi * np.linspace(*settings[name], settings["points"])
    return means[np.linspace(0, len(means) - 1, count).round().astype(int)]


def peer(name: str, settings: dict, count: int, random: np.random.Generator) -> Iterator[dict]:
    """The plain version at a few means: one dict a mean and objective (or temperature), with its value and error."""
    shape = (settings["batches"], settings["negatives"])
    negative_means = spread(settings, "mu_negative_over_pi", count)
    if name == "hardest_share":
        for mean in negative_means:
            cosines = np.cos(random.normal(mean, settings["sigma_negative"], shape))
            for temperature in settings["temperatures"]:
                terms = np.exp((cosines - 1) / temperature)
                yield report(terms.max(axis=1) / terms.sum(axis=1), mu_negative=mean, temperature=temperature)
        return
    formula = plain_dissipation if name == "dissipation_maps" else plain_ratio
    for objective, parameters in settings["objectives"].items():
        for middle, mean in product(spread(settings, "mu_positive_over_pi", count), negative_means):
            positive = random.normal(middle, settings["sigma_positive"], settings["batches"])
            blind = formula is plain_ratio and objective == "arccon"  # that ratio has no negatives to draw
            negatives = positive if blind else random.normal(mean, settings["sigma_negative"], shape)
            values = formula(objective, positive, negatives, parameters)
            yield report(values, objective=objective, mu_positive=middle, mu_negative=mean)


def report(values: np.ndarray, **place) -> dict:
    return {**place, "plain": values.mean(), "error": values.std() / np.sqrt(len(values))}


def disagreement(ours: pd.DataFrame, plain: pd.DataFrame) -> float:
    """Largest difference of the means in standard errors of a difference; where the peer saw spread at all."""
    if "form" in ours:
        ours = ours[ours["form"] == "written"]
    value = next(name for name in ("dissipation", "share", "ratio") if name in ours)
    keys = [name for name in plain if name not in ("plain", "error")]
    for frame in (ours, plain):
        frame[keys] = frame[keys].round(9)
    both = plain.merge(ours, on=keys, validate="one_to_one")
    if value == "ratio":  # nearer to its pole at 0 the mean has no standard error
        both = both[both["mu_positive"] > 0.5]
    both = both[both["error"] > 1e-3 * both["plain"].abs().clip(lower=1e-3)]
    return float(((both[value] - both["plain"]).abs() / (np.sqrt(2) * both["error"])).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", nargs="+", choices=FIGURES, default=FIGURES)
    parser.add_argument("--peer-means", type=int, default=7, help="means an axis at which the peer runs")
    arguments = parser.parse_args()
    print(f"{threads.count()} threads, load average before: {os.getloadavg()[0]:.1f}")
    print("| figure | ours (s) | plain, extrapolated (s) | ratio | largest difference (standard errors) |")
    print("| --- | --- | --- | --- | --- |")
    for figure in arguments.figures:
        definition = load("li2024", "experiments")["simulations"][figure]
        name, settings = definition["study"], definition["settings"]
        axes = 1 if name == "hardest_share" else 2
        random, plain, seconds = np.random.default_rng(1), [], 0.0
        for turn in range(2):
            start = time.perf_counter()
            plain.append(pd.DataFrame(peer(name, settings, arguments.peer_means, random)))
            seconds += (time.perf_counter() - start) / 2
            if turn == 0:
                start = time.perf_counter()
                ours = importlib.import_module(f"clrepro.simulation.{name}").compute(settings)
                own = time.perf_counter() - start
        whole = seconds * (settings["points"] / arguments.peer_means) ** axes
        print(f"| {figure} | {own:.1f} | {whole:.1f} | {whole / own:.1f} | {disagreement(ours, plain[0]):.1f} |")
    print(f"load average after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
