"""Error rates and power of the claims' test on simulated papers, beside the ordinary and the plug-in moderated t-test.

    python benchmarks/claims.py                        # 1,000 papers a line, about 10 minutes on one core
    python benchmarks/claims.py --papers 100

A simulated paper is a table of objectives (rows) on backbones (columns); each other row against the first, on each
backbone, is a claim. All seeds' values are normal with a part that all runs of a seed share. `holds` and `fails` are
the shares of papers with at least one wrong verdict of that kind when every true contrast lies at its bound, the worst
case of both; they should be 0.05 at most. `power` is the share of claims that hold when every true contrast is three
standard deviations of a run. The plug-in test is Smyth's: one estimate of d0 and s0 by moments.
"""

import argparse
import math
import time

import numpy as np
import pandas as pd
from scipy import special

from clrepro.ledger import inference
from clrepro.ledger.inference import ALPHA, NOTHING, Contrast, Prior

TABLES = {"28 claims": (8, 4), "9 claims": (4, 3)}  # rows, columns
SPREADS = {
    "equal": lambda shape, random: np.ones(shape),
    "scaled inverse chi-square, 10 degrees": lambda shape, random: np.sqrt(10 / random.chisquare(10, shape)),
    "scaled inverse chi-square, 4 degrees": lambda shape, random: np.sqrt(4 / random.chisquare(4, shape)),
    "a tenth of the runs five times as wide": lambda shape, random: np.where(random.random(shape) < 0.1, 5.0, 1.0),
}


def paper(
    shape: tuple[int, int], spread: str, seeds: int, effect: float, random: np.random.Generator
) -> list[Contrast]:
    """The claims of one simulated paper."""
    widths = SPREADS[spread](shape, random)[..., None]
    values = random.normal(size=(*shape, seeds)) * widths + 0.5 * random.normal(size=seeds)
    values[1:] += effect
    return [
        Contrast(tuple(values[row, column] - values[0, column]), {f"{row} {column}": 1.0, f"0 {column}": -1.0}, low=0.0)
        for row in range(1, shape[0])
        for column in range(shape[1])
    ]


def plug_in(contrasts: list[Contrast]) -> Prior:
    """d0 and s0^2 by the moments of the log variances."""
    half = np.array([one.freedom / 2 for one in contrasts])
    centred = np.log([one.variance / one.size for one in contrasts]) - special.digamma(half) + np.log(half)
    excess = centred.var(ddof=1) - special.polygamma(1, half).mean()
    level, freedom = centred.mean(), inference.MANY
    if excess > 0:
        prior = math.exp(inference.inverse_trigamma(excess))
        level, freedom = level + special.digamma(prior) - math.log(prior), 2 * prior
    return Prior(np.array([freedom]), np.exp([level]), np.ones(1))


METHODS = {"ordinary": lambda contrasts: NOTHING, "plug-in": plug_in, "ours": inference.fit}


def verdicts(contrasts: list[Contrast], prior: Prior) -> tuple[np.ndarray, np.ndarray]:
    """Which claims hold and which fail, after Holm's correction."""
    raw = zip(*(inference.p_values(one, prior) for one in contrasts), strict=True)
    holds, fails = (np.array(inference.holm(values)) <= ALPHA for values in raw)
    return holds, fails


def rates(shape: tuple[int, int], spread: str, seeds: int, papers: int, random: np.random.Generator) -> pd.DataFrame:
    """wrong holds, wrong fails (shares of papers) and power (share of claims) of each method."""
    found = {method: np.zeros(3) for method in METHODS}
    for _ in range(papers):
        none, large = (paper(shape, spread, seeds, effect, random) for effect in (0.0, 3.0))
        for method, fit in METHODS.items():
            holds, fails = verdicts(none, fit(none))
            found[method] += [holds.any(), fails.any(), verdicts(large, fit(large))[0].mean()]
    return pd.DataFrame(found, index=["holds", "fails", "power"]).T / papers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=1000)
    papers = parser.parse_args().papers
    random = np.random.default_rng(0)
    print(f"| table | deviations of runs | seeds |{'|'.join(f' {name}: holds | fails | power ' for name in METHODS)}|")
    print("|---|---|---:|" + "---:|" * 3 * len(METHODS))
    started = time.perf_counter()
    for table, shape in TABLES.items():
        for spread in SPREADS:
            for seeds in (2, 3, 5):
                numbers = rates(shape, spread, seeds, papers, random).to_numpy().ravel()
                print(f"| {table} | {spread} | {seeds} | {' | '.join(f'{n:.3f}' for n in numbers)} |", flush=True)
    print(f"\n{papers} papers a line, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
