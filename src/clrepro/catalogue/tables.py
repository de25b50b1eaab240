"""A paper's table as cells: where each stands, and what experiments.yaml says of the runs that fill it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from clrepro.catalogue import papers
from clrepro.catalogue.runs import Run
from clrepro.errors import UserError, unknown


@dataclass(frozen=True)
class Cell:
    """One cell of one table: which runs fill it by which score, or its formula, or why it is a hole."""

    paper: str
    table: str
    row: str
    column: str
    metric: str
    score: str | None
    runs: tuple[Run, ...] = ()
    formula: str = ""
    hole: str = ""
    published_row: str | None = None  # where the published number stands under another row or metric
    published_metric: str | None = None


@dataclass(frozen=True)
class Table:
    """A table of a paper: its cells in the paper's order."""

    paper: str
    name: str
    cells: tuple[Cell, ...]

    @property
    def target(self) -> str:
        """The name that the workflow gives to this table."""
        return f"{self.paper}_{self.name}"

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(dict.fromkeys(run for cell in self.cells for run in cell.runs))

    @property
    def holds_formulas(self) -> bool:
        return any(cell.formula for cell in self.cells)


def layout(paper: str, table: str, own: Iterable[str] = ()) -> Iterator[tuple[str, str, str, dict[str, Any] | None]]:
    """Row, column and metric of every cell, with what experiments.yaml says of it, or None if it says nothing.

    What a cell is follows from what the table says of all its cells (`cells`), from its row, its column and its
    metric, the later before the earlier. `{row}` and `{column}` in a run's name stand for those of the cell. Of a
    table of several blocks, `columns` holds each block's own, and a row says by `columns` to which block it belongs.
    own: names of the configuration's rows, which come last; their cells have that name as `own` in place of a run.
    """
    spec = papers.load(paper, "experiments")["tables"][table]
    published = papers.published_tables(paper)[table]
    blocks = {row["id"]: row.get("columns") for row in published["rows"]}
    rows = {row: spec.get("rows", {}).get(row) for row in row_order(published, spec)}
    for name in own:
        for row, part in own_rows(name, spec, blocks).items():
            if row in rows:
                raise UserError(f"rows: '{row}' is a row of {paper} {table} already; give yours another name")
            rows[row] = part
    for row, row_part in rows.items():
        printed, ours = published["columns"], spec.get("columns", {})
        if isinstance(printed, dict):
            block = blocks.get(row) or (row_part or {}).get("columns")
            if block not in printed:
                raise unknown("block of columns", str(block), printed, f"papers/{paper}/experiments.yaml, {row}")
            printed, ours = printed[block], ours.get(block, {})
        for column, column_part in {**dict.fromkeys(printed), **ours}.items():
            for metric, metric_part in spec.get("metrics", {"value": {}}).items():
                if row_part is None or column_part is None:
                    yield row, column, metric, None
                    continue
                merged = {**spec.get("cells", {}), **row_part, **column_part, **(metric_part or {})}
                why = spec.get("holes", {}).get(row, {}).get(column)
                if why:
                    merged["hole"] = why
                elif "own" not in merged:
                    merged["run"] = merged["run"].replace("{row}", row).replace("{column}", column)
                yield row, column, metric, merged


def own_rows(name: str, spec: dict, blocks: dict[str, str | None]) -> dict[str, dict]:
    """A row of the configuration for every backbone and block that the table's rows tell apart.

    None where the columns are runs of their own: such a table does not compare objectives row by row.
    """
    if any("run" in (column or {}) for column in spec.get("columns", {}).values()):
        return {}
    contexts = {
        (part.get("backbone"), blocks.get(row) or part.get("columns")): None
        for row, part in spec["rows"].items()
        if part
    }
    return {
        " ".join(filter(None, [*context, name])) if len(contexts) > 1 else name: {
            "own": name,
            **{key: value for key, value in zip(("backbone", "columns"), context, strict=True) if value},
        }
        for context in contexts
    }


def row_order(published: dict, spec: dict) -> list[str]:
    """The paper's rows, and rows of ours after the one that they follow in experiments.yaml."""
    order = [row["id"] for row in published["rows"]]
    for before, name in pairwise([None, *spec.get("rows", {})]):
        if name not in order:
            order.insert(order.index(before) + 1 if before else 0, name)
    return order


def formulas(paper: str, table: str) -> tuple[Cell, ...]:
    """The cells of a table that prints formulas; of any other table none."""
    published = papers.published_tables(paper)[table]
    if published["metric"] != "formula":
        return ()
    return tuple(
        Cell(paper, table, row["id"], column, "formula", None, formula=str(text))
        for row in published["rows"]
        for column, text in row["values"].items()
    )
