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
    done = folder.run("--cores", "1", "--configfile", "bad.yaml", "--until", "fetch_wikipedia_sentences")
    assert done.returncode != 0
    assert "error in fetch_wikipedia_sentences: source 'wikipedia-sentences'" in done.stderr + done.stdout
    # whatever fails, there is a report of what there is
    assert "Some jobs failed. The report of what there is: results/demo/report.html" in done.stderr + done.stdout
    assert "snakemake li2024_table_3_v1 --cores all" in (tmp_path / "results/demo/report.html").read_text()
    assert "expected a678f19b27583f0e" in done.stderr + done.stdout
