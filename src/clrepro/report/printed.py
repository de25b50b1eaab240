"""A table without results: formulas, settings or quoted literature, as printed. There is nothing of ours beside it."""

import html

import pandas as pd

from clrepro.catalogue import Table, papers

WHAT = {
    "formulas": "Formulas of the paper; there is nothing to measure.",
    "settings": "Settings of the paper's runs; there is nothing to measure.",
    "quoted": "Numbers that the paper quotes from other papers; they are not its results, and not ours to regenerate.",
}


def caption(table: Table) -> list[str]:
    """What the table shows, its notation, and what was found out about it, in sentences."""
    spec = papers.published_tables(table.paper)[table.name]
    title = papers.load(table.paper, "published")["paper"]["title"]
    notation = (spec.get("settings") or {}).get("notation")
    return [
        f"{title} ({table.paper}), {table.name.replace('_', ' ')}: {spec['caption']}.",
        WHAT[table.kind],
        *([f"Notation: {notation}."] if notation else []),
        *(spec.get("notes") or []),
    ]


def lines(long: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """(row, its texts in the order of the columns)."""
    return [(row, list(group["published"])) for row, group in long.groupby("row", sort=False)]


def columns(long: pd.DataFrame) -> list[str]:
    return [column.replace("_", " ") for column in dict.fromkeys(long["column"])]


def text(long: pd.DataFrame) -> str:
    """For a terminal: one block a row, since formulas are long."""
    width = max(len(name) for name in columns(long))
    blocks = []
    for row, parts in lines(long):
        blocks += [row, *(f"  {name.ljust(width)}  {part}" for name, part in zip(columns(long), parts, strict=True))]
    return "\n".join([*blocks, ""])


def markdown(long: pd.DataFrame, sentences: list[str]) -> str:
    parts = [f"**{sentences[0]}**", "", *(line for sentence in sentences[1:] for line in (sentence, ""))]
    parts += ["| | " + " | ".join(columns(long)) + " |", "|---" * (len(columns(long)) + 1) + "|"]
    quote = "`" if set(long["kind"]) == {"formulas"} else ""
    for row, texts in lines(long):
        parts.append("| " + " | ".join([row, *(f"{quote}{one}{quote}" if one else "" for one in texts)]) + " |")
    return "\n".join(parts) + "\n"


def grid(long: pd.DataFrame) -> str:
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in ["", *columns(long)])
    tag = "code" if set(long["kind"]) == {"formulas"} else "span"
    body = "".join(
        f"<tr><th scope=row>{html.escape(row)}</th>"
        + "".join(f"<td><{tag}>{html.escape(one)}</{tag}></td>" for one in texts)
        + "</tr>"
        for row, texts in lines(long)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
