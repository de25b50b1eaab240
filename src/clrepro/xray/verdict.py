"""What an x-ray says in words."""

import numpy as np
import pandas as pd

from clrepro.xray.survey import lemma_bounds

LEFT = 0.01  # so little of the gradient counts as none
NONE = 1e-9  # a gradient that is switched off, but for rounding
BIN = 0.02  # width of the bins of the cosine gap


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def number(value: float) -> str:
    """Three digits, and at least one decimal."""
    text = f"{value:.3g}" if 1e-2 <= abs(value) < 1e3 else f"{value:.2g}"
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def strength(frame: pd.DataFrame) -> pd.Series:
    """|push| + |pull| of every anchor against the mean of those whose positive hardly leads (gap -0.1 to 0.05).

    Where these have no gradient, against the mean of those that have one.
    """
    size = frame["dissipation"].abs() + frame["pull"]
    reference = size[frame["gap"].between(-0.1, 0.05)].mean()
    if not reference > NONE * size.max():
        reference = size[size > 0].mean()
    return size / (reference if reference > 0 else 1)


def settled(frame: pd.DataFrame) -> pd.DataFrame:
    """The active anchors whose positive leads and that have negatives: what training passes through."""
    return frame[(frame["gap"] > 0) & (strength(frame) > LEFT) & (frame["dissipation"] != 0)]


def fit(frame: pd.DataFrame) -> str:
    active = frame[strength(frame) > NONE]
    loose = active[(active["residual"] > 1e-4) & np.isfinite(active["ratio"])]
    words = []
    for found, text in (
        (np.isinf(active["ratio"]), "have a positive and no negatives, hence no ratio"),
        (active["ratio"].isna(), "have negatives that cancel, and no positive"),
    ):
        if found.mean() > 0.001:
            words.append(f"{percent(found.mean())} of the anchors {text}")
    if len(loose) > 0.001 * len(active):
        who = "" if len(loose) > 0.99 * len(active) else f"for {percent(len(loose) / len(active))} of the anchors "
        words.append(f"{who}{percent(loose['residual'].median())} of the gradient is along no positive and no negative")
    return "fits the paradigm: " + ("no, " + "; ".join(words) if words else "yes")


def reversed_share(frame: pd.DataFrame) -> float:
    """The share of the active anchors that are pulled to their negatives, or pushed away from their positive."""
    active = frame[strength(frame) > LEFT]
    push = active["dissipation"] * np.where(np.isfinite(active["ratio"]), active["ratio"], 1)
    return float(((active["dissipation"] < 0) & (push <= 0)).mean()) if len(active) else 0.0


def dissipation(frame: pd.DataFrame) -> str:
    size, gap = strength(frame), frame["gap"]
    off, fading = size <= NONE, (size > NONE) & (size < 0.05)
    if off.mean() > 0.005 and fading.mean() < 0.005:  # a switch, not a slope that ends below rounding
        low, high = gap[off].min(), gap[~off].max()
        if high < low + BIN / 4:
            return f"dissipates: yes, beyond a cosine gap of {(low + high) / 2:.2f}"
        low, high = gap[off].quantile(0.005), gap[~off].quantile(0.995)
        if low < high:
            return f"dissipates: yes, somewhere between cosine gaps of {low:.2f} and {high:.2f} (not by the gap alone)"
    bins = (gap / BIN).round() * BIN
    means = size.groupby(bins).mean()[bins.value_counts().sort_index() >= 20]
    # from which gap on no more than this is left
    half, gone = (means.index[means[::-1].le(level).cummin()[::-1]].min() for level in (0.5, LEFT))
    if np.isfinite(gone):
        return f"dissipates: yes, gradually, half of it beyond a cosine gap of {half:.2f}, 99 % beyond {gone:.2f}"
    left = f"{percent(means.iloc[-1])} is left at {means.index[-1]:.2f}"
    if np.isfinite(half):
        return f"dissipates: in part, half of it beyond a cosine gap of {half:.2f}; {left}"
    return f"dissipates: no; half of it and more is left at every cosine gap, {left}"


def hardest(frame: pd.DataFrame, temperature: float | None) -> str:
    shares = settled(frame)["share"]
    if shares.empty:
        return "hardest negative: no anchor whose positive leads has any"
    where = "" if temperature is None else f" at tau {temperature:g}"
    if ((shares < -0.01) | (shares > 1.01)).mean() > 0.01:
        return f"hardest negative: its share is no share, weights have both signs (median {shares.median():.2f}{where})"
    return f"hardest negative: holds {percent(shares.mean())} of the weight{where}"


def ratio(frame: pd.DataFrame) -> str:
    values = settled(frame)["ratio"]
    values = values[np.isfinite(values)]
    if values.empty:
        return "ratio: none"
    low, middle, high = values.quantile([0.05, 0.5, 0.95])
    if max(abs(low), abs(high)) < 1e-9:
        return "ratio: 0, no pull to the positive"
    if high - low < 1e-3 * abs(middle):
        return f"ratio: {number(middle)}"
    return f"ratio: {number(middle)}, from {number(low)} to {number(high)}"


def lemma(frame: pd.DataFrame, step: float = 0.1) -> str:
    ready = settled(frame)
    ready = ready[np.isfinite(ready["ratio"])]
    if ready.empty:
        return "lemma 1: no anchor to ask"
    lower, _ = lemma_bounds(ready, step)
    met = (ready["ratio"] > lower) & (ready["dissipation"] > 0)
    return f"lemma 1: {percent(met.mean())} of the anchors meet its condition at lambda {step:g}"


def sentences(frame: pd.DataFrame, temperature: float | None, side: int) -> list[str]:
    """Five to seven lines: fit, what is unusual (sign, anchors in view 2), dissipation, weight, ratio, lemma 1.

    Weight, ratio and lemma 1 speak of the anchors whose positive leads and whose gradient is not gone.
    """
    if not (strength(frame) > 0).any():
        return ["no gradient: the objective is constant on every batch"]
    turned = reversed_share(frame)
    unusual = [] if turned < 0.5 else ["sign: REVERSED, anchors are pulled to negatives and pushed from their positive"]
    unusual += [] if side == 1 else ["anchors: the rows of view 2 (view 1 has the negatives)"]
    return [fit(frame), *unusual, dissipation(frame), hardest(frame, temperature), ratio(frame), lemma(frame)]
