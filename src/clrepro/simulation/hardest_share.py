"""Share of the hardest negative in the exponential weights of sampled batches: li2024, figure 3.

    share = max_j exp(cos(theta_ij') / tau) / sum_j exp(cos(theta_ij') / tau)

averaged over batches of theta_ij' ~ N(mu_neg, sigma_neg^2), one curve a temperature, the same batches for all curves.
Text and released script differ in which batches count:

    written   all of them; the positive's mean, pi / 6, then plays no part
    released  those with InfoNCE's gradient dissipation >= 0.01 at that temperature, the positive's mean being 0.5 rad;
              where no batch is left, the share is set to 1
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.random import Generator

from clrepro import plotting
from clrepro.simulation import _maps
from clrepro.simulation._sampling import by_rows

FORMS = {"written": "-", "released": "--"}


def shares(positive: np.ndarray, negatives: np.ndarray, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Share of the hardest negative and InfoNCE's dissipation, (B,) each; positive (B,), negatives (K, B): cosines."""
    largest = negatives.max(axis=0)
    total = np.exp((negatives - largest) / temperature).sum(axis=0)  # in units of the hardest negative's term
    with np.errstate(over="ignore"):  # exp of inf is a dissipation of 0
        dissipation = 1 / (1 + np.exp((positive - largest) / temperature) / total)
    return 1 / total, dissipation


def compute(settings: dict) -> pd.DataFrame:
    """Columns form, temperature, mu_negative (radians), share (0 to 1), batches (how many count)."""
    mu_negative = _maps.axis(settings, "mu_negative_over_pi")
    released = settings["released"]

    def point(index: int, generator: Generator) -> np.ndarray:
        shape = settings["negatives"], settings["batches"]
        positive = np.cos(generator.normal(released["mu_positive"], settings["sigma_positive"], shape[1]))
        negatives = np.cos(generator.normal(mu_negative[index], settings["sigma_negative"], shape))
        cells = []
        for temperature in settings["temperatures"]:
            share, dissipation = shares(positive, negatives, temperature)
            counted = dissipation >= released["smallest_dissipation"]
            filtered = share[counted].mean() if counted.any() else released["share_if_none"]
            cells.append([[share.mean(), share.size], [filtered, counted.sum()]])
        return np.array(cells, float)

    cells = by_rows(point, len(mu_negative), settings["seed"], "hardest_share")  # (points, temperatures, forms, 2)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "form": form,
                    "temperature": temperature,
                    "mu_negative": mu_negative,
                    "share": cells[:, place, number, 0],
                    "batches": cells[:, place, number, 1].astype(int),
                }
            )
            for number, form in enumerate(FORMS)
            for place, temperature in enumerate(settings["temperatures"])
        ],
        ignore_index=True,
    )


def draw(frame: pd.DataFrame, settings: dict) -> Figure:
    """Solid lines as written, dashed as released, a colour a temperature."""
    figure, panels = plotting.new(1, 1, width=5.6, height=3.4)
    panel = panels[0, 0]
    for number, (temperature, curves) in enumerate(frame.groupby("temperature", sort=False)):
        for form, line in FORMS.items():
            curve = curves[curves["form"] == form]
            label = f"τ = {temperature:g}" if form == "written" else None
            panel.plot(curve["mu_negative"], curve["share"], line, color=f"C{number}", label=label)
    for form, line in FORMS.items():
        panel.plot([], [], line, color="black", label=form)
    ticks = plotting.PI_TICKS
    panel.set_xticks(list(ticks), list(ticks.values()))
    panel.set_xlim(0, np.pi)
    panel.set_ylim(0, 1.02)
    panel.set_xlabel("μ⁻ = mean angle to the negatives (rad)")
    panel.set_ylabel("mean share of the hardest negative")
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    released = settings["released"]
    _maps.footnote(
        figure,
        settings,
        "Written: all batches. Released: the batches whose InfoNCE dissipation is at least "
        f"{released['smallest_dissipation']:g} (μ⁺ = {released['mu_positive']:g} rad); "
        f"{released['share_if_none']:g} where there is none.",
    )
    return figure
