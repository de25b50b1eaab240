"""What an x-ray says in words."""

import numpy as np
import pandas as pd

from clrepro.xray.survey import lemma_bounds

LEFT = 0.01  # so little of the gradient counts as none
BIN = 0.02  # width of the bins of the cosine gap


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def strength(frame: pd.DataFrame) -> pd.Series:
    """|push| + |pull| of every anchor against the mean of those whose positive hardly leads (gap -0.1 to 0.05)."""
    size = frame["dissipation"].abs() + frame["pull"]
    return size / size[frame["gap"].between(-0.1, 0.05)].mean()


def settled(frame: pd.DataFrame) -> pd.DataFrame:
    """The active anchors whose positive leads: what training passes through."""
    return frame[(frame["gap"] > 0) & (strength(frame) > LEFT)]


def fit(frame: pd.DataFrame) -> str:
    active = frame[strength(frame) > 0]
    lonely = float(np.isinf(active["ratio"]).mean())
    loose = active[(active["residual"] > 1e-4) & np.isfinite(active["ratio"])]
    words = []
    if lonely > 0.001:
        words.append(f"{percent(lonely)} of the anchors have a positive and no negatives, hence no ratio")
    if len(loose) > 0.001 * len(active):
        who = "" if len(loose) > 0.99 * len(active) else f"for {percent(len(loose) / len(active))} of the anchors "
        words.append(f"{who}{percent(loose['residual'].median())} of the gradient is along no positive and no negative")
    return "fits the paradigm: " + ("no, " + "; ".join(words) if words else "yes")


def dissipation(frame: pd.DataFrame) -> str:
    size, gap = strength(frame), frame["gap"]
    off = size == 0
    if off.mean() > 0.005:
        low, high = gap[off].min(), gap[~off].max()
        if high < low + BIN / 4:
            return f"dissipates: yes, beyond a cosine gap of {(low + high) / 2:.2f}"
        low, high = gap[off].quantile(0.005), gap[~off].quantile(0.995)
        return f"dissipates: yes, beyond a cosine gap between {low:.2f} and {high:.2f} (the gap alone does not decide)"
    bins = (gap / BIN).round() * BIN
    means = size.groupby(bins).mean()[bins.value_counts().sort_index() >= 20]
    last = means.index[-1]
    # from which gap on no more than this is left
    half, gone = (means.index[means[::-1].le(level).cummin()[::-1]].min() for level in (0.5, LEFT))
    if np.isfinite(gone):
        return f"dissipates: yes, gradually, half of it beyond a cosine gap of {half:.2f}, 99 % beyond {gone:.2f}"
    left = f"{percent(means.iloc[-1])} is left at {last:.2f}"
    if np.isfinite(half):
        return f"dissipates: in part, half of it beyond a cosine gap of {half:.2f}; {left}"
    return f"dissipates: no; half of it and more is left at every cosine gap, {left}"


def hardest(frame: pd.DataFrame, temperature: float | None) -> str:
    shares = settled(frame)["share"]
    if shares.empty:
        return "hardest negative: no anchor has one"
    where = "" if temperature is None else f" at tau {temperature:g}"
    if ((shares < -0.01) | (shares > 1.01)).mean() > 0.01:
        return f"hardest negative: its share is no share, weights have both signs (median {shares.median():.2f}{where})"
    return f"hardest negative: holds {percent(shares.mean())} of the weight{where}"


def ratio(frame: pd.DataFrame) -> str:
    values = settled(frame)["ratio"]
    values = values[np.isfinite(values) & (values != 0)]
    if values.empty:
        return "ratio: none"
    low, middle, high = values.quantile([0.05, 0.5, 0.95])
    if high - low < 1e-3 * abs(middle):
        return f"ratio: {middle:.3g}" + (".0" if float(f"{middle:.3g}").is_integer() else "")
    return f"ratio: {middle:.2f}, from {low:.2f} to {high:.2f}"


def lemma(frame: pd.DataFrame, step: float = 0.1) -> str:
    ready = settled(frame)
    ready = ready[np.isfinite(ready["ratio"])]
    if ready.empty:
        return "lemma 1: no anchor to ask"
    lower, _ = lemma_bounds(ready, step)
    return f"lemma 1: {percent((ready['ratio'] > lower).mean())} of the anchors meet its condition at lambda {step:g}"


def sentences(frame: pd.DataFrame, temperature: float | None, side: int) -> list[str]:
    """Five or six lines: fit, anchors (where they are not view 1's rows), dissipation, weight, ratio, lemma 1.

    Weight, ratio and lemma 1 speak of the anchors whose positive leads and whose gradient is not gone.
    """
    if not (strength(frame) > 0).any():
        return ["no gradient: the objective is constant on every batch"]
    where = [] if side == 1 else ["anchors: the rows of view 2 (view 1 has the negatives)"]
    return [fit(frame), *where, dissipation(frame), hardest(frame, temperature), ratio(frame), lemma(frame)]
