"""A paper's table as cells: where each stands, and what experiments.yaml says of the runs that fill it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from clrepro import modalities
from clrepro.catalogue import papers
from clrepro.catalogue.part import Part
from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Run


@dataclass(frozen=True)
class Cell:
    """One cell of one table: which runs fill it by which score, or its text, or why it is a hole.

    differences: of a number that is a difference (or the low or high end of several), its two sides as (plus, minus);
    a side is the mean of cells, which are given by their addresses within the paper.
    """

    paper: str
    table: str
    row: str
    column: str
    metric: str
    score: str | None
    runs: tuple[Run, ...] = ()
    text: str = ""
    hole: str = ""
    differences: tuple[tuple["Side", "Side"], ...] = ()
    published_row: str | None = None  # where the published number stands under another row or metric
    published_metric: str | None = None
    published_column: str | None = None
    # of a cell that is the best of a sweep: the score that chooses, and each value with its runs
    select: str | None = None
    points: tuple[tuple[float, tuple[Run, ...]], ...] = ()
    own: bool = False  # of a row of the configuration

    @property
    def published_address(self) -> "Address":
        """Where the published number stands: table, row, column, metric."""
        row, column = self.published_row or self.row, self.published_column or self.column
        return self.table, row, column, self.published_metric or self.metric

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of scores that its number comes from."""
        scores = (self.score, self.select) if self.runs else ()
        return tuple(dict.fromkeys(score.split("/")[0] for score in scores if score))

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The evaluations that its number comes from."""
        return tuple({one.name: one for one in map(modalities.evaluation_of, self.kinds)}.values())

    @property
    def unit(self) -> str | None:
        """The unit in which the paper prints its number."""
        return papers.unit(papers.all_tables(self.paper)[self.table], self.published_row or self.row)

    @property
    def factor(self) -> float:
        """Of our numbers in that unit: a paper may print shares where ours are percents."""
        return 0.01 if self.unit == "fraction" and self.percent else 1.0

    @property
    def percent(self) -> bool:
        """Whether its score is an accuracy or correlation in percent, or a difference of such."""
        if not self.score or self.score == DIFFERENCE:
            return True
        about = modalities.evaluation_of(self.score)
        return about.of_kind(self.score.split("/")[0]).unit == "percent"


Address = tuple[str, str, str, str]
Side = tuple[Address, ...]
DIFFERENCE = "difference"  # in place of a score
PRINTED = ("settings", "quoted", "formulas")


@dataclass(frozen=True)
class Table(Part):
    """A table of a paper: its cells in the paper's order, and of which kind it is (papers.kind)."""

    kind: str
    cells: tuple[Cell, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(dict.fromkeys(run for cell in self.cells for run in cell.runs))

    @property
    def deltas(self) -> tuple[Cell, ...]:
        """The printed differences to baselines, which are cells of their own."""
        return () if self.is_printed else deltas(self.paper, self.name)

    @property
    def is_printed(self) -> bool:
        """Whether it holds no results: settings, quoted literature or formulas, rendered as printed."""
        return self.kind in PRINTED


def layout(paper: str, table: str, own: Iterable[str] = ()) -> Iterator[tuple[str, str, str, dict[str, Any] | None]]:
    """Row, column and metric of every cell, with what experiments.yaml says of it, or None if it says nothing.

    What a cell is follows from what the table says of all its cells (`cells`), from its row, its column and its
    metric, the later before the earlier; their `settings`, which the run is trained with, are united and never set the
    same key twice. `{row}` and `{column}` in a run's name, and `{kind}` in a score, stand for those of the cell. Of a
    table of several blocks, `columns` holds each block's own, and a row says by `columns` to which block it belongs.
    own: names of the configuration's rows, which come last; their cells have that name as `own` in place of a run.
    """
    spec = papers.load(paper, "experiments").get("tables", {}).get(table, {})
    published = papers.published_tables(paper)[table]
    blocks = {row["id"]: row.get("columns") for row in published["rows"]}
    rows = {row: spec.get("rows", {}).get(row) for row in row_order(published, spec)}
    for name in own:
        for row, part in own_rows(name, spec, blocks).items():
            if row in rows:
                raise UserError(f"rows: '{row}' is a row of {paper} {table} already; give yours another name")
            rows[row] = part
    parts = published.get("cell", ["value"])
    metrics = spec.get("metrics") or dict.fromkeys(
        ["value"] if "std" in parts else parts
    )  # mean and std are one number
    for row, row_part in rows.items():
        printed, ours = published["columns"], spec.get("columns", {})
        if isinstance(printed, dict):
            block = blocks.get(row) or (row_part or {}).get("columns")
            if block not in printed:
                raise unknown("block of columns", str(block), printed, f"papers/{paper}/experiments.yaml, {row}")
            printed, ours = printed[block], ours.get(block, {})
        for column, column_part in {**dict.fromkeys(printed), **ours}.items():
            for metric, metric_part in metrics.items():
                if row_part is None or column_part is None:
                    yield row, column, metric, None
                    continue
                merged = unite(
                    f"papers/{paper}/experiments.yaml, {table}", spec.get("cells"), row_part, column_part, metric_part
                )
                why = spec.get("holes", {}).get(row, {}).get(column)
                if why:
                    merged["hole"] = why
                elif "own" not in merged:
                    merged["run"] = merged["run"].replace("{row}", row).replace("{column}", column)
                if "score" in merged:
                    merged["score"] = merged["score"].replace("{kind}", merged.get("kind", ""))
                yield row, column, metric, merged


def unite(place: str, *parts: dict[str, Any] | None) -> dict[str, Any]:
    """What several parts say of a cell, the later before the earlier, with the settings of all of them."""
    merged: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for part in filter(None, parts):
        merged.update(part)
        for key, value in part.get("settings", {}).items():
            if settings.get(key, value) != value:
                raise UserError(f"{place}: `settings` give {key} twice, {settings[key]} and {value}")
            settings[key] = value
    return {**merged, "settings": settings} if settings else merged


def own_rows(name: str, spec: dict, blocks: dict[str, str | None]) -> dict[str, dict]:
    """A row of the configuration for every backbone and block that the table's rows tell apart.

    None where the columns are runs of their own, such a table does not compare objectives row by row, or where nothing
    fills the table.
    """
    if "rows" not in spec or any("run" in (column or {}) for column in spec.get("columns", {}).values()):
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


def printed(paper: str, name: str, table: dict) -> tuple[Cell, ...]:
    """The cells of a table without results: its own words, formulas and values."""
    return tuple(
        Cell(
            paper,
            name,
            row["id"],
            column,
            metric,
            None,
            text="" if part is None else f"{part:g}" if number else str(part),
        )
        for row in table["rows"]
        for column, value in row["values"].items()
        for metric, part in (value if isinstance(value, dict) else {"value": value}).items()
        for number in [isinstance(part, int | float) and not isinstance(part, bool)]
    )


def of_text(paper: str, name: str, table: dict) -> tuple[Cell, ...]:
    """The cells of differences and ranges that stand in sentences."""
    checks = papers.load(paper, "published").get("checks", {})
    sums = {check["id"]: check for kind in ("differences", "ranges") for check in checks.get(kind, [])}
    return tuple(
        Cell(paper, name, row["id"], column, "value", DIFFERENCE, differences=pairs(paper, sums[row["id"]]))
        for row in table["rows"]
        for column in row["values"]
    )


def of_figure(paper: str, name: str, table: dict) -> Iterator[tuple[str, str, str, dict[str, Any] | None]]:
    """The same as `layout` for the numbers that stand in a figure.

    A row may be a `difference` of two cells of the same figure, [plus, minus] by row and column.
    """
    spec = papers.load(paper, "experiments").get("tables", {}).get(name)
    for row in table["rows"]:
        for column in row["values"]:
            parts = [(spec or {}).get(kind, {}).get(key) for kind, key in (("rows", row["id"]), ("columns", column))]
            found = None
            if spec and None not in parts:
                found = unite(f"papers/{paper}/experiments.yaml, {name}", spec.get("cells"), *parts)
            yield row["id"], column, "value", found


def pairs(paper: str, check: dict) -> tuple[tuple[Side, Side], ...]:
    """The cells that a difference or a range of published.yaml is of, for every value of its variables."""
    variables = check.get("over", {})
    return tuple(
        tuple(
            side(paper, check[name].format(**dict(zip(variables, values, strict=True)))) for name in ("plus", "minus")
        )
        for values in product(*variables.values())
    )


def side(paper: str, path: str) -> Side:
    """The cells at table/row/values[/column[/metric]], as published.yaml points at its own; a row is all its cells."""
    table, row, _, *rest = path.split("/")
    if not rest:
        published = next(part for part in papers.published_tables(paper)[table]["rows"] if part["id"] == row)
        return tuple((table, row, column, "value") for column in published["values"])
    column, metric = rest[0], (rest[1:] or ["value"])[0]
    return ((table, row, column, "value" if metric == "mean" else metric),)


def baselines(paper: str, name: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Row, column, metric and experiment of cells that no table prints, but from which printed differences are.

    experiments.yaml names them by the row that is compared with them, under `baselines`.
    """
    spec = papers.load(paper, "experiments").get("tables", {}).get(name) or {}
    for row, column, metric, part in layout(paper, name):
        if row in spec.get("baselines", {}) and part is not None:
            yield baseline_of(row), column, metric, {**part, **spec["baselines"][row]}


def baseline_of(row: str) -> str:
    return f"baseline of {row}"


def deltas(paper: str, name: str) -> tuple[Cell, ...]:
    """The printed differences to a baseline, which is a row of the same table or one that experiments.yaml adds."""
    cells = []
    added = (papers.load(paper, "experiments").get("tables", {}).get(name) or {}).get("baselines", {})
    for row in papers.published_tables(paper)[name]["rows"]:
        for column, value in (row.get("delta") or {}).items():
            for metric in value if isinstance(value, dict) else ["value"]:
                place = (paper, name, row["id"], column, f"delta_{metric}".removesuffix("_value"), DIFFERENCE)
                below = row.get("baseline") or (baseline_of(row["id"]) if row["id"] in added else None)
                if below:
                    sides = tuple(((name, end, column, metric),) for end in (row["id"], below))
                    cells.append(Cell(*place, differences=(sides,)))
                else:
                    cells.append(Cell(*place, hole="a difference to a row that the table does not have"))
    return tuple(cells)
