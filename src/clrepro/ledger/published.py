"""Every published number as one long frame."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from clrepro.catalogue import papers

COLUMNS = ["paper", "version", "table", "row", "column", "metric", "value", "std", "decimals", "unit", "kind"]


def published(paper: str | None = None) -> pd.DataFrame:
    """The numbers of the papers: paper, version, table, row, column, metric, value, std, decimals, unit, kind.

    Beside the tables, numbers that stand in figures and sentences only (kind: figure, text) are here, each figure, and
    `text`, as a table of its own; kind is `settings` or `quoted` for numbers that are no results of the paper.

    Ids are the papers' own (`papers/<key>/published.yaml`). A table with one number a cell has the metric
    `value`, and so has one with a mean and a standard deviation, which stands in `std`; printed differences to a
    baseline have `delta` before the metric's name, as in `delta_sts`. Empty cells, formulas and words are left out.
    """
    rows = []
    for key in [paper] if paper else papers.paper_keys():
        for name, table in papers.all_tables(key).items():
            for row in table["rows"]:
                for kind in ("values", "delta"):
                    digits = table.get("delta_decimals", table["decimals"]) if kind == "delta" else table["decimals"]
                    for column, cell in (row.get(kind) or {}).items():
                        for metric, value, std in numbers(cell):
                            full = metric if kind == "values" else f"delta_{metric}".removesuffix("_value")
                            version = table.get("version")
                            places = row.get("decimals", digits)
                            own = [papers.unit(table, row["id"]), papers.kind(table)]
                            rows.append([key, version, name, row["id"], column, full, value, std, places, *own])
    return pd.DataFrame(rows, columns=COLUMNS)


def numbers(cell: Any) -> Iterator[tuple[str, float, float | None]]:
    """(metric, value, standard deviation) of every number of a cell."""
    entries = cell if isinstance(cell, dict) else {"value": cell}
    std = entries.get("std")
    if std is not None:
        entries = {"value": entries["mean"]}
    for metric, value in entries.items():
        if isinstance(value, int | float):
            yield metric, value, std
