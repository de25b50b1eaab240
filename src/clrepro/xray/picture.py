"""An x-ray as a whole: survey, table, picture and verdict of one objective."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.errors import UserError
from clrepro.xray import survey, verdict
from clrepro.xray.subject import Subject
from clrepro.xray.views import draws, reachable


@dataclass(frozen=True)
class XRay:
    """table: what the picture shows, in long form (panel, series, x, y, value). verdict: sentences."""

    title: str
    table: pd.DataFrame
    verdict: list[str]


def xray(subject: Subject, progress: Callable[[Iterable], Iterable] = iter) -> XRay:
    """X-ray an objective: some 400 batches of 64 examples over all reachable pairs of angles, a few seconds."""
    numbers = draws(survey.BATCH)
    side = survey.anchor_side(subject.objective(), numbers)

    def anchored(**changes: float):
        objective = subject.objective(**changes)
        return objective if side == 1 else survey.exchanged(objective)

    frame = survey.survey(anchored(), numbers, progress)
    parts = [maps(frame), lemma_curves(frame)]
    own = subject.params.get(subject.temperature) if subject.temperature else None
    for value in sorted({own, *survey.TEMPERATURES}, reverse=True) if own else [None]:
        changes = {subject.temperature: value} if own else {}
        try:
            curve = survey.shares(anchored(**changes), numbers).rename(columns={"negative_mean": "x", "share": "value"})
        except UserError:
            if value == own:
                raise
            continue  # a temperature that the loss refuses, or overflows at, has no curve
        parts.append(curve.assign(panel="share", series=f"{value:g}" if own else ""))
    table = pd.concat(parts)[["panel", "series", "x", "y", "value"]]
    return XRay(subject.title, table, verdict.sentences(frame, own, side))


def maps(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean dissipation (against hard anchors'), and the median ratio and share of active anchors, by pair of angles."""
    scale = frame.loc[frame["gap"].between(-0.1, 0.05), "dissipation"].abs().mean()
    scale = scale if scale > 0 else frame["dissipation"].abs().max() or 1
    frame = frame.assign(relative=frame["dissipation"] / scale, active=verdict.strength(frame) > verdict.LEFT)
    groups = frame.groupby(["negative_mean", "positive_mean"])
    means = {
        "dissipation": groups["relative"].mean(),
        "active": groups["active"].mean(),
        "ratio": frame[frame["active"]].groupby(["negative_mean", "positive_mean"])["ratio"].median(),
        "residual": groups["residual"].mean(),
    }
    parts = [
        series.rename("value").rename_axis(["x", "y"]).reset_index().assign(panel=panel, series="")
        for panel, series in means.items()
    ]
    return pd.concat(parts)


def lemma_curves(frame: pd.DataFrame) -> pd.DataFrame:
    """Share of the active anchors, positive ahead, that meet lemma 1's condition, by step size lambda."""
    ready = verdict.settled(frame)
    ready = ready[np.isfinite(ready["ratio"])]
    lines = []
    for number, step in enumerate(survey.STEPS):
        lower, upper = survey.lemma_bounds(ready, step)
        above = ready["ratio"] > lower
        lines += [
            ("lower bound (lemma 1)", step, above.mean()),
            ("both bounds", step, (above & (ready["ratio"] < upper)).mean()),
            ("whole gradient, on the sphere", step, ready[f"closer_{number}"].mean()),
        ]
    return pd.DataFrame(lines, columns=["series", "x", "value"]).assign(panel="lemma")


def grid(table: pd.DataFrame, panel: str) -> np.ndarray:
    """A panel's values as (positive angles, negative angles), NaN where unreachable or inactive."""
    part = table[table["panel"] == panel].pivot(index="y", columns="x", values="value")
    # rounded: a constant must not flicker between two colours
    return part.reindex(index=survey.POSITIVE_ANGLES, columns=survey.NEGATIVE_ANGLES).round(6).to_numpy()


def draw(result: XRay) -> Figure:
    """Four panels: dissipation and ratio over the two angles, the hardest negative's share, lemma 1's condition."""
    figure, axes = plotting.new(1, 4, width=3.3, height=2.9)
    dissipation, share, ratio, lemma = axes[0]
    x, y, table = survey.NEGATIVE_ANGLES, survey.POSITIVE_ANGLES, result.table
    impossible = ~np.array([[reachable(positive, negative) for negative in x] for positive in y])
    values = grid(table, "dissipation")
    low, high = np.nanquantile(values, [0.02, 0.98])
    plotting.heat(dissipation, x, y, values, low=min(0, low), high=max(1, high))
    dissipation.set_title("dissipation (1: at a gap of 0)")
    plotting.heat(ratio, x, y, grid(table, "ratio"), low=0, high=5, levels=20)
    never = (np.nan_to_num(grid(table, "active")) < 0.01) | (y[:, None] > x[None, :])
    plotting.shade(ratio, x, y, never & ~impossible)
    ratio.set_title("ratio (dark: not met in training)")
    for axis in (dissipation, ratio):
        plotting.shade(axis, x, y, impossible, hatch="////")
        axis.set_xlabel("θ⁻, angle to negatives")
        axis.set_ylabel("θ⁺, angle to the positive")
    for name, curve in table[table["panel"] == "share"].groupby("series", sort=False):
        share.plot(curve["x"], curve["value"], label=f"τ {name}" if name else None)
    share.set(xlabel="θ⁻, angle to negatives", ylim=(0, 1.02), title="share of the hardest negative")
    ticks = {place: text for place, text in plotting.PI_TICKS.items() if place <= x.max() + 0.01}
    share.set_xticks(list(ticks), list(ticks.values()))
    if len(table.loc[table["panel"] == "share", "series"].unique()) > 1:
        share.legend(fontsize=7, ncols=2)
    for name, curve in table[table["panel"] == "lemma"].groupby("series", sort=False):
        lemma.plot(curve["x"], curve["value"], "--" if name.startswith("both") else "-", label=name)
    lemma.set(xscale="log", ylim=(0, 1.02), xlabel="λ, step size", title="positive closer after the step")
    lemma.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
    lemma.minorticks_off()
    lemma.legend(fontsize=7)
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=11, weight="bold")
    plotting.footnote(figure, ".  ".join(result.verdict) + ".  Hatched: no batch has these angles.")
    return figure


def write(result: XRay, stem: Path) -> list[Path]:
    """Write stem.svg, stem.png and stem.csv."""
    with plotting.style():
        files = plotting.save(draw(result), stem)
    csv = Path(stem).with_name(f"{Path(stem).name}.csv")
    result.table.to_csv(csv, index=False, lineterminator="\n", float_format="%.7g")
    return [*files, csv]
