"""What a graph encoder costs, from operation counts."""

from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.graph.molecules import cost as of_molecules
from clrepro.modalities.run import Cost, Run
from clrepro.settings import Common


def of_run(config: Common, run: Run) -> Cost:
    """Two views of every graph forwards and backwards; edges are summed at the width of a layer."""
    spec = run.backbone.spec
    if spec["architecture"] == "gin_bonds":
        return of_molecules.of_run(config, run)
    about, width, layers = run.backbone.source.graphs, spec["width"], spec["layers"]
    forwards = 2 * layers * (2 * about["nodes"] * width**2 + about["edges"] * width)
    parameters = layers * (2 * width**2 + 4 * width) + about["width"] * width
    epochs = run.recipe.epochs if run.objective else 0
    operations = forwards * (3 * 2 * epochs + 1)
    return Cost(operations / (config.hardware.teraflops * 1e12) / 3600, 4 * parameters / 1e9)


def of_evaluation(config: Common, run: Run, evaluation: Evaluation) -> Cost:
    return of_molecules.of_fine_tuning(config, run, evaluation) if evaluation.reads == "checkpoint" else Cost()
