"""What a plan costs: an estimate from floating-point operations and file sizes, made before anything starts.

Not counted: downloads, the preparation of data, and the pre-training of encoders from scratch.
"""

from collections.abc import Iterable

from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.tables import Table
from clrepro.modalities.run import Cost, Run
from clrepro.settings import Common


def of_run(catalogue: Catalogue, run: Run) -> Cost:
    """Of its training and embedding."""
    return run.plan.cost(catalogue.config, run)


def of_runs(catalogue: Catalogue, runs: Iterable[Run]) -> Cost:
    return sum((of_run(catalogue, run) for run in runs), Cost())


def of_runs_evaluated(catalogue: Catalogue, runs: Iterable[Run], config: Common | None = None) -> Cost:
    """Of runs and of all their evaluations; config: with another `hardware` than the catalogue's."""
    config, found = config or catalogue.config, Cost()
    for run in runs:
        found += run.plan.cost(config, run)
        found += sum((run.plan.cost_of(config, run, one) for one in catalogue.evaluations(run)), Cost())
    return found


def of_table(catalogue: Catalogue, table: Table) -> Cost:
    """Of a table's runs, and of the evaluations that it is this table that asks for."""
    asking = dict.fromkeys((run, one) for cell in table.cells for one in cell.evaluations for run in cell.runs)
    evaluated = (run.plan.cost_of(catalogue.config, run, one) for run, one in asking)
    return sum(evaluated, of_runs(catalogue, table.runs))


def of_all(catalogue: Catalogue) -> Cost:
    """Of all runs, each once, and of their evaluations."""
    return of_runs_evaluated(catalogue, catalogue.runs)
