"""Tests of contrasts over few seeds: how sure the runs make it that a number lies above, below or between bounds.

A contrast is a weighted sum of quantities, one value a seed: y_1 .. y_n with mean m, sample variance s^2 and d = n - 1
degrees of freedom. Two or three seeds say little of a variance, but all contrasts of a family (one paper, one unit)
together say much. As in Smyth, Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments (2004), a contrast with weights w has the variance |w|^2 sigma^2, and

    1 / sigma^2 ~ chi^2(d0) / (d0 s0^2)                           over the contrasts of a family
    v = (d0 s0^2 |w|^2 + d s^2) / (d0 + d)                        the moderated variance
    (m - mu) / sqrt(v / n) ~ t(d0 + d)                            given d0 and s0

Smyth puts one estimate in the place of d0 and s0. With few seeds that estimate is poor, d0 often comes out infinite,
and the tails that a correction for many claims looks at come out far too thin (docs/claims.md). Here p-values and
intervals are averages over the posterior of (d0, s0) instead, on a grid: d0 by a half-normal prior on the standard
deviation of log sigma^2, s0 by a uniform one on log s0. Contrasts that share cells repeat each other, so their joint
likelihood counts as that of the effective number of contrasts.

A contrast that is not paired (trained against untrained, a number against a bound) holds what all runs of a seed share.
Of that there are n draws, however many contrasts have it: nothing is learnt from the others, and its test is the
ordinary t-test.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

ALPHA = 0.05
FEWEST = 8  # variances that a family needs before it says something of each other
SPREADS = np.linspace(0, 4, 33)  # standard deviations of log sigma^2, 0: all variances of a family are equal
SCALE = 2.0  # of their half-normal prior; a smaller one breaks the promise when few runs spread much more
PLACES = np.linspace(-4, 4, 17)  # grid of log s0^2, in standard errors about its centre
POWER, MOST_SEEDS = 0.8, 200  # of what `seeds_needed` answers
MANY = 1e6  # degrees of freedom in the place of infinitely many


@dataclass(frozen=True)
class Contrast:
    """One number for each seed, and the open interval that a claim says its mean lies in.

    weights: those of the quantities that differ from seed to seed; empty where none does (untrained encoders), and
    then the one value is exact. family: contrasts that may share a variance have the same. paired: whether what all
    runs of a seed share (data order, dropout) cancels out of the contrast.
    """

    values: tuple[float, ...]
    weights: Mapping[str, float]
    low: float = -math.inf
    high: float = math.inf
    family: str = ""
    paired: bool = True

    @property
    def estimate(self) -> float:
        return float(np.mean(self.values))

    @property
    def freedom(self) -> int:
        return len(self.values) - 1

    @property
    def size(self) -> float:
        """|w|^2, the variance that the contrast has for each unit of variance of its quantities."""
        return float(sum(weight**2 for weight in self.weights.values()))

    @property
    def variance(self) -> float:
        """The sample variance; exactly 0 where all values are the same."""
        return float(np.var(self.values, ddof=1)) if len(set(self.values)) > 1 else 0.0


@dataclass(frozen=True)
class Prior:
    """What a family says of its variances: degrees of freedom d0, variances s0^2, and how probable each pair is."""

    freedom: np.ndarray
    variance: np.ndarray
    probability: np.ndarray


NOTHING = Prior(np.zeros(1), np.zeros(1), np.ones(1))  # d0 = 0: the ordinary t-test


@dataclass(frozen=True)
class Result:
    """What the seeds say of a contrast.

    p_holds: of the hypothesis that the mean is at a bound or beyond it; p_fails: that it is inside or at a bound.
    low, high: interval of the mean; deviation: the moderated one of a single seed's value. None where one seed, or
    values that are all the same, tell of no spread.
    """

    estimate: float
    low: float | None
    high: float | None
    deviation: float | None
    p_holds: float
    p_fails: float

    @property
    def effect(self) -> float | None:
        """The estimate in deviations."""
        return self.estimate / self.deviation if self.deviation else None


def inverse_trigamma(value: float) -> float:
    return optimize.brentq(lambda log_x: special.polygamma(1, math.exp(log_x)) - value, -10, 20)


HALF_FREEDOMS = np.array([math.exp(inverse_trigamma(spread**2)) if spread else MANY / 2 for spread in SPREADS])


def effective_number(contrasts: Sequence[Contrast]) -> float:
    """How many independent variances the contrasts' are worth: k^2 over the sum of the squared correlations.

    The correlation of two contrasts is the cosine of their weights, that of their sample variances about its square.
    """
    names = {name: place for place, name in enumerate(dict.fromkeys(n for one in contrasts for n in one.weights))}
    matrix = np.zeros((len(contrasts), len(names)))
    for line, contrast in zip(matrix, contrasts, strict=True):
        for name, weight in contrast.weights.items():
            line[names[name]] = weight
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return len(contrasts) ** 2 / float(((matrix @ matrix.T) ** 2).sum())


def fit(contrasts: Sequence[Contrast]) -> Prior:
    """The posterior of (d0, s0^2) of one family, from the variances that say something; NOTHING if these are few."""
    usable = [one for one in contrasts if one.paired and one.size and one.freedom and one.variance > 0]
    if len(usable) < FEWEST:
        return NOTHING
    number = effective_number(usable)
    half = np.array([one.freedom / 2 for one in usable])  # (K,)
    logs = np.log([one.variance / one.size for one in usable])  # (K,)
    level = float(np.mean(logs - special.digamma(half) + np.log(half)))
    centres = level + special.digamma(HALF_FREEDOMS) - np.log(HALF_FREEDOMS)  # (D,)
    errors = np.sqrt((special.polygamma(1, half).mean() + SPREADS**2) / number)  # (D,)
    places = centres[:, None] + errors[:, None] * PLACES  # (D, S): log s0^2
    ratio = np.log(half) - np.log(HALF_FREEDOMS)[:, None, None] + logs - places[..., None]  # (D, S, K)
    prior = HALF_FREEDOMS[:, None, None]
    density = half * ratio - (half + prior) * np.log1p(np.exp(ratio)) - special.betaln(half, prior)  # F of s^2 / s0^2
    posterior = density.mean(axis=-1) * number + (np.log(errors) - (SPREADS / SCALE) ** 2 / 2)[:, None]
    probability = np.exp(posterior - posterior.max())
    freedom = np.broadcast_to(2 * HALF_FREEDOMS[:, None], places.shape)
    kept = probability > 1e-7 * probability.max()
    return Prior(freedom[kept], np.exp(places[kept]), probability[kept] / probability[kept].sum())


def errors_of(contrast: Contrast, prior: Prior) -> tuple[np.ndarray, np.ndarray]:
    """Degrees of freedom and standard errors of the mean, one each for every (d0, s0^2) of the prior."""
    total = prior.freedom + contrast.freedom
    pooled = prior.freedom * prior.variance * contrast.size + contrast.freedom * contrast.variance
    return total, np.sqrt(pooled / total / len(contrast.values))


def p_values(contrast: Contrast, prior: Prior = NOTHING) -> tuple[float, float]:
    """p_holds and p_fails of a contrast. A mean without a known spread decides nothing, whichever side it lies on."""
    estimate = contrast.estimate
    distances = [estimate - contrast.low, contrast.high - estimate]
    finite = [distance for distance in distances if math.isfinite(distance)]
    if not contrast.weights:
        return float(min(finite) <= 0), float(min(finite) >= 0)
    if not spread_is_known(contrast, prior):
        return 1.0, 1.0
    total, errors = errors_of(contrast, prior)
    against = [float(prior.probability @ special.stdtr(total, -distance / errors)) for distance in finite]
    beyond = [float(prior.probability @ special.stdtr(total, distance / errors)) for distance in finite]
    return max(against), min(1.0, len(finite) * min(beyond))


def spread_is_known(contrast: Contrast, prior: Prior) -> bool:
    return contrast.freedom > 0 and (contrast.variance > 0 or bool(prior.freedom.any()))


def examine(contrast: Contrast, prior: Prior = NOTHING, alpha: float = ALPHA) -> Result:
    """Test one contrast; the interval of its mean is two-sided, 1 - alpha."""
    estimate = contrast.estimate
    p_holds, p_fails = p_values(contrast, prior)
    if not contrast.weights:
        return Result(estimate, estimate, estimate, None, p_holds, p_fails)
    if not spread_is_known(contrast, prior):
        return Result(estimate, None, None, None, p_holds, p_fails)
    total, errors = errors_of(contrast, prior)
    widest = float((errors * special.stdtrit(total, 1 - alpha / 2)).max()) * (1 + 1e-9)

    def excess(width: float) -> float:
        return float(prior.probability @ special.stdtr(total, -width / errors)) - alpha / 2

    half = optimize.brentq(excess, 0, widest)
    deviation = math.sqrt(len(contrast.values) * float(prior.probability @ errors**2))
    return Result(estimate, estimate - half, estimate + half, deviation, p_holds, p_fails)


def seeds_needed(distance: float, level: float) -> int | None:
    """How many seeds let a one-sided t-test at `level` see a distance, in deviations of a seed's value, with POWER.

    The power of n seeds is that of the noncentral t distribution with n - 1 degrees of freedom and the parameter
    |distance| sqrt(n). None: more than MOST_SEEDS.
    """
    for seeds in range(2, MOST_SEEDS + 1):
        critical = float(special.stdtrit(seeds - 1, 1 - level))
        if special.nctdtr(seeds - 1, abs(distance) * math.sqrt(seeds), critical) <= 1 - POWER:
            return seeds
    return None


def priors(contrasts: Sequence[Contrast]) -> dict[str, Prior]:
    """What each family says of its variances."""
    families: dict[str, list[Contrast]] = defaultdict(list)
    for contrast in contrasts:
        families[contrast.family].append(contrast)
    return {family: fit(members) for family, members in families.items()}


def prior_of(contrast: Contrast, known: Mapping[str, Prior]) -> Prior:
    """What its family says of a contrast's variance; of one that is not paired, nothing."""
    return known[contrast.family] if contrast.paired else NOTHING


def examine_all(contrasts: Sequence[Contrast], alpha: float = ALPHA) -> list[Result]:
    """Test contrasts, each with what its family says of its variance."""
    known = priors(contrasts)
    return [examine(one, prior_of(one, known), alpha) for one in contrasts]


def holm(values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: rejecting those of alpha or less errs once or more with probability alpha at most."""
    adjusted, largest = [1.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted


def verdict(p_holds: float, p_fails: float, alpha: float = ALPHA) -> str:
    """holds, fails or undecided, from adjusted p-values; of both, fails."""
    if p_fails <= alpha:
        return "fails"
    return "holds" if p_holds <= alpha else "undecided"
