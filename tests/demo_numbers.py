"""A cell's number once more, from the raw files of its runs, for check_demo.py: by other code than the ledger's."""

import json
from functools import cache
from pathlib import Path

import pandas as pd

RESULTS = Path("results/demo")
STS = ["STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness"]
TRANSFER = ["MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"]
NAMES = {"STS-B": "STSBenchmark", "SICK-R": "SICKRelatedness"}


def frame(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / name, keep_default_na=False)


@cache
def raw(folder: str, name: str) -> tuple[dict[tuple, float], ...]:
    """Rows of a run's evaluation, {(task, split, metric): value}, for each of its repetitions."""
    content = json.loads((RESULTS / "runs" / folder / f"{name}.json").read_text("utf-8"))
    parts = content["seeds"].values() if content.get("seeds") else [content["rows"]]
    return tuple({tuple(row[:3]): row[3] for row in part} for part in parts)


def recomputed(cell) -> list[float] | None:
    """A cell's number in each of its runs, from the files of their evaluations; None for what is not looked at."""
    column = cell.column.removesuffix(" [chosen on test]")
    task = NAMES.get(column, column)
    folders = cell.runs.split("; ") if "; " in cell.runs else cell.runs.split()

    def each(name: str, *keys: tuple, factor: float = 1) -> list[float]:
        return [
            sum(round(factor * rows[key], 2) for key in keys) / len(keys) for one in folders for rows in raw(one, name)
        ]

    def sts(*tasks: str) -> list[float]:
        keys = [(one, "test", "spearman_all" if one[3].isdigit() else "spearman") for one in tasks]
        return each("sts", *keys, factor=100)

    def transfer(*tasks: str, split: str = "test") -> list[float]:
        return each("transfer", *((one, split, "accuracy") for one in tasks))

    if cell.paper in ("nie2023", "li2024") and cell.metric in ("sts", "tr", "tr_dev"):
        return (
            sts(*STS) if cell.metric == "sts" else transfer(*TRANSFER, split="dev" if "dev" in cell.metric else "test")
        )
    if cell.table == "table_5" and cell.paper == "li2024":
        return sts(*STS)
    if column == "Avg" and cell.metric == "value":
        of_transfer = (cell.paper, cell.table) == ("li2024", "table_4") or "transfer" in cell.row
        return transfer(*TRANSFER) if of_transfer else sts(*STS)
    if cell.metric == "value" and task in STS:
        return sts(task)
    if cell.metric == "value" and task in TRANSFER:
        return transfer(task)
    if cell.paper == "huang2023" and cell.table == "table_4":
        return each("svm", ("svm", "test", "accuracy"))
    if cell.paper == "huang2023" and cell.table == "table_5":
        return each(f"molecules_{column.lower()}", (column, "test", "roc_auc"))
    if cell.table in ("table_9", "table_B3"):
        kind = {"linear": "linear", "knn": "knn", "knn [plain votes]": "knn_plain"}[cell.metric]
        return each(kind.split("_")[0], (kind, "test", "top1"))
    if cell.paper == "oar2024":
        metric = cell.metric if cell.metric.startswith("top") else "top1"
        return each("finetune", (f"finetune_{column.removesuffix('%')}", "test", metric))
    return None
