"""Our number for a cell: the mean of its runs' scores, its spread, and the verdict beside the published one."""

import math
from dataclasses import dataclass

from scipy import stats

BAND = 1.0  # points (percent): a difference that the field treats as noise between machines and seeds
CONFIDENCE = 0.95
AVERAGES = {
    "sts": ("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness"),
    "transfer": ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"),
    "transfer_dev": ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"),
}


def score(name: str, rows: dict[str, list]) -> float:
    """One score of one run, in percent, rounded to two decimals as the papers' programs print it.

    name: kind/task. sts: Spearman x 100 ("all" setting of STS12-16, test split elsewhere); transfer,
    transfer_dev: accuracy on test and dev. Avg is the mean of the rounded scores of the seven tasks, rounded.
    rows: {"sts": [[task, split, metric, value], ...], "transfer": [...]}.
    """
    kind, _, task = name.partition("/")
    if task == "Avg":
        return round(sum(score(f"{kind}/{part}", rows) for part in AVERAGES[kind]) / len(AVERAGES[kind]), 2)
    if kind == "sts":
        wanted = (task, "test", "spearman_all" if task.startswith("STS1") else "spearman")
        factor = 100
    else:
        wanted, factor = (task, "dev" if kind == "transfer_dev" else "test", "accuracy"), 1
    table = {tuple(row[:3]): row[3] for row in rows["sts" if kind == "sts" else "transfer"]}
    return round(factor * table[wanted], 2)


@dataclass(frozen=True)
class Ours:
    """Our side of a cell."""

    mean: float
    std: float | None
    seeds: int
    low: float | None
    high: float | None


def summarise(scores: list[float], deterministic: bool = False) -> Ours:
    """Mean, sample standard deviation and the t interval of the mean over the seeds.

    deterministic: there is nothing to repeat (an untrained encoder), so the interval is the number itself.
    """
    count = len(scores)
    mean = sum(scores) / count
    if deterministic:
        return Ours(mean, None, count, mean, mean)
    if count < 2:
        return Ours(mean, None, count, None, None)
    std = math.sqrt(sum((value - mean) ** 2 for value in scores) / (count - 1))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * std / math.sqrt(count)
    return Ours(mean, std, count, mean - half, mean + half)


def verdict(ours: Ours | None, published: float | None, comparable: bool) -> str:
    """missing, not comparable, reproduced, differs or undecided.

    comparable: data, encoder, training and evaluation are the paper's. Then the interval of our mean is set
    against published +- BAND: reproduced if it lies inside, differs if it lies outside, undecided if it
    straddles an edge or if there are fewer than two seeds.
    """
    if ours is None:
        return "missing"
    if not comparable or published is None:
        return "not comparable"
    if ours.low is None:
        return "undecided"
    if published - BAND <= ours.low and ours.high <= published + BAND:
        return "reproduced"
    if ours.high < published - BAND or ours.low > published + BAND:
        return "differs"
    return "undecided"
