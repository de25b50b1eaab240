"""Statistics over training steps."""

import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

LOSSES = {
    "contrastive_loss": ("L_cl (τ = 0.05)", "loss (nats)"),
    "alignment": ("L_align (α = 2)", "mean squared distance"),
    "uniformity": ("L_uniform (t = 2)", "log mean potential"),
}
PARTS = {
    "train_{}": ("training batch", {"color": "#0072b2", "marker": "o", "linestyle": "-"}),
    "dev_{}": ("STS-B dev", {"color": "#d55e00", "marker": "s", "linestyle": "--"}),
    "dev_{}_released": (
        "STS-B dev, as released",
        {"color": "#d55e00", "marker": "^", "linestyle": ":", "markerfacecolor": "none"},
    ),
}
SEEDS = "Thick: mean over seeds; thin: single seeds."


def several(frame: pd.DataFrame) -> str:
    return SEEDS if frame["seed"].nunique() > 1 else ""


def losses(frame: pd.DataFrame, notes: Notes) -> Figure:
    """nie2023, figures 1b-d and 3c-e: a panel a loss, training batch and development set."""
    figure, panels = plotting.new(1, 3, width=3.1, height=2.6)
    named = {}
    for axis, (name, (title, unit)) in zip(panels[0], LOSSES.items(), strict=True):
        for pattern, (label, look) in PARTS.items():
            part = lines.statistic(frame, pattern.format(name))
            if not part.empty:
                lines.curve(axis, lines.by_seed(part), look, label)
        named.update({text: handle for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)})
        lines.over_steps(axis, unit, title)
    if named:
        figure.legend(named.values(), named.keys(), loc="outside upper left", ncols=len(named))
    size = notes.measured.get("development_batch_size")
    batches = f" in batches of {size}" if size else ""
    training = f"Optimised: {', '.join(dict.fromkeys(frame['series']))}. Training: one batch as the objective sees it, "
    said = (
        training + "with dropout and head, L_uniform within each view. Dev: no dropout, no head; L_cl and L_align over "
        f"pairs with gold > 4 as written (L_cl{batches}), dotted L_align over pairs of exactly 5 as the released code "
        "counts; L_uniform over all sentences."
    )
    loss = lines.statistic(frame, "train_loss").groupby("step")["value"].mean()
    if len(loss):
        said += f" The optimised loss itself on training batches: {loss.iloc[0]:.2f} first, {loss.iloc[-1]:.2f} last."
    notes.below(figure, several(frame), said)
    return figure


def named_curves(curves: dict[str, pd.DataFrame], label: str, line: float | None = None) -> Figure:
    """One panel, a curve a name, each named at its end; a dotted line at a value of interest."""
    height = 3.2
    figure, panels = plotting.new(1, 1, width=6.2, height=height)
    axis, ends = panels[0, 0], []
    for (name, part), look in zip(curves.items(), lines.looks(curves).values(), strict=True):
        if part.empty:
            continue
        mean = lines.curve(axis, lines.by_seed(part), look, name)
        if len(mean):
            ends.append((mean.index[-1], mean.iloc[-1], name, look["color"]))
    lines.over_steps(axis, label)
    if line is not None:
        axis.axhline(line, color="black", linewidth=0.8, linestyle=":", zorder=0)
        low, high = axis.get_ylim()
        axis.set_ylim(min(low, line - 0.05 * (high - line)), high)
    lines.name_ends(axis, ends, gap=0.19 / height)
    return figure


def distance_gaps(frame: pd.DataFrame, notes: Notes) -> Figure:
    """nie2023, figure 3b: the distance gap of the objectives."""
    series = dict.fromkeys(frame["series"])
    curves = {name: lines.statistic(frame, "train_distance_gap", series=name) for name in series}
    figure = named_curves(curves, "distance gap d (unit vectors)")
    said = "d = mean distance to the negatives less the distance to the positive, mean over the anchors of one batch."
    notes.below(figure, several(frame), said)
    return figure


def positive_cosines(frame: pd.DataFrame, notes: Notes) -> Figure:
    """li2024, figure 8c: how near positives come, by the static ratio."""
    part = lines.statistic(frame, "heldout_positive_cosine_mean")
    curves = {f"r = {ratio:g}": part[part["ratio"] == ratio] for ratio in sorted(part["ratio"].unique())}
    figure = named_curves(curves, "mean cosine to the positive")
    said = f"{held_out(notes)}. In the released loss positives are not detached: r acts as 2 r at an anchor."
    notes.below(figure, several(frame), said)
    return figure


def dynamic_ratios(frame: pd.DataFrame, notes: Notes) -> Figure:
    """li2024, figure 8b: the ratio terms of ArcCon and MET, each in its own training."""
    own = {"arc": ("ArcCon", "heldout_arccon_ratio"), "met": ("MET", "heldout_met_ratio")}
    curves = {label: lines.statistic(frame, name, series=series) for series, (label, name) in own.items()}
    figure = named_curves(curves, "dynamic ratio", line=1)
    low = [f"{label} {part['value'].min():.2f}" for label, part in curves.items() if not part.empty]
    said = f"Smallest of all steps and seeds: {', '.join(low)}. " if low else ""
    said += f"{held_out(notes)}; {anchors(notes)}"
    left = []
    for series, (label, _) in own.items():
        share = lines.statistic(frame, "heldout_active_share", series=series)
        if not share.empty:
            means = share.groupby("step")["value"].mean() * 100
            left.append(f"{label} {means.iloc[0]:.3g} → {means.iloc[-1]:.3g} %")
    said += f" (share of all anchors, first → last step: {', '.join(left)})." if left else "."
    notes.below(figure, several(frame), said)
    return figure


def held_out(notes: Notes) -> str:
    """What held-out statistics are taken of."""
    examples, size = notes.measured.get("examples"), notes.measured.get("batch_size")
    counts = f"{examples:,} held-out sentences in batches of {size}" if examples else "Held-out sentences"
    return f"{counts}, each embedded twice with dropout, before the head"


def anchors(notes: Notes) -> str:
    """Which anchors count for shares and ratios."""
    return f"anchors within m = {notes.measured.get('margin', 0.3):g} of their hardest negative"
