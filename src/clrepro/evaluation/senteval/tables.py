"""The two tables that SimCSE's evaluation program prints, from the rows of `clrepro.evaluation.senteval.evaluate`.

STS: Spearman's correlation x 100; STS12-16 with all their subsets' pairs in one correlation (`all`). Transfer: accuracy
in percent. Two decimals; Avg. is the mean of the rounded values, as in that program. Two things differ from it: a
task that was not evaluated is a hole, not 0.00, and a row with a hole has no average.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from clrepro.evaluation.senteval.files import TRANSFER_TASKS
from clrepro.evaluation.senteval.pairs import STS_SUBSETS, STS_TASKS
from clrepro.paths import write_json

AVERAGE = "Avg."
# STS12-16 are test sets only; the program gives its two development correlations no average
STS_DEV_TASKS = tuple(task for task in STS_TASKS if task not in STS_SUBSETS)

Row = dict[str, float | None]


def sts_row(frame: pd.DataFrame, split: str = "test") -> Row:
    """{task: correlation x 100, ..., "Avg.": mean}; None where there is no value. split: "dev" or "test"."""
    tasks = STS_DEV_TASKS if split == "dev" else STS_TASKS
    metrics = {task: "spearman_all" if task in STS_SUBSETS else "spearman" for task in tasks}
    found = values(frame, split, metrics)
    row: Row = {task: rounded(100 * found[task]) if task in found else None for task in tasks}
    return row if split == "dev" else row | {AVERAGE: average(row)}


def transfer_row(frame: pd.DataFrame, split: str = "test") -> Row:
    """{task: accuracy in percent, ..., "Avg.": mean}; None where there is no value. split: "dev" or "test"."""
    found = values(frame, split, dict.fromkeys(TRANSFER_TASKS, "accuracy"))
    row: Row = {task: rounded(found[task]) if task in found else None for task in TRANSFER_TASKS}
    return row | {AVERAGE: average(row)}


def values(frame: pd.DataFrame, split: str, metrics: Mapping[str, str]) -> dict[str, float]:
    """{task: value} of each task's one metric. Two values for one task are a ValueError."""
    rows = frame[(frame["split"] == split) & (frame["metric"] == frame["task"].map(metrics))]
    return {str(task): float(value) for task, value in rows.set_index("task", verify_integrity=True)["value"].items()}


def rounded(value: float) -> float:
    return float(f"{value:.2f}")


def average(row: Row) -> float | None:
    """The mean of the rounded values, rounded; None unless all are there."""
    if any(value is None or math.isnan(value) for value in row.values()):
        return None
    return rounded(math.fsum(row.values()) / len(row))


def tables(frame: pd.DataFrame) -> dict[str, dict[str, Row]]:
    """{split: {"sts": row, "transfer": row}} for dev and test, without rows that have no value at all."""
    found = {split: {"sts": sts_row(frame, split), "transfer": transfer_row(frame, split)} for split in ("dev", "test")}
    kept = {
        split: {kind: row for kind, row in rows.items() if any(value is not None for value in row.values())}
        for split, rows in found.items()
    }
    return {split: rows for split, rows in kept.items() if rows}


def text(frame: pd.DataFrame) -> str:
    """The tables as a terminal shows them, each under the name of its split."""
    titles = {"sts": "STS, {} split: Spearman's correlation x 100", "transfer": "Transfer, {} split: accuracy (%)"}
    parts = []
    for split, rows in tables(frame).items():
        for kind, row in rows.items():
            cells = ["-" if value is None else f"{value:.2f}" for value in row.values()]
            grid = tabulate([cells], headers=list(row), tablefmt="pretty", disable_numparse=True)
            parts.append(f"{titles[kind].format(split)}\n{grid}\n")
    others = frame[~frame["task"].isin((*STS_TASKS, *TRANSFER_TASKS))]
    parts += [f"{row.task}, {row.split} {row.metric}: {row.value:.4g}\n" for row in others.itertuples()]
    return "\n".join(parts) or "No score of these tasks belongs to this protocol.\n"


def write(frame: pd.DataFrame, stem: str | Path, meta: Mapping[str, object]) -> tuple[Path, Path]:
    """Write stem.json and stem.csv and return their paths.

    stem.json: {"meta": what was evaluated and how, "tables": the two tables by split, rounded, "rows": the frame's
    rows, not rounded}; a value that is not a number is null. stem.csv: the frame.
    """
    # the stem may hold dots, as in "bert-v1.5", which with_suffix would cut
    json_file, csv_file = Path(f"{stem}.json"), Path(f"{stem}.csv")
    columns = ["task", "split", "metric", "value"]
    rows = [[*names, finite(value)] for *names, value in frame[columns].itertuples(index=False)]
    rounded_rows = {
        split: {kind: {task: finite(value) for task, value in row.items()} for kind, row in found.items()}
        for split, found in tables(frame).items()
    }
    write_json(json_file, {"meta": dict(meta), "tables": rounded_rows, "rows": rows})
    frame[columns].to_csv(csv_file, index=False)
    return json_file, csv_file


def finite(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
