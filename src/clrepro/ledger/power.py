"""Which claims the seeds of a configuration can decide, before anything is trained: power on simulated results.

Every number that a claim compares is, for each seed, a normal draw of standard deviation 1 plus what all runs of the
seed share (standard deviation 0.5). The true contrast lies `effect` standard deviations of a run inside its bounds, or,
for `opposite`, that of the claim's first comparison as far outside; a contrast with weights w has |w| / sqrt(2) for the
unit, so that of two plain numbers the difference counts. Then the claims of a paper are tested together, as
`claims.evaluate_paper` does. Power is the share of simulated results in which a claim is decided.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from clrepro.catalogue import Catalogue
from clrepro.ledger import inference
from clrepro.ledger.claim_forms import Part, load
from clrepro.ledger.claims import look_up
from clrepro.ledger.inference import Contrast, Prior
from clrepro.ledger.quantities import resolver
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records

EFFECTS = (1.0, 2.0, 3.0, 5.0)  # in standard deviations of a run
SHARED = 0.5  # deviation of what all runs of a seed share
ENOUGH = 0.8
DECIDED = ("seen", "opposite")


@dataclass(frozen=True)
class Planned:
    """A comparison whose runs are there or planned: its part, the family of its spread, and whether seeds cancel."""

    part: Part
    family: str
    paired: bool

    def contrast(self, draws: dict[str, np.ndarray], shared: np.ndarray, effect: float) -> Contrast:
        """Simulated values with the true mean `effect` units inside the bounds, or outside where it is negative."""
        weights = self.part.weights
        unit = math.sqrt(sum(weight**2 for weight in weights.values()) / 2)
        values = sum(weight * draws[name] for name, weight in weights.items())
        if not self.paired:
            values = values + sum(weights.values()) * shared
        two_sided = math.isfinite(self.part.low) and math.isfinite(self.part.high)
        if two_sided:  # the bounds as far from the middle as the effect; outside: beyond the upper one
            half = abs(effect) * unit
            values = values + (2 * half if effect < 0 else 0)
            return Contrast(tuple(values), weights, -half, half, self.family, self.paired)
        return Contrast(tuple(values + effect * unit), weights, 0.0, math.inf, self.family, self.paired)


def table(
    catalogue: Catalogue, papers: Iterable[str], samples: int = 50, effects: Sequence[float] = EFFECTS
) -> pd.DataFrame:
    """A line a claim: paper, claim, comparisons (planned of all) and, for each word and effect, the power.

    Claims without planned runs have none (NaN). samples: simulated results of a paper.
    """
    lines, seeds = [], len(catalogue.config.seeds)
    for paper in papers:
        claims, resolve = load(paper), resolver(catalogue, paper, Records())
        found = {claim.name: [planned(part, look_up(claim, part, resolve)) for part in claim.parts] for claim in claims}
        tested = {
            claim.name: [one for one in found[claim.name] if one]
            for claim in claims
            if any(found[claim.name]) and not (claim.complete and None in found[claim.name])
        }
        with tqdm(total=samples, desc=f"simulated results of {paper}", disable=None, leave=False) as bar:
            share = power(tested, seeds, effects, samples, bar)
        for claim in claims:
            ran = sum(one is not None for one in found[claim.name])
            line = {"paper": paper, "claim": claim.name, "comparisons": f"{ran} of {len(claim.parts)}"}
            lines.append(line | share.get(claim.name, {}))
    columns = [column(word, effect) for word in DECIDED for effect in effects]
    return pd.DataFrame(lines, columns=["paper", "claim", "comparisons", *columns])


def column(word: str, effect: float) -> str:
    return f"{word} at {effect:g}"


def planned(part: Part, quantities: dict[str, Quantity]) -> Planned | None:
    """The comparison, or None if a number of it neither exists nor is planned."""
    if not all(quantity.is_planned for quantity in quantities.values()):
        return None
    totals: dict[str, float] = defaultdict(float)
    for name, quantity in quantities.items():
        totals[quantity.family] += 0 if quantity.is_difference else part.weights[name]
    return Planned(part, " and ".join(sorted(totals)), all(abs(total) < 1e-9 for total in totals.values()))


def power(
    tested: dict[str, list[Planned]], seeds: int, effects: Sequence[float], samples: int, bar: tqdm
) -> dict[str, dict[str, float]]:
    """By claim and column, for the claims of one paper."""
    random = np.random.default_rng(0)
    names = list(dict.fromkeys(name for parts in tested.values() for one in parts for name in one.part.weights))
    found: dict[str, dict[str, float]] = {claim: defaultdict(float) for claim in tested}
    for _ in range(samples):
        draws = dict(zip(names, random.normal(size=(len(names), seeds)), strict=True))
        shared = SHARED * random.normal(size=seeds)
        priors = inference.priors([one.contrast(draws, shared, 1.0) for parts in tested.values() for one in parts])
        for effect in effects:
            seen, opposite = [], []
            for parts in tested.values():
                both = [tried(one, draws, shared, effect, priors) for one in parts]
                refuting = tried(parts[0], draws, shared, -effect, priors)[1]
                seen.append(
                    max((holds for (holds, _), one in zip(both, parts, strict=True) if one.part.decides), default=1.0)
                )
                opposite.append(min(1.0, len(parts) * min([refuting, *(fails for _, fails in both[1:])])))
            for word, values in zip(DECIDED, (seen, opposite), strict=True):
                for claim, value in zip(tested, inference.holm(values), strict=True):
                    found[claim][column(word, effect)] += (value <= inference.ALPHA) / samples
        bar.update()
    return found


def tried(
    one: Planned, draws: dict[str, np.ndarray], shared: np.ndarray, effect: float, priors: dict[str, Prior]
) -> tuple[float, float]:
    """p_holds and p_fails of simulated values of a comparison."""
    contrast = one.contrast(draws, shared, effect)
    return inference.p_values(contrast, inference.prior_of(contrast, priors))


def summary(found: pd.DataFrame, seeds: int) -> str:
    """How many claims are decided with a probability of ENOUGH, by effect."""
    ran = found[found[column(DECIDED[0], EFFECTS[0])].notna()]
    lines = [f"{len(ran)} of {len(found)} claims have runs or planned ones, with {seeds} seeds each."]
    for effect in EFFECTS:
        counts = [int((ran[column(word, effect)] >= ENOUGH).sum()) for word in DECIDED]
        lines.append(
            f"True differences of {effect:g} standard deviations of a run decide {counts[0]} of them as seen and "
            f"{counts[1]} as opposite, with a probability of {ENOUGH:g} or more."
        )
    return "\n".join(lines)
