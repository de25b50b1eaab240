"""Gradient scaling factor against temperature and number of negatives: huang2023, figure 2.

Equation 8 with a positive similarity of 1 and all K negative similarities -1:

    W = K exp(-1 / tau) / (exp(1 / tau) + K exp(-1 / tau)) = K / (K + exp(2 / tau))
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.simulation import _maps


def factor(temperature: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """W, between 0 and 1; broadcast."""
    return 1 / (1 + np.exp(2 / temperature) / negatives)


def compute(settings: dict) -> pd.DataFrame:
    """Columns view (what runs along the axis: temperature or negatives), temperature, negatives, factor."""
    points = settings["points"]
    temperatures = np.linspace(*settings["temperature"], points)
    negatives = np.geomspace(*settings["negatives"], points)  # fractions are allowed: W is smooth in K
    views = {
        "temperature": (temperatures, np.array(settings["curves"]["negatives"], float)),
        "negatives": (np.array(settings["curves"]["temperature"], float), negatives),
    }
    return pd.concat(
        [
            _maps.long_form(
                ("temperature", tau), ("negatives", count), view=view, factor=factor(tau[:, None], count[None, :])
            )
            for view, (tau, count) in views.items()
        ],
        ignore_index=True,
    )[["view", "temperature", "negatives", "factor"]]


def draw(frame: pd.DataFrame, settings: dict) -> Figure:
    """Left against the temperature, right against the number of negatives."""
    figure, panels = plotting.new(1, 2, width=4.2, height=2.6)
    left, right = panels[0]
    for count, curve in frame[frame["view"] == "temperature"].groupby("negatives"):
        left.plot(curve["temperature"], curve["factor"], label=f"K = {count:,.0f}")
    for temperature, curve in frame[frame["view"] == "negatives"].groupby("temperature"):
        right.semilogx(curve["negatives"], curve["factor"], base=2, label=f"τ = {temperature:g}")
    left.set_xlabel("temperature τ")
    right.set_xlabel("number of negatives K")
    left.set_ylabel("gradient scaling factor W")
    for panel in (left, right):
        panel.set_ylim(-0.02, 1.02)
        handles, labels = panel.get_legend_handles_labels()  # the highest curve first
        panel.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1, 0.5), handlelength=1.2)
    left.set_title("against the temperature")
    right.set_title("against the number of negatives")
    _maps.footnote(figure, settings, "W = K / (K + exp(2 / τ)): similarity 1 to the positive, −1 to all K negatives.")
    return figure
