"""How two scores of a sweep go together, mean over its series (oar2024, section 5.1)."""

import re
from collections.abc import Callable

import numpy as np
from scipy import stats

from clrepro.catalogue import Catalogue, Figure, papers
from clrepro.errors import unknown
from clrepro.ledger.points import ask_for, is_asked, left_out_by
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records
from clrepro.ledger.scores import command, run_id, score_of_run

Sweep = list[tuple[float, float | None]]  # (score, other) at each value; a training that diverged has no other


def at_one_place(sweep: Sweep) -> float:
    """1 if the score is best where the other one is highest, 0 if not."""
    score, _ = max((pair for pair in sweep if pair[1] is not None), key=lambda pair: pair[1], default=(None, None))
    return float(score == max(pair[0] for pair in sweep))


def rank_correlation(sweep: Sweep) -> float:
    """Spearman's, over the values that have both scores; 0 where one of the two has no order."""
    both = np.array([pair for pair in sweep if pair[1] is not None])
    if len(both) < 2 or not np.ptp(both, axis=0).all():
        return 0.0
    return float(stats.spearmanr(both).statistic)


MEASURES: dict[str, Callable[[Sweep], float]] = {"peaks": at_one_place, "correlation": rank_correlation}
REFERENCE = re.compile(
    rf"[^/]+/(?P<series>[^/]+)/(?P<backbone>[^/]+)/(?P<measure>{'|'.join(MEASURES)})"
    r"\((?P<score>[^(),]+), (?P<other>[^(),]+)\)"
)


def by_seed(catalogue: Catalogue, figure: Figure, parts: re.Match, records: Records) -> tuple[dict, list, str]:
    """The mean over the series, by seed; its runs; what is missing.

    Series are joined by ' and '. A seed counts if all points of all series have the score.
    """
    place, names = f"the reference '{parts[0]}'", parts["series"].split(" and ")
    series = papers.load(figure.paper, "experiments")["figures"][figure.name]["series"]
    named = [("series", name, series) for name in names]
    for what, name, known in (*named, *(("score", parts[key], figure.scores) for key in ("score", "other"))):
        if name not in known:
            raise unknown(what, name, known, place)
    sweeps = [
        [run for point in figure.points if (point.series, point.backbone) == (name, parts["backbone"])
         for run in point.runs]
        for name in names
    ]  # fmt: skip
    runs = [run for sweep in sweeps for run in sweep]
    score, other = ({run: score_of_run(run, parts[key], records) for run in runs} for key in ("score", "other"))
    lacking = sorted({run.seed for run in runs if score[run] is None})
    measure = MEASURES[parts["measure"]]
    values = {
        seed: float(np.mean([measure([(score[run], other[run]) for run in sweep if run.seed == seed])
                             for sweep in sweeps]))
        for seed in sorted({run.seed for run in runs}.difference(lacking))
    }  # fmt: skip
    fill = command(catalogue.config.scale, figure.target)
    why = f"seed {', '.join(map(str, lacking))} not finished: {fill}" if lacking else ""
    return values, [run for run in runs if run.seed in values], why


def quantity(catalogue: Catalogue, figure: Figure, reference: str, records: Records) -> Quantity:
    """How two scores of a sweep go together."""
    parts = REFERENCE.fullmatch(reference)
    values, runs, why = by_seed(catalogue, figure, parts, records)
    if not is_asked(catalogue, figure):
        values, why = {}, ask_for(figure)
    elif not values and not why:
        why = left_out_by(catalogue, figure, parts["series"].split(" and ")[0], parts["backbone"])
    family = f"{figure.name} {parts['measure']}"
    comparable = catalogue.compares(runs)
    return Quantity(values, None, tuple(map(run_id, runs)), why, family, measured=reference, comparable=comparable)
