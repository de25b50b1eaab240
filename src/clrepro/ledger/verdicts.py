"""A cell's verdict: our mean over seeds, its interval, and the published number with a band around it.

And the words of a claim's: on the paper where the numbers compare with its own, of this scale alone elsewhere.
"""

import math
from dataclasses import dataclass

from scipy import special

ON_THE_PAPER = ("holds", "fails")
AT_THIS_SCALE = ("seen", "opposite")  # what small encoders on other data show, which is no verdict on the paper
CLAIM_VERDICTS = (*ON_THE_PAPER, *AT_THIS_SCALE, "undecided", "missing")


@dataclass(frozen=True)
class Ours:
    """Our side of a cell.

    low, high: the 1 - 2 alpha interval of the mean over seeds, None for a single seed or where all seeds are equal.
    """

    mean: float
    std: float | None
    seeds: int
    low: float | None
    high: float | None


def summarise(values: list[float], alpha: float = 0.05, deterministic: bool = False) -> Ours:
    """Mean, sample standard deviation and the t interval of the mean that two one-sided tests at alpha need.

    mean ± t(1 - alpha; n - 1) std / sqrt(n), n values, so 90 percent for alpha = 0.05. deterministic: there is nothing
    to repeat (an untrained encoder), so the interval is the number itself.
    """
    count = len(values)
    mean = math.fsum(values) / count
    if deterministic:
        return Ours(mean, None, count, mean, mean)
    if count < 2:
        return Ours(mean, None, count, None, None)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    if std == 0:  # scores of few examples are coarse: equal ones tell of no spread, not of none
        return Ours(mean, 0.0, count, None, None)
    half = float(special.stdtrit(count - 1, 1 - alpha)) * std / math.sqrt(count)
    return Ours(mean, std, count, mean - half, mean + half)


def verdict(ours: Ours | None, published: float | None, comparable: bool, doubtful: bool, band: float) -> str:
    """missing, not comparable, published value doubtful, reproduced, differs or undecided.

    comparable: data, encoder, training and evaluation are the paper's. Then equivalence is tested (two one-sided
    tests; Schuirmann 1987): with H: |our true mean - published| >= band rejected at alpha, that is with the whole
    interval inside published ± band, the cell is reproduced; with the whole interval outside it differs; otherwise,
    and without an interval, it is undecided. The printed number is taken as it stands, without a spread.
    """
    if ours is None:
        return "missing"
    if not comparable or published is None:
        return "not comparable"
    if doubtful:
        return "published value doubtful"
    if ours.low is None:
        return "undecided"
    if published - band <= ours.low and ours.high <= published + band:
        return "reproduced"
    if ours.high < published - band or ours.low > published + band:
        return "differs"
    return "undecided"


def in_words(verdict: str, comparable: bool) -> str:
    """A claim's verdict as it is said: holds becomes seen and fails opposite where not all its numbers compare."""
    return verdict if comparable else dict(zip(ON_THE_PAPER, AT_THIS_SCALE, strict=True)).get(verdict, verdict)
