"""The generated evaluation sets."""

from clrepro.evaluation.senteval import files


def test_the_generated_sets_have_sentevals_shape(demo_tasks):
    for task, subsets in files.STS_SUBSETS.items():
        for subset in subsets:
            assert len(files.load_sts_subset(demo_tasks, task, subset).gold) == 40, (task, subset)
    sizes = {
        task: {k: len(v.labels) for k, v in files.load_transfer(demo_tasks, task).items()}
        for task in files.TRANSFER_TASKS
    }
    assert sizes["MR"] == {"all": 400}
    assert sizes["SST2"] == {"train": 400, "dev": 100, "test": 150}
    assert sizes["TREC"] == {"train": 360, "test": 120}
    sentences = files.distinct_sentences(demo_tasks)
    assert len(sentences) == len(set(sentences)) > 3000
