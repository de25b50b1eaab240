"""Which evaluations: what tables and figures ask of each run."""

from collections import defaultdict
from collections.abc import Iterable

from clrepro import modalities
from clrepro.catalogue.figures import Figure
from clrepro.catalogue.tables import Table
from clrepro.modalities.run import Run

Kinds = dict[str, dict[str, None]]  # kinds of scores in order, by the name of their evaluation


def of_runs(
    tables: Iterable[Table], figures: Iterable[Figure], stated: Iterable[Table], trained: set[Run]
) -> dict[Run, Kinds]:
    """The kinds of scores that are asked of each run.

    stated: numbers that figures and sentences state; they come with the runs that something else has trained.
    """
    found: dict[Run, Kinds] = defaultdict(lambda: defaultdict(dict))

    def ask(runs: Iterable[Run], kinds: Iterable[str]) -> None:
        for run in runs:
            for kind in kinds:
                found[run][modalities.evaluation_of(kind).name][kind] = None

    for table in tables:
        for run in table.runs:
            for one in run.plan.evaluations:
                if one.every_tabled_run:
                    ask([run], one.scores)
        for cell in table.cells:
            ask(cell.runs, cell.kinds)
    for figure in figures:
        ask(figure.runs, figure.kinds)
    for table in stated:
        for cell in table.cells:
            if trained.issuperset(cell.runs):
                ask(cell.runs, cell.kinds)
    return found
