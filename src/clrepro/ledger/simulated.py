"""Numbers of a simulation as claims refer to them: one value a seed, from the csv beside its picture."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from clrepro.catalogue import Catalogue
from clrepro.catalogue.simulations import NUMBERS, Simulation
from clrepro.errors import UserError, unknown
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.scores import command

REFERENCE = re.compile(r"[^/]+/(?P<series>[^/]+)/(?P<loss>[^/\[\]]+)(?:\[(?P<weight>[^\[\]]+)\])?/(?P<metric>[^/]+)")
ANCHORED = "OAR-"


def numbers(file: Path) -> pd.DataFrame | None:
    """The numbers of a simulation's csv, without its points; None if it is not there."""
    if not file.is_file():
        return None
    frame = pd.read_csv(file)
    return frame[frame["kind"] == "number"]


def line_of(simulation: Simulation, reference: str) -> dict[str, str | float]:
    """Which line of every seed simulation/series/loss[anchor weight]/number names; 1 is the weight if none is given."""
    place = f"the reference '{reference}'"
    parts = REFERENCE.fullmatch(reference)
    if not parts or simulation.study not in NUMBERS:
        raise UserError(f"{place} is no number of a simulation; write simulation/series/loss[anchor weight]/number")
    settings = simulation.settings
    plain = parts["loss"].removeprefix(ANCHORED)
    for what, name, known in (
        ("series", parts["series"], settings["series"]),
        ("loss", plain, settings["losses"]),
        ("number", parts["metric"], NUMBERS[simulation.study]),
    ):
        if name not in known:
            raise unknown(what, name, known, place)
    weight, anchored = float(parts["weight"] or 1), plain != parts["loss"]
    weights = {**settings, **settings["series"][parts["series"]]}["anchor_weights"]
    if parts["weight"] and not anchored:
        raise UserError(f"{place}: a loss without anchors has no weight")
    if anchored and weight not in weights:
        raise UserError(f"{place}: no anchors of weight {weight:g} there; give one of {', '.join(map(str, weights))}")
    weight = weight if anchored else 0
    return {"series": parts["series"], "loss": parts["loss"], "anchor_weight": weight, "metric": parts["metric"]}


def by_seed(frame: pd.DataFrame, line: dict[str, str | float]) -> dict[int, float]:
    """The values of that line, NaN where a training diverged."""
    chosen = frame[(frame[list(line)] == pd.Series(line)).all(axis=1)]
    return {int(seed): float(value) for seed, value in zip(chosen["seed"], chosen["value"], strict=True)}


def quantity(catalogue: Catalogue, simulation: Simulation, reference: str, frame: pd.DataFrame | None) -> Quantity:
    """A number of a simulation, whose seeds are its own: no run is behind it."""
    line = line_of(simulation, reference)
    family = f"{simulation.name} {line['metric']}"
    if frame is None:
        why = f"not computed yet: {command(catalogue.config.scale, simulation.target)}"
        return Quantity({}, None, (), why, family)
    found = by_seed(frame, line)
    lost = ", ".join(str(seed) for seed, value in found.items() if np.isnan(value))
    values = {seed: value for seed, value in found.items() if not np.isnan(value)}
    whole = not simulation.settings["footnote"]  # that is, not thinned
    why = f"seed {lost} diverged" if lost else ""
    return Quantity(values, None, (), why, family, measured=reference, comparable=whole)
