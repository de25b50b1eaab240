"""Results as a workflow leaves them, without any training."""

import json

from clrepro import config as configuration
from clrepro.catalogue import Catalogue

TABLE = {"tables": ["nie2023/table_1"], "papers": ["nie2023"], "figures": []}


def finished_table() -> Catalogue:
    """One table with results for every run, below the working directory."""
    catalogue = Catalogue(configuration.load("demo").model_copy(update=TABLE))
    finished(catalogue)
    return catalogue


def cells_of(content: dict) -> dict[str, dict]:
    """The cells of a report's data by their address."""
    rows = (
        row
        for paper in content["papers"]
        for table in paper["tables"]
        for part in table["parts"]
        for row in part["rows"]
    )
    return {cell["id"]: cell for row in rows for cell in row["cells"] if cell}


def finished(catalogue: Catalogue, number: float = 50.0):
    """Results for every run of the catalogue, as its stages leave them; each run has its own scores, in no order."""
    for place, run in enumerate(catalogue.runs):
        run.folder.mkdir(parents=True)
        seed = run.seed if run.objective else None
        record = {"identity": run.identity, "seed": seed, "code": run.code, "steps": 1, "model": {}}
        run.record.write_text(json.dumps(record))
        value = number + place * place * 37 % 101 / 10
        tasks = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness")
        sts = [[t, "test", "spearman_all" if t[3].isdigit() else "spearman", value / 100] for t in tasks]
        transfer = [[t, split, "accuracy", value] for t in ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
                    for split in ("dev", "test")]  # fmt: skip
        rows = {"sts": sts, "transfer": transfer} if run.modality == "sentence" else {}
        if run.modality == "image":
            tops = [("top1", value), ("top5", value + 20)]
            heads = [(kind, split) for kind in run.evaluation for split in ("test", "selection") if "finetune" in kind]
            rows["finetune"] = [[*head, name, top] for head in heads for name, top in tops]
            rows["linear"] = [["linear", "test", name, top] for name, top in tops]
            rows["knn"] = [[kind, "test", name, top] for kind in ("knn", "knn_plain") for name, top in tops]
        if run.modality == "graph" and "svm" in run.evaluation:
            rows["svm"] = [["svm", "test", "accuracy", value]]
        for name, part in rows.items():
            (run.folder / f"{name}.json").write_text(json.dumps({"rows": part}))
