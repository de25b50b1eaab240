"""One task of the evaluation sets by its name."""

from clrepro.evaluation.senteval import files, pairs


def load(root, task):
    return files.distinct_sentences(root, (task,), pairs.SPLITS)
