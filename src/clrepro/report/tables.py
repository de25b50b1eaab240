"""A paper's table with our numbers beside the published ones, as csv, Markdown, LaTeX and HTML.

The files hold no time, host, path or commit: the same results give the same bytes.
"""

import html
from itertools import product

import pandas as pd

from clrepro.catalogue import Catalogue, Table, papers
from clrepro.ledger import Records, cells
from clrepro.paths import write_text
from clrepro.report import latex, printed
from clrepro.report.common import COLUMNS, LEGEND, document, ours, theirs
from clrepro.settings import Common

METRICS = {
    "sts": "STS: Spearman × 100, mean of seven sets",
    "tr": "transfer: test accuracy in percent, mean of seven sets",
    "tr_dev": "the same, development accuracy",
    "value": "",
}


def rule_sentence(config: Common) -> str:
    """When a number that may stand beside a published one counts as reproduced."""
    level = f"{100 - 200 * config.ledger.alpha:g} %"
    return (
        f"{config.scale} scale: `reproduced` means that the {level} interval of our mean lies "
        f"within ±{config.ledger.band:g} points of the published number"
    )


def frame(catalogue: Catalogue, table: Table, records: Records | None = None) -> pd.DataFrame:
    """The table in long form, one line a cell, in the columns of the ledger."""
    return cells.of_table(catalogue, table, records)


def caption(catalogue: Catalogue, table: Table) -> list[str]:
    """What the table shows and by which protocol, in sentences."""
    spec = papers.published_tables(table.paper)[table.name]
    paper = papers.load(table.paper, "published")["paper"]
    config = catalogue.config
    kind = spec["metric"]
    if isinstance(kind, dict):
        named = {metric: METRICS.get(metric, "") for metric in dict.fromkeys(cell.metric for cell in table.cells)}
        blocks = [f"{block}: {what}" for block, what in kind.items()]
        kind = "; ".join(filter(None, named.values())) or "; ".join(blocks)
    metric = f"{kind[0].upper()}{kind[1:]}."
    title = f"{paper['title']} ({table.paper}), {table.name.replace('_', ' ')}: {spec['caption']}."
    if not table.runs:
        return [title, f"At {config.scale} scale nothing fills this table.", metric]
    modality = table.runs[0].plan
    judged = config.scale == "paper" or catalogue.compares(table.runs)
    kinds = dict.fromkeys(cell.score.split("/")[0] for cell in table.cells if cell.runs)
    return [
        title,
        f"At {rule_sentence(config) if judged else modality.scale_words(config)}.",
        *modality.protocol(config, list(table.runs), kinds, metric),
        papers.load(table.paper, "experiments")["tables"][table.name].get("note", "").strip(),
    ]


def is_printed(long: pd.DataFrame) -> bool:
    return set(long["verdict"]) == {"not a result"}


def parts(long: pd.DataFrame) -> list[pd.DataFrame]:
    """The table's blocks: rows that have the same columns. Most tables are one."""
    rows: dict[tuple, list[str]] = {}
    for row, group in long.groupby("row", sort=False):
        rows.setdefault(tuple(dict.fromkeys(group["column"])), []).append(row)
    return [long[long["row"].isin(names)] for names in rows.values()]


def pivot(long: pd.DataFrame) -> tuple[list[str], list[list[tuple[str, str, pd.Series]]]]:
    """Header and lines of the printed layout: the paper's rows, its columns times the metrics."""
    metrics = list(dict.fromkeys(long["metric"]))
    header = [""]
    for column in dict.fromkeys(long["column"]):
        header += [column if len(metrics) == 1 else f"{column} {metric}" for metric in metrics]
    lines = [
        [(ours(row), theirs(row), row) for _, row in group.iterrows()] for _, group in long.groupby("row", sort=False)
    ]
    return header, lines


def text(long: pd.DataFrame) -> str:
    """Ours alone, for a terminal: one block a metric and part."""
    if is_printed(long):
        return printed.text(long)
    blocks = []
    for part, metric in product(parts(long), dict.fromkeys(long["metric"])):
        columns = list(dict.fromkeys(part["column"]))
        lines = [["" if metric == "value" else metric, *columns]]
        for row, group in part[part["metric"] == metric].groupby("row", sort=False):
            lines.append([row, *(ours(cell) for _, cell in group.iterrows())])
        widths = [max(len(line[place]) for line in lines) for place in range(len(columns) + 1)]
        blocks += [
            "  ".join(
                [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in lines
        ]
        blocks.append("")
    return "\n".join(blocks)


def summary(long: pd.DataFrame) -> str:
    counts = long["verdict"].value_counts()
    return ", ".join(f"{counts[name]} {name}" for name in sorted(counts.index))


def notes(long: pd.DataFrame) -> list[str]:
    """The distinct notes, each with the cells that it concerns."""
    found = []
    for note, group in long[long["note"] != ""].groupby("note", sort=False):
        rows = list(dict.fromkeys(group["row"]))
        columns = list(dict.fromkeys(group["column"]))
        every_row = len(rows) == long["row"].nunique()
        where = ", ".join(columns if every_row else rows)
        if len(group) == 1:
            where = f"{rows[0]} {columns[0]}"
        found.append(f"{where}: {note}")
    return found


def markdown(long: pd.DataFrame, sentences: list[str]) -> str:
    lines = [f"**{sentences[0]}**", "", *(line for text in sentences[1:] if text for line in (text, ""))]
    for part in parts(long):
        header, body = pivot(part)
        lines += ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
        for row in body:
            cells = [f"{own} ({there})" if there else own for own, there, _ in row]
            lines.append("| " + " | ".join([row[0][2]["row"], *cells]) + " |")
        lines.append("")
    lines += [f"{LEGEND} Verdicts: {summary(long)}.", ""]
    lines += [f"- {note}" for note in notes(long)]
    return "\n".join(lines).rstrip() + "\n"


def grid(long: pd.DataFrame) -> str:
    """One part of a table as an HTML table."""
    header, lines = pivot(long)
    metrics, columns = list(dict.fromkeys(long["metric"])), list(dict.fromkeys(long["column"]))
    if len(metrics) == 1:
        head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in header)
    else:
        wide = "".join(f"<th scope=colgroup colspan={len(metrics)}>{html.escape(name)}</th>" for name in columns)
        head = f"<th></th>{wide}</tr><tr><th></th>"
        head += "".join(f"<th scope=col>{html.escape(metric)}</th>" for _ in columns for metric in metrics)
    body = []
    for line in lines:
        cells = [f"<th scope=row>{html.escape(line[0][2]['row'])}</th>"]
        for own, there, row in line:
            hint = html.escape(": ".join(filter(None, [row["verdict"], row["note"]])), quote=True)
            printed = f"<small>({there})</small>" if there else ""
            mean, sign, spread = own.partition(" ± ")
            shown = f"{mean} <span>± {spread}</span>" if sign else mean
            kind = "" if sign or mean != "–" else ' class="hole"'
            cells.append(f'<td{kind} title="{hint}">{shown}{printed}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def page(long: pd.DataFrame, sentences: list[str]) -> str:
    if is_printed(long):
        prose = "".join(f"<p>{html.escape(part)}</p>" for part in sentences[1:])
        return document(
            sentences[0], f"<figcaption><h1>{html.escape(sentences[0])}</h1>{prose}</figcaption>{printed.grid(long)}"
        )
    prose = "".join(f"<p>{html.escape(part.replace('`', ''))}</p>" for part in sentences[2:] if part)
    remarks = "".join(f"<li>{html.escape(note)}</li>" for note in notes(long))
    legend = f"{html.escape(sentences[1].replace('`', ''))} {LEGEND.replace('in brackets', 'in brackets below')}"
    return document(
        sentences[0],
        f"<figcaption><h1>{html.escape(sentences[0])}</h1><p>{legend}</p></figcaption>"
        f"{''.join(grid(part) for part in parts(long))}"
        f"<p>Verdicts: {summary(long)}.</p>{prose}<ul>{remarks}</ul>",
    )


def write(catalogue: Catalogue, table: Table, records: Records | None = None) -> pd.DataFrame:
    """Write <table>.csv, .md, .tex and .html; returns the long form."""
    long = frame(catalogue, table, records)
    sentences = printed.caption(table) if table.is_printed else caption(catalogue, table)
    files = {
        "md": printed.markdown(long, sentences) if table.is_printed else markdown(long, sentences),
        "tex": latex.table(parts(long), sentences if table.is_printed else [*sentences, LEGEND], table.target),
        "html": page(long, sentences),
    }
    folder = catalogue.files.table_folder(table)
    write_text(folder / f"{table.name}.csv", long[COLUMNS].to_csv(index=False, lineterminator="\n"))
    for suffix, content in files.items():
        write_text(folder / f"{table.name}.{suffix}", content)
    return long
