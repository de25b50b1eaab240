"""Pairs of sentences and what of them is embedded."""

from clrepro.evaluation.senteval import files, pairs
from tests.evaluation.senteval.loading import load


def test_only_the_splits_asked_for_are_embedded(demo_tasks):
    default = set(files.distinct_sentences(demo_tasks))
    whole = set(files.distinct_sentences(demo_tasks, splits=pairs.SPLITS))
    train = {
        s for task in ("STSBenchmark", "SICKRelatedness") for s in both(pairs.load_pairs(demo_tasks, task, "train"))
    }
    assert default < whole == default | train
    assert train < set(load(demo_tasks, "STSBenchmark-finetune")) | set(load(demo_tasks, "SICKRelatedness-finetune"))


def both(part):
    return part.first + part.second
