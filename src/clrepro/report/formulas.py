"""A table of formulas: the paper's own text as csv, Markdown and HTML. There is nothing of ours beside it."""

import html

import pandas as pd

from clrepro.catalogue import Table, papers
from clrepro.report.common import COLUMNS, document


def frame(table: Table) -> pd.DataFrame:
    """The long form of any table; `published` holds the formula."""
    rows = [
        {
            "row": cell.row,
            "column": cell.column,
            "metric": cell.metric,
            "published": cell.formula,
            "seeds": 0,
            "verdict": "not applicable",
            "note": "",
        }
        for cell in table.cells
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def are_in(long: pd.DataFrame) -> bool:
    return bool((long["metric"] == "formula").any())


def caption(table: Table) -> list[str]:
    """What the table shows, its notation, and what was found out about it, in sentences."""
    spec = papers.published_tables(table.paper)[table.name]
    title = papers.load(table.paper, "published")["paper"]["title"]
    named = table.name.replace("_", " ")
    notation = spec["settings"]["notation"]
    return [f"{title} ({table.paper}), {named}: {spec['caption']}.", f"Notation: {notation}.", *spec.get("notes", [])]


def lines(long: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """(row, its formulas in the order of the columns)."""
    return [(row, list(group["published"])) for row, group in long.groupby("row", sort=False)]


def columns(long: pd.DataFrame) -> list[str]:
    return [column.replace("_", " ") for column in dict.fromkeys(long["column"])]


def text(long: pd.DataFrame) -> str:
    """For a terminal: one block a row, since formulas are long."""
    width = max(len(name) for name in columns(long))
    blocks = []
    for row, formulas in lines(long):
        blocks += [row, *(f"  {name.ljust(width)}  {f}" for name, f in zip(columns(long), formulas, strict=True))]
    return "\n".join([*blocks, ""])


def markdown(long: pd.DataFrame, sentences: list[str]) -> str:
    parts = [f"**{sentences[0]}**", "", *(line for sentence in sentences[1:] for line in (sentence, ""))]
    parts += ["| | " + " | ".join(columns(long)) + " |", "|---" * (len(columns(long)) + 1) + "|"]
    for row, formulas in lines(long):
        parts.append("| " + " | ".join([row, *(f"`{formula}`" for formula in formulas)]) + " |")
    return "\n".join(parts) + "\n"


def page(long: pd.DataFrame, sentences: list[str]) -> str:
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in ["", *columns(long)])
    body = "".join(
        f"<tr><th scope=row>{html.escape(row)}</th>"
        + "".join(f"<td><code>{html.escape(formula)}</code></td>" for formula in formulas)
        + "</tr>"
        for row, formulas in lines(long)
    )
    prose = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences[1:])
    return document(
        sentences[0],
        f"<figcaption><h1>{html.escape(sentences[0])}</h1>{prose}</figcaption>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
    )
