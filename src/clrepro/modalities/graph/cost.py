"""What a graph encoder costs, from operation counts."""

from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.graph.molecules import cost as of_molecules
from clrepro.modalities.run import Cost, Run
from clrepro.settings import Common

SVM_SECONDS = 36.0  # of a core, one encoder's search: 60 of them took 2,155 seconds, trainings included


def of_run(config: Common, run: Run) -> Cost:
    """Two views of every graph forwards and backwards; edges are summed at the width of a layer."""
    spec = run.backbone.spec
    if spec["architecture"] == "gin_bonds":
        return of_molecules.of_run(config, run)
    about, width, layers = run.backbone.source.graphs, spec["width"], spec["layers"]
    forwards = 2 * layers * (2 * about["nodes"] * width**2 + about["edges"] * width)
    parameters = layers * (2 * width**2 + 4 * width) + about["width"] * width
    epochs = run.recipe.epochs if run.objective else 0
    unit, steps = config.hardware, epochs * about["graphs"] / run.recipe.batch_size
    training = unit.hours(forwards * 3 * 2 * epochs, layer_steps=steps * layers)
    return Cost(training, unit.hours(forwards), gigabytes=4 * parameters / 1e9)


def of_evaluation(config: Common, run: Run, evaluation: Evaluation) -> Cost:
    """Fine-tuning on a set of molecules, or the search of the SVM."""
    if evaluation.reads == "checkpoint":
        return of_molecules.of_fine_tuning(config, run, evaluation)
    return Cost(probing=SVM_SECONDS / 3600)
