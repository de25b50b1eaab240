"""Where two scores of a sweep are highest: in how many series at the same value (oar2024, section 5.1)."""

import re

from clrepro.catalogue import Catalogue, Figure, papers
from clrepro.errors import unknown
from clrepro.ledger.points import ask_for, is_asked, left_out_by
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records
from clrepro.ledger.scores import command, run_id, score_of_run

REFERENCE = re.compile(r"[^/]+/(?P<series>[^/]+)/(?P<backbone>[^/]+)/peaks\((?P<score>[^(),]+), (?P<other>[^(),]+)\)")


def by_seed(catalogue: Catalogue, figure: Figure, parts: re.Match, records: Records) -> tuple[dict, list, str]:
    """The share of the series whose score is best where the other one is highest, by seed; its runs; what is missing.

    Series are joined by ' and '. A seed counts if all points of all series have the score. A point without the other
    one, since its training diverged, is not where that is highest.
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
    values = {}
    for seed in sorted({run.seed for run in runs}.difference(lacking)):
        hits = 0
        for sweep in sweeps:
            own = [run for run in sweep if run.seed == seed]
            highest = max((run for run in own if other[run] is not None), key=other.get, default=None)
            hits += highest is not None and score[highest] == max(score[run] for run in own)
        values[seed] = hits / len(sweeps)
    fill = command(catalogue.config.scale, figure.target)
    why = f"seed {', '.join(map(str, lacking))} not finished: {fill}" if lacking else ""
    return values, [run for run in runs if run.seed in values], why


def quantity(catalogue: Catalogue, figure: Figure, reference: str, records: Records) -> Quantity:
    """The share of a sweep's series that have the peaks of two scores at one place."""
    parts = REFERENCE.fullmatch(reference)
    values, runs, why = by_seed(catalogue, figure, parts, records)
    if not is_asked(catalogue, figure):
        values, why = {}, ask_for(figure)
    elif not values and not why:
        why = left_out_by(catalogue, figure, parts["series"].split(" and ")[0], parts["backbone"])
    family = f"{figure.name} peaks"
    comparable = catalogue.compares(runs)
    return Quantity(values, None, tuple(map(run_id, runs)), why, family, measured=reference, comparable=comparable)
