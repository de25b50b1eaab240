"""Fine-tuning of pre-trained encoders on sets of molecules: one evaluation a set."""

from functools import partial

from clrepro.modalities.evaluation import Evaluation, Score
from clrepro.modalities.graph.molecules.build import MoleculeSetBuild, molecule_set_builds
from clrepro.modalities.graph.molecules.forms import FineTuningForm
from clrepro.modalities.graph.molecules.sets import SETS
from clrepro.modalities.graph.words import unreachable
from clrepro.settings import Common


def settings(config: Common, part: dict, place: str) -> dict:
    """The settings of a run's fine-tuning on one set, with the scale's epochs."""
    how = FineTuningForm(**part).model_dump()
    ours = config.graph.molecules
    return how if ours is None or ours.epochs is None else {**how, "epochs": ours.epochs}


def caption(how: dict, kind: str) -> str:
    return (
        f"Encoder and a linear layer fine-tuned on each set's training part for {how['epochs']} epochs, batch "
        f"{how['batch_size']}, rate {how['learning_rate']:g}, dropout {how['dropout']:g}; ROC-AUC of the last epoch on "
        "the test part of a scaffold split, 80 : 10 : 10, mean over the tasks."
    )


def lacks(name: str, config: Common, backbone: str) -> str:
    """Why this configuration does not fine-tune a backbone on a set; empty if it does."""
    wanted = config.graph.molecules
    if wanted is None:
        return "this configuration has no `graph.molecules`: no sets of molecules to fine-tune on"
    if name not in wanted.sets:
        return f"`graph.molecules.sets` leaves {name} out"
    if why := unreachable(molecule_set_builds(config)[name].source, config.mirror):
        return why
    spec = config.graph.backbones.get(backbone)
    if spec is not None and spec.architecture != "gin_bonds":
        return "molecules need an encoder with `architecture: gin_bonds`"
    return ""


def builds(name: str, config: Common) -> tuple[MoleculeSetBuild, ...]:
    found = molecule_set_builds(config).get(name)
    return () if found is None else (found,)


def seeds(config: Common) -> tuple[int, ...]:
    return tuple(config.graph.molecules.seeds) if config.graph.molecules else ()


def of_set(name: str) -> Evaluation:
    return Evaluation(
        name=f"molecules_{SETS[name].file}",
        described="fine-tuning on molecules",
        reads="checkpoint",
        group="molecules",
        # _selection: on the part that could choose an epoch, as in Hu et al.; nothing does
        scores={name: Score(), f"{name}_selection": Score(split="selection")},
        settings={name: FineTuningForm},
        caption=caption,
        lacks=partial(lacks, name),
        builds=partial(builds, name),
        seeds=seeds,
        minutes=lambda config: config.graph.molecules.runtime_minutes,
        work="clrepro.modalities.graph.molecules.work:evaluate",
        code=("clrepro.modalities.graph.molecules.work",),
    )


MOLECULES = tuple(map(of_set, SETS))
