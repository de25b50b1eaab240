"""The few numbers of a scale by which two states of the results are compared: `dvc metrics diff` shows them."""

import json

import pandas as pd


def text(cells: pd.DataFrame, claims: pd.DataFrame) -> str:
    """JSON of every paper: its cells and claims by verdict, and of each table with numbers of ours how many cells
    have one, their mean, and the mean of ours minus the published, in the table's own unit.

    cells: the ledger's frame; claims: the tested claims. A mean over columns of different metrics says nothing by
    itself; that it has moved does.
    """
    content = {}
    for paper, part in cells.groupby("paper", sort=False):
        results = part[part["verdict"] != "not a result"]
        tables = {name: of_table(table) for name, table in results.groupby("table") if table["ours"].notna().any()}
        said = claims.loc[claims["paper"] == paper, "verdict"]
        content[paper] = {"cells": counts(results["verdict"]), "claims": counts(said), "tables": tables}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def counts(verdicts: pd.Series) -> dict[str, int]:
    return {name: int(count) for name, count in verdicts.value_counts().sort_index().items()}


def of_table(table: pd.DataFrame) -> dict[str, float]:
    means = {"ours": table["ours"].astype(float).mean(), "difference": table["difference"].astype(float).mean()}
    known = {name: round(mean, 4) for name, mean in means.items() if pd.notna(mean)}
    return {"filled": int(table["ours"].notna().sum()), **known}
