"""The ledger: every cell of the papers, the published number beside ours, with a verdict."""

from collections import defaultdict
from fnmatch import fnmatchcase

import pandas as pd

from clrepro.catalogue import Catalogue, Cell, Table, papers
from clrepro.catalogue.tables import PRINTED
from clrepro.ledger.published import published
from clrepro.ledger.records import Records
from clrepro.ledger.scores import run_id, scores
from clrepro.ledger.verdicts import summarise, verdict

COLUMNS = [
    "paper", "version", "table", "kind", "row", "column", "metric", "unit", "decimals", "published", "published_std",
    "ours", "ours_std", "ci_low", "ci_high", "seeds", "difference", "verdict", "note", "fill", "runs",
]  # fmt: skip

BEYOND = 2  # digits that files keep beyond the printed ones, so that rounding to these is no second rounding


def frame(catalogue: Catalogue, records: Records | None = None) -> pd.DataFrame:
    """All cells of the configuration's papers in the order of tables, then printed differences, figures and text.

    One line a cell: COLUMNS. Numbers are in the published unit (`unit`: percent or fraction); `fill` is the command
    that fills a hole, `runs` are the runs whose mean `ours` is. Of settings, quoted literature and formulas,
    `published` is what is printed and the verdict is "not a result".
    """
    records = records or Records()
    order: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in catalogue.cells.values():
        order[cell.paper, cell.table].append(cell)
    rows = [row for cells in order.values() for row in lines(catalogue, cells, records)]
    return pd.DataFrame(rows, columns=COLUMNS)


def of_table(catalogue: Catalogue, table: Table, records: Records | None = None) -> pd.DataFrame:
    """The same for one table, without printed differences."""
    return pd.DataFrame(lines(catalogue, table.cells, records or Records()), columns=COLUMNS)


def lines(catalogue: Catalogue, cells: tuple[Cell, ...] | list[Cell], records: Records) -> list[dict]:
    """The ledger's lines for cells of one table."""
    paper, name = cells[0].paper, cells[0].table
    spec = papers.all_tables(paper)[name]
    kind = papers.kind(spec)
    common = {"paper": paper, "version": spec.get("version"), "table": name, "kind": kind}
    if kind in PRINTED:
        empty = {"seeds": 0, "verdict": "not a result", "note": "", "fill": "", "runs": ""}
        common |= {"unit": spec.get("unit"), "decimals": spec["decimals"], **empty}
        places = ("row", "column", "metric")
        return [{**common, **{name: getattr(cell, name) for name in places}, "published": cell.text} for cell in cells]
    printed = published(paper)
    printed = printed[printed["table"] == name].set_index(["table", "row", "column", "metric"])
    known = {where: (row["value"], row["std"], row["decimals"]) for where, row in printed.iterrows()}
    doubts = papers.doubtful(paper)
    found = [line(catalogue, cell, records, known, doubts) for cell in cells]
    name_nearest(found, cells)
    return [{**common, **row} for row in found]


def line(catalogue: Catalogue, cell: Cell, records: Records, known: dict, doubts: list[tuple[str, str]]) -> dict:
    spec = papers.all_tables(cell.paper)[cell.table]
    part = cell.factor
    value, std, decimals = known.get(cell.published_address, (None, None, spec["decimals"]))
    if value is not None and pd.isna(value):
        value = None
    rule = catalogue.config.ledger
    own = scores(catalogue, cell, records)
    digits = int(decimals) + BEYOND
    ours = None
    if own.by_seed:
        untrained = None in own.by_seed
        ours = summarise([part * number for number in own.by_seed.values()], rule.alpha, untrained)
    where = "/".join(cell.published_address)
    doubt = next((what for pattern, what in doubts if fnmatchcase(where, pattern)), "")
    notes = [own.note, f"the published value is doubtful ({doubt})" if doubt and value is not None else ""]

    def rounded(number: float | None) -> float | None:
        return None if number is None else round(number, digits)

    difference = None if ours is None or value is None else rounded(rounded(ours.mean) - value)
    return {
        "row": cell.row,
        "column": cell.column,
        "metric": cell.metric,
        "unit": cell.unit,
        "decimals": int(decimals),
        "published": value,
        "published_std": None if std is None or pd.isna(std) else std,
        "ours": ours and rounded(ours.mean),
        "ours_std": ours and rounded(ours.std),
        "ci_low": ours and rounded(ours.low),
        "ci_high": ours and rounded(ours.high),
        "seeds": ours.seeds if ours else 0,
        "difference": difference,
        "verdict": verdict(ours, value, catalogue.compares(cell.runs or own.runs), bool(doubt), part * rule.band),
        "note": "; ".join(filter(None, notes)),
        "fill": own.fill,
        "runs": " ".join(run_id(run) for run in own.runs),
    }


def name_nearest(rows: list[dict], cells: tuple[Cell, ...] | list[Cell]) -> None:
    """Where several comparable rows of ours stand beside one published row, note which came out nearest."""
    rivals: dict[tuple, list[dict]] = defaultdict(list)
    for cell, row in zip(cells, rows, strict=True):
        rivals[cell.published_address].append(row)
    for group in rivals.values():
        if len(group) > 1 and all(row["verdict"] not in ("missing", "not comparable") for row in group):
            nearest = min(group, key=lambda row: abs(row["difference"]))
            nearest["note"] = "; ".join(filter(None, [nearest["note"], "nearest to the published number"]))
