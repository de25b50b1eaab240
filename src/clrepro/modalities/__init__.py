"""The modalities, by their key in configuration, recipes and folders. A new one is a folder here and an entry below."""

from typing import Any

from clrepro.errors import unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.graph.plan import GRAPH
from clrepro.modalities.image.plan import IMAGE
from clrepro.modalities.interface import Modality
from clrepro.modalities.run import Build, Run
from clrepro.modalities.sentence.plan import SENTENCE

MODALITIES: dict[str, Modality] = {modality.key: modality for modality in (SENTENCE, IMAGE, GRAPH)}


def modality(key: str, place: str = "") -> Modality:
    if key not in MODALITIES:
        raise unknown("modality", key, MODALITIES, place)
    return MODALITIES[key]


def evaluations() -> dict[str, Evaluation]:
    """Every evaluation by its name."""
    return {one.name: one for each in MODALITIES.values() for one in each.evaluations}


def evaluation_of(score: str, place: str = "") -> Evaluation:
    """The evaluation that a score, which is named kind/task, is of."""
    kind = score.split("/")[0]
    for one in evaluations().values():
        if one.covers(kind):
            return one
    raise unknown("evaluation", kind, {name for one in evaluations().values() for name in one.scores}, place)


def run_from(given: dict[str, Any], evaluation: dict[str, dict] | None = None) -> Run:
    """A run from what a job is handed of it (`Run.given`)."""
    return modality(given["modality"]).run_from(given, evaluation or {})


def build_from(given: dict[str, Any]) -> Build:
    """What is made ready, from what a job is handed of it (`Build.given`)."""
    form = given["build"]
    (owner,) = (one for one in MODALITIES.values() if form in {part.__name__ for part in one.builds})
    return owner.build_from(given)
