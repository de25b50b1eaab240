"""Are angles normal, and how wide: li2024's assumption against what trained encoders have."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clrepro import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.curves import held_out, several
from clrepro.report.trained.densities import last_mean
from clrepro.report.trained.notes import Notes

SIGNS = {"positive": "pos", "negative": "neg"}
PANELS = {  # title and label
    "mean": ("mean angles", "μ (rad)"),
    "std": ("deviations", "σ (rad)"),
    "normal_distance": ("distance from normal", "D (0 to 1)"),
}
NORMAL = 0.05  # a largest difference of distribution functions that we call close to normal


def means_and_deviations(frame: pd.DataFrame, notes: Notes, assumed: dict[str, float]) -> Figure:
    """li2024, figure 9: means and deviations of both angles over steps, and how far they are from normal.

    assumed: the deviations, in radians, with which the paper simulates the positive angle and the negative one.
    """
    figure, panels = plotting.new(1, 3, width=3.1, height=2.8)
    series = list(dict.fromkeys(frame["series"]))
    for axis, (statistic, (title, label)) in zip(panels[0], PANELS.items(), strict=True):
        for side, look in lines.looks(SIGNS).items():
            for number, name in enumerate(series):
                part = lines.statistic(frame, f"heldout_{side}_angle_{statistic}", series=name)
                if part.empty:
                    continue
                filled = {"mfc": look["color"] if not number else "white", "linestyle": lines.DASHES[number % 4]}
                lines.curve(axis, lines.by_seed(part), {**look, **filled}, f"{SIGNS[side]}, {name}")
            if statistic == "std":
                axis.axhline(assumed[side], color=look["color"], linewidth=0.9, linestyle=":", zorder=0)
                assumed_label(axis, assumed[side], look["color"])
        axis.set_ylim(bottom=0)
        lines.over_steps(axis, label, title)
        if not axis.lines:
            axis.text(0.5, 0.5, "not recorded", transform=axis.transAxes, ha="center", color="#a00000")
    named = dict(zip(*reversed(panels[0, 0].get_legend_handles_labels()), strict=True))
    named["assumed σ"] = Line2D([], [], color="#555555", linewidth=0.9, linestyle=":")
    figure.legend(named.values(), named.keys(), loc="outside upper left", ncols=min(3, len(named)))
    said = (
        f"{held_out(notes)}; σ over all angles of all batches. D: largest difference between their distribution "
        f"function and that of the normal with the same μ and σ (0: normal; below {NORMAL:g} we call it close)."
    )
    notes.below(figure, *verdicts(frame, assumed), several(frame), said)
    return figure


def assumed_label(axis: Axes, assumed: float, colour: str) -> None:
    axis.annotate(f"{assumed:.2f}", (1, assumed), xycoords=("axes fraction", "data"), xytext=(2, 0),
                  textcoords="offset points", fontsize=8, color=colour, va="center")  # fmt: skip


def verdicts(frame: pd.DataFrame, assumed: dict[str, float]) -> list[str]:
    """A sentence a series on the last step: width against the assumed one, and how near to normal."""
    sentences = []
    for name in dict.fromkeys(frame["series"]):
        parts = []
        for side in SIGNS:
            end = {
                statistic: last_mean(lines.statistic(frame, f"heldout_{side}_angle_{statistic}", series=name))
                for statistic in ("std", "normal_distance", "skewness", "excess_kurtosis")
            }
            if pd.isna(end["std"]):
                continue
            text = f"σ_{SIGNS[side]} = {end['std']:.3f} (assumed {assumed[side]:.2f})"
            if not pd.isna(end["normal_distance"]):
                text += (
                    f", {'close to' if end['normal_distance'] < NORMAL else 'not'} normal (D = "
                    f"{end['normal_distance']:.3f}, skewness {end['skewness']:.2f}, excess kurtosis "
                    f"{end['excess_kurtosis']:.2f})"
                )
            parts.append(text)
        if parts:
            sentences.append(f"{name} at the end: {'; '.join(parts)}.")
    return sentences
