"""What goes out says nothing of its maker."""

import shutil
from pathlib import Path

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.paths import ROOT, read_json
from tests.finished import finished
from tests.workflow.telltales import SECRETS, telltales


def test_results_and_report_say_nothing_of_who_made_them_and_where(tmp_path, monkeypatch, tiny):
    from clrepro import stages
    from clrepro.ledger import Records
    from clrepro.report import html, tables

    home = tmp_path / "home" / "annamuster"
    work = home / "work"
    work.mkdir(parents=True)
    shutil.copytree(tiny[1], home / "models" / "my-bert")
    monkeypatch.chdir(work)
    for name, value in {**SECRETS, "HOME": str(home), "USER": "annamuster", "LOGNAME": "annamuster"}.items():
        monkeypatch.setenv(name, value)
    raw = configuration.merge(
        configuration.read(ROOT / "config.yaml"),
        {
            "papers": ["nie2023"],
            "tables": ["nie2023/table_1"],
            "figures": [],
            "mirror": str(home),
            "sentence": {
                "corpus_lines": 300,
                "backbones": {
                    "BERT_base": {"kind": "pretrained", "path": str(home / "models" / "my-bert")},
                    "BERT_large": None, "RoBERTa_base": None, "RoBERTa_large": None,
                },
            },
        },
    )  # fmt: skip
    catalogue = Catalogue(configuration.parse(raw))
    finished(catalogue)
    # besides, what the first stages really write
    for source in catalogue.sources():
        stages.fetch(source, catalogue.config)
    (build,) = catalogue.builds()
    stages.prepare(build, catalogue.config)
    untrained = [run for run in catalogue.runs if not run.objective]
    assert untrained
    stages.train(untrained, catalogue.config)
    model = read_json(untrained[0].record)["model"]
    assert Path(model["path"]).resolve() == home / "models" / "my-bert"
    for table in catalogue.tables:
        tables.write(catalogue, table, Records())
    content = html.write(catalogue)
    assert len(content["runs"]) == len(catalogue.runs)
    assert telltales(work) == []
    (work / "planted.json").write_text(str(work))
    assert telltales(work) == ["planted.json"]
