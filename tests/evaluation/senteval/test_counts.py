"""The standard counts of the evaluation sets."""

import pytest

from clrepro.evaluation.senteval import files, pairs

# examples of every task and split, from the papers' protocol
SIZES = {
    "STS12": 3108,
    "STS13": 1500,
    "STS14": 3750,
    "STS15": 3000,
    "STS16": 1186,
    "STSBenchmark": {"train": 5749, "dev": 1500, "test": 1379},
    "SICKRelatedness": {"train": 4500, "dev": 500, "test": 4927},
    "MR": {"all": 10662},
    "CR": {"all": 3775},
    "SUBJ": {"all": 10000},
    "MPQA": {"all": 10606},
    "SST2": {"train": 67349, "dev": 872, "test": 1821},
    "SST5": {"train": 8544, "dev": 1101, "test": 2210},
    "TREC": {"train": 5452, "test": 500},
    "MRPC": {"train": 4076, "test": 1725},
    "SICKEntailment": {"train": 4500, "dev": 500, "test": 4927},
}


@pytest.mark.parametrize("task", SIZES)
def test_the_standard_counts_are_the_papers(task):
    if task in pairs.STS_COUNTS:
        found = sum(pairs.STS_COUNTS[task].values())
    elif task in files.OPPOSITES:
        found = {"all": sum(count for _, count in files.OPPOSITES[task])}
    else:
        tables = {"STSBenchmark": pairs.STSB_FILES, "SICKRelatedness": pairs.SICK_FILES}
        parts = tables.get(task) or files.FORMATS[task].files
        found = {split: count for split, (_, count) in parts.items()}
    assert found == SIZES[task]
