"""Numbers against a parameter."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clrepro import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.curves import anchors, held_out
from clrepro.report.trained.notes import Notes

SYMBOLS = {"margin": "m", "temperature": "τ", "ratio": "r"}
PARTS = {"heldout_hardest_weight@": "weight", "heldout_hardest_share@": "projected share"}
STATES = {"untrained": "before training", "baseline": "after training (baseline)"}


def parameters(frame: pd.DataFrame, notes: Notes, baseline: dict[str, float]) -> Figure:
    """li2024, figure 6: STS-B dev against each parameter of the baseline, the others at its values."""
    figure, panels = plotting.new(1, len(baseline), width=2.9, height=2.7)
    forms = {
        "best_stsb_dev": ("selected checkpoint", {"color": "#0072b2", "marker": "o", "linestyle": "-"}),
        "stsb_dev": ("last evaluation", {"color": "#d55e00", "marker": "s", "linestyle": ":", "mfc": "white"}),
    }
    for place, (axis, (name, value)) in enumerate(zip(panels[0], baseline.items(), strict=True)):
        for statistic, (label, look) in forms.items():
            part = last(lines.statistic(frame, statistic, series=name), name)
            if part.empty:
                continue
            table = lines.by_seed(part, name) * 100
            mean = lines.mean_of(table)
            if table.shape[1] > 1:
                for seed in table:
                    axis.plot(table.index, table[seed], look["marker"], color=look["color"], ms=2.5, alpha=0.6, mew=0)
            axis.plot(mean.index, mean, label=label, markersize=5, **look)
        if name == "temperature":
            axis.set_xscale("log")
        axis.axvline(value, color="#999999", linewidth=0.8, linestyle="--", zorder=0)
        axis.set_xlabel(f"{SYMBOLS[name]} ({name})")
        if not place:
            axis.set_ylabel("STS-B dev (Spearman × 100)")
    low = min(axis.get_ylim()[0] for axis in panels[0])
    high = max(axis.get_ylim()[1] for axis in panels[0])
    for axis in panels[0]:
        axis.set_ylim(low, high)  # one range: which parameter matters most is what the figure asks
    handles = dict(zip(*reversed(panels[0, 0].get_legend_handles_labels()), strict=True))
    handles["baseline"] = Line2D([], [], color="#999999", linewidth=0.8, linestyle="--")
    figure.legend(handles.values(), handles.keys(), loc="outside upper left", ncols=len(handles))
    seeds = "Lines: means over seeds, small marks: single seeds. " if frame["seed"].nunique() > 1 else ""
    said = seeds + "In the released loss positives are not detached: r acts as 2 r at an anchor."
    notes.below(figure, said)
    return figure


def last(part: pd.DataFrame, along: str) -> pd.DataFrame:
    """Of each run the line of its last step."""
    return part.sort_values("step").drop_duplicates([along, "seed"], keep="last")


def hardest_shares(frame: pd.DataFrame, notes: Notes, marked: float) -> Figure:
    """li2024, figure 7: the hardest negative's part against tau, before and after training; weight and projection.

    marked: the temperature that the paper marks.
    """
    figure, panels = plotting.new(1, 2, width=3.7, height=3.1)
    looks = lines.looks(STATES)
    found = []
    for axis, (prefix, label) in zip(panels[0], PARTS.items(), strict=True):
        part = frame[frame["statistic"].str.startswith(prefix)]
        part = part.assign(temperature=part["statistic"].str.removeprefix(prefix).astype(float))
        for series, state in STATES.items():
            one = last(part[part["series"] == series], "temperature")
            if one.empty:
                continue
            mean = lines.curve(axis, lines.by_seed(one, "temperature"), {**looks[series], "markevery": 1}, state)
            if marked in mean.index:
                found.append(f"{label} {state} {mean[marked]:.2f}")
        axis.set_xscale("log")
        axis.axvline(marked, color="#999999", linewidth=0.8, linestyle="--", zorder=0)
        axis.annotate(f"τ = {marked:g}", (marked, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -1),
                      textcoords="offset points", fontsize=8, color="#555555", va="top")  # fmt: skip
        axis.set_xlabel("τ (temperature)")
        axis.set_ylabel(f"{label} of the hardest negative")
    named = dict(pair for axis in panels[0] for pair in zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named.keys(), loc="outside upper left", ncols=2)
    active = [
        f"{label} {100 * share['value'].mean():.0f} %"
        for series, label in STATES.items()
        if not (share := last(lines.statistic(frame, "heldout_active_share", series=series), "series")).empty
    ]
    said = f"At τ = {marked:g}: {', '.join(found)}. " if found else ""
    left = f" ({', '.join(active)})" if active else ""
    said += (
        f"{held_out(notes)}. Weight, as written: part of the exponential weights, all anchors. Share, as released: "
        "projection of the hardest negative's pull on the sum of all pulls, so that it may leave 0..1; "
        f"{anchors(notes)}{left}."
    )
    notes.below(figure, said)
    return figure
