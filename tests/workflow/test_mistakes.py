"""Bad input stops the workflow before it works."""

import pytest
import yaml

from tests.workflow.checkout import SMALL, Checkout


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"tables": ["nie2023/tabel_1"]},
            "unknown table 'nie2023/tabel_1' in tables. Did you mean nie2023/table_1",
        ),
        ({"sentence": {"corpus": "wikipedia-sentences"}}, "must come from a mirror: set `mirror:`"),
        ({"mirror": "/nowhere/at/all"}, "mirror: '/nowhere/at/all' is not a folder"),
        (
            {"sentence": {"training": {"batch_size": 9000}}},
            "batch_size 9000 is larger than the corpus of 8,000",
        ),
    ],
)
def test_bad_input_stops_the_workflow_before_any_job(tmp_path, config, message):
    folder = Checkout(tmp_path)
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(config))
    done = folder.run("--cores", "1", "--configfile", "bad.yaml")
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "data").exists()


def test_a_misspelt_target_stops_the_workflow_before_any_job(tmp_path):
    done = Checkout(tmp_path).run("nie2023_tabel_1", "--cores", "1", "--configfile", "config.yaml")
    assert done.returncode != 0
    assert "unknown target 'nie2023_tabel_1'. Did you mean nie2023_table_1" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "epochs: 100, batch_size: 128",
            "epocs: 100",
            "unknown setting 'epocs' in {run}, evaluation.linear. Did you mean",
        ),
        (
            "knn_plain: {k: 200",
            "knn_plain: {k: many",
            "{run}, evaluation.knn_plain: k: Input should be a valid integer",
        ),
        ("knn_plain: {k: 200", "knn_plian: {k: 200", "unknown evaluation 'knn_plian' in {run}. Did you mean knn_plain"),
    ],
)
def test_a_mistake_in_the_settings_of_an_evaluation_stops_the_workflow_before_any_job(tmp_path, before, after, message):
    folder = Checkout(tmp_path)
    folder.edit("papers/huang2023/experiments.yaml", before, after)
    done = folder.run("huang2023_table_9", "--cores", "1", "--configfile", "config.yaml")
    assert done.returncode != 0
    assert message.format(run="papers/huang2023/experiments.yaml, cifar_NT-Xent") in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_a_corrupt_mirror_file_stops_before_training_with_the_hashes(tmp_path):
    folder = Checkout(tmp_path)
    (tmp_path / "mirror/wiki").mkdir(parents=True)
    (tmp_path / "mirror/wiki/wiki-sentences.txt.xz").write_bytes(b"not what it should be")
    overlay = {
        **SMALL,
        "mirror": "mirror",
        "sentence": {**SMALL["sentence"], "corpus": "wikipedia-sentences"},
    }
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(overlay))
    done = folder.run("--cores", "1", "--configfile", "bad.yaml", "--until", "fetch")
    assert done.returncode != 0
    assert "error in fetch: source 'wikipedia-sentences'" in done.stderr + done.stdout
    # whatever fails, there is a report of what there is
    assert "Some jobs failed. The report of what there is: results/demo/report.html" in done.stderr + done.stdout
    assert "snakemake li2024_table_3_v1 --cores all" in (tmp_path / "results/demo/report.html").read_text()
    assert "expected a678f19b27583f0e" in done.stderr + done.stdout
