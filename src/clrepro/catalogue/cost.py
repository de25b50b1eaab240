"""What a plan costs: an estimate from floating-point operations and file sizes, made before anything starts.

Counted: training, selection and test embeddings, checkpoints, and evaluations that train encoders anew. Not counted:
downloads, evaluations of stored features, start-up, and the pretraining of encoders from scratch.
"""

from collections.abc import Iterable

from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.tables import Table
from clrepro.modalities.run import Cost, Run


def of_run(catalogue: Catalogue, run: Run) -> Cost:
    return run.plan.cost(catalogue.config, run)


def of_runs(catalogue: Catalogue, runs: Iterable[Run]) -> Cost:
    return sum((of_run(catalogue, run) for run in runs), Cost())


def of_table(catalogue: Catalogue, table: Table) -> Cost:
    """Of a table's runs, and of the evaluations that it is this table that asks for."""
    asking = dict.fromkeys((run, one) for cell in table.cells for one in cell.evaluations for run in cell.runs)
    evaluated = (run.plan.cost_of(catalogue.config, run, one) for run, one in asking)
    return sum(evaluated, of_runs(catalogue, table.runs))


def of_all(catalogue: Catalogue) -> Cost:
    """Of all runs, each once, and of their evaluations."""
    asking = ((run, one) for run in catalogue.runs for one in catalogue.evaluations(run))
    evaluated = (run.plan.cost_of(catalogue.config, run, one) for run, one in asking)
    return sum(evaluated, of_runs(catalogue, catalogue.runs))
