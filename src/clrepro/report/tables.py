"""A paper's table with our numbers beside the published ones, as csv, Markdown and HTML.

The files hold no time, host, path or commit: the same results give the same bytes.
"""

import html
from itertools import product
from pathlib import Path

import pandas as pd

from clrepro.catalogue import Catalogue, Cell, Table, papers
from clrepro.evaluation.protocols import PROTOCOLS
from clrepro.ledger.cells import BAND, Ours, score, summarise, verdict
from clrepro.ledger.published import published
from clrepro.paths import read_json
from clrepro.report import formulas
from clrepro.report.common import COLUMNS, document

SCALES = {
    "demo": "demo scale: generated data and tiny encoders, so no number is comparable with a published one",
    "bench": "bench scale: real data and small encoders, so no number is comparable with a published one",
    "paper": f"paper scale: of STS, `reproduced` means that the 95 % interval of our mean lies within ±{BAND:g} of the "
    "published number",
}
METRICS = {
    "sts": "STS: Spearman × 100, mean of seven sets",
    "tr": "transfer: test accuracy in percent, mean of seven sets",
    "tr_dev": "the same, development accuracy",
    "value": "",
}


def measured(catalogue: Catalogue, cell: Cell) -> tuple[Ours | None, str]:
    """Our side of a cell from the records on disk, and a note: why it is a hole, or that it is stale."""
    if cell.hole:
        return None, cell.hole
    scores, stale = [], False
    for run in cell.runs:
        files = [run.folder / name for name in ("record.json", "sts.json", "transfer.json")]
        if not all(file.exists() for file in files):
            target = f"{cell.paper}_{cell.table}"
            config = "" if run.scale == "demo" else f" --configfile config/{run.scale}.yaml"
            return None, f"not run yet: snakemake {target} --cores all{config}"
        record, sts, transfer = map(read_json, files)
        scores.append(score(cell.score, {"sts": sts["rows"], "transfer": transfer["rows"]}))
        stale |= bool(run.objective) and catalogue.is_stale(run, record)
    kept = ", kept by accept_stale" if all(map(catalogue.accepts_stale, cell.runs)) else "; run the workflow again"
    note = f"stale: trained by older code{kept}" if stale else ""
    return summarise(scores, deterministic=not cell.runs[0].objective), note


def frame(catalogue: Catalogue, table: Table) -> pd.DataFrame:
    """The table in long form, one line a cell; numbers in percent."""
    if table.holds_formulas:
        return formulas.frame(table)
    printed = published(table.paper)
    printed = printed[printed["table"] == table.name].set_index(["row", "column", "metric"])["value"].to_dict()
    rows, own = [], catalogue.is_papers_own
    for cell in table.cells:
        value = printed.get((cell.published_row or cell.row, cell.column, cell.published_metric or cell.metric))
        ours, note = measured(catalogue, cell)
        rows.append(
            {
                "row": cell.row,
                "column": cell.column,
                "metric": cell.metric,
                "published": value,
                "ours": ours and round(ours.mean, 2),
                "ours_std": None if ours is None or ours.std is None else round(ours.std, 2),
                "seeds": ours.seeds if ours else 0,
                "difference": None if ours is None or value is None else round(round(ours.mean, 2) - value, 2),
                # the transfer classifier is not yet SentEval's, so no transfer number compares
                "verdict": verdict(ours, value, own and (cell.score or "").startswith("sts/")),
                "note": note,
            }
        )
    name_nearest(rows, table)
    return pd.DataFrame(rows, columns=COLUMNS)


def name_nearest(rows: list[dict], table: Table) -> None:
    """Where several comparable rows of ours stand beside one published row, note which came out nearest."""
    rivals: dict[tuple, list[dict]] = {}
    for cell, row in zip(table.cells, rows, strict=True):
        rivals.setdefault((cell.published_row or cell.row, cell.column, cell.metric), []).append(row)
    for group in rivals.values():
        if len(group) > 1 and all(row["verdict"] not in ("missing", "not comparable") for row in group):
            nearest = min(group, key=lambda row: abs(row["difference"]))
            nearest["note"] = "; ".join(filter(None, [nearest["note"], "nearest to the published number"]))


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
    encoders = ", ".join(f"{key} = {describe(spec)}" for key, spec in config.sentence.backbones.items() if spec)
    overrides = config.sentence.training.model_dump(exclude_none=True)
    changed = ", ".join(f"{name} {value}" for name, value in overrides.items())
    return [
        f"{paper['title']} ({table.paper}), {table.name.replace('_', ' ')}: {spec['caption']}.",
        f"At {SCALES[config.scale]}.",
        f"{kind[0].upper()}{kind[1:]}. SentEval as in SimCSE's fork: STS by the Spearman correlation of cosines, "
        f"STS12-16 in the `all` setting; transfer by its linear classifier, protocol `{config.sentence.protocol}` "
        f"({PROTOCOLS[config.sentence.protocol].described}). Selected on STS-B dev. "
        f"Seeds: {', '.join(map(str, config.seeds))}.",
        f"Data: {catalogue.corpus.name}"
        + (f" ({config.sentence.corpus_lines:,} sentences)" if config.sentence.corpus_lines else "")
        + f", {catalogue.tasks.name}. Encoders: {encoders}.",
        f"Instead of the papers' training settings: {changed}." if changed else "",
        papers.load(table.paper, "experiments")["tables"][table.name].get("note", "").strip(),
    ]


def describe(backbone) -> str:
    if backbone.kind == "scratch":
        return f"own {backbone.mlm_epochs}-epoch MLM, {backbone.layers} layers × {backbone.hidden_size}"
    return backbone.source or Path(backbone.path).name


def cell_text(row: pd.Series) -> tuple[str, str]:
    """(ours, published) as a reader sees them; an en dash is a hole."""
    ours = "–" if pd.isna(row["ours"]) else f"{row['ours']:.2f}"
    if not pd.isna(row["ours_std"]):
        ours += f" ± {row['ours_std']:.2f}"
    return ours, "" if pd.isna(row["published"]) else f"{row['published']:.2f}"


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
    lines = [[(*cell_text(row), row) for _, row in group.iterrows()] for _, group in long.groupby("row", sort=False)]
    return header, lines


def text(long: pd.DataFrame) -> str:
    """Ours alone, for a terminal: one block a metric and part."""
    if formulas.are_in(long):
        return formulas.text(long)
    blocks = []
    for part, metric in product(parts(long), dict.fromkeys(long["metric"])):
        columns = list(dict.fromkeys(part["column"]))
        lines = [["" if metric == "value" else metric, *columns]]
        for row, group in part[part["metric"] == metric].groupby("row", sort=False):
            lines.append([row, *(cell_text(cell)[0] for _, cell in group.iterrows())])
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
            cells = [f"{ours} ({there})" if there else ours for ours, there, _ in row]
            lines.append("| " + " | ".join([row[0][2]["row"], *cells]) + " |")
        lines.append("")
    lines += [f"Ours ± standard deviation over seeds (published). Verdicts: {summary(long)}.", ""]
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
        for ours, there, row in line:
            hint = html.escape(": ".join(filter(None, [row["verdict"], row["note"]])), quote=True)
            printed = f"<small>({there})</small>" if there else ""
            mean, sign, spread = ours.partition(" ± ")
            shown = f"{mean} <span>± {spread}</span>" if sign else mean
            kind = "" if sign or mean != "–" else ' class="hole"'
            cells.append(f'<td{kind} title="{hint}">{shown}{printed}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def page(long: pd.DataFrame, sentences: list[str]) -> str:
    prose = "".join(f"<p>{html.escape(part.replace('`', ''))}</p>" for part in sentences[2:] if part)
    remarks = "".join(f"<li>{html.escape(note)}</li>" for note in notes(long))
    legend = (
        f"{html.escape(sentences[1])} Ours ± standard deviation over seeds, the published number in brackets below; "
        "a dash is a hole."
    )
    return document(
        sentences[0],
        f"<figcaption><h1>{html.escape(sentences[0])}</h1><p>{legend}</p></figcaption>"
        f"{''.join(grid(part) for part in parts(long))}"
        f"<p>Verdicts: {summary(long)}.</p>{prose}<ul>{remarks}</ul>",
    )


def write(catalogue: Catalogue, table: Table) -> pd.DataFrame:
    """Write <table>.csv, .md and .html; returns the long form."""
    long = frame(catalogue, table)
    if table.holds_formulas:
        sentences = formulas.caption(table)
        files = {"md": formulas.markdown(long, sentences), "html": formulas.page(long, sentences)}
    else:
        sentences = caption(catalogue, table)
        files = {"md": markdown(long, sentences), "html": page(long, sentences)}
    folder = catalogue.table_folder(table)
    folder.mkdir(parents=True, exist_ok=True)
    long.to_csv(folder / f"{table.name}.csv", index=False, lineterminator="\n")
    for suffix, content in files.items():
        (folder / f"{table.name}.{suffix}").write_text(content, "utf-8")
    return long


def write_grid(catalogue: Catalogue, name: str, file: Path) -> None:
    """A grid search as csv: its points by their STS-B dev score, the best first."""
    rows = []
    for run in catalogue.grids[name]:
        record = read_json(run.record)
        values = {
            **run.params,
            "learning_rate": run.recipe.learning_rate,
            "batch_size": run.recipe.batch_size,
        }
        rows.append({"backbone": run.backbone.key, **values, "stsb_dev": round(100 * record["best_score"], 2)})
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).sort_values(["backbone", "stsb_dev"], ascending=[True, False]).to_csv(
        file, index=False, lineterminator="\n"
    )
