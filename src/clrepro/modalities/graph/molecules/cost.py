"""What encoders of molecules cost, from operation counts."""

from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.graph.molecules.build import MoleculeBuild
from clrepro.modalities.graph.molecules.sets import SETS
from clrepro.modalities.run import Cost, Run
from clrepro.settings import Common

ATOMS = 25  # of a molecule, on average
TRAINING_SHARE = 0.8


def forwards(build: MoleculeBuild, atoms: float) -> float:
    """Operations of one pass over some atoms: nearly all in the layers' two matrices, width to 2 width and back."""
    return 8 * build.spec["layers"] * build.spec["width"] ** 2 * atoms


def kept_share(run: Run) -> float:
    """Atoms of a view as a share of the molecule's."""
    shares = {"drop_nodes": 1 - run.recipe.drop_share, "subgraph": run.recipe.subgraph_share}
    chosen = [shares[name] for name in shares if run.recipe.augmentation in (name, "random2")]
    return sum(chosen) / len(chosen)


def of_run(config: Common, run: Run) -> Cost:
    """Two views forwards and backwards; the checkpoint has the layers and the table of elements."""
    spec, shown = run.backbone.spec, run.recipe.epochs * run.backbone.source.molecules["molecules"]
    operations = 3 * 2 * shown * forwards(run.backbone, ATOMS * kept_share(run))
    parameters = spec["layers"] * 4 * spec["width"] ** 2 + 120 * spec["width"]
    layer_steps = shown / run.recipe.batch_size * spec["layers"]
    hours = config.hardware.hours(operations, layer_steps=layer_steps) if run.objective else 0.0
    return Cost(hours, gigabytes=4 * parameters / 1e9)


def of_fine_tuning(config: Common, run: Run, evaluation: Evaluation) -> Cost:
    """Fine-tuning on one set with every seed."""
    (name,) = evaluation.settings
    how, about = run.evaluation[name], run.backbone.source.molecules
    molecules = about.get("rows", {}).get(SETS[name].file) or SETS[name].molecules
    shown = TRAINING_SHARE * molecules * how["epochs"] * len(config.graph.molecules.seeds)
    operations = 3 * shown * forwards(run.backbone, ATOMS)
    layer_steps = shown / how["batch_size"] * run.backbone.spec["layers"]
    return Cost(fine_tuning=config.hardware.hours(operations, layer_steps=layer_steps))
