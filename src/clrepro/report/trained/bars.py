"""Bars of scores beside published ones."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from clrepro import plotting
from clrepro.catalogue import papers
from clrepro.errors import unknown
from clrepro.ledger.published import published
from clrepro.report.common import number
from clrepro.report.trained import lines
from clrepro.report.trained.notes import Notes

# series: its loss, shift, colour, hatch
COMPARED = {"SimCLR": ("NT-Xent", -0.2, "#bbbbbb", ""), "MACL": ("MACL", 0.2, "#e69f00", "//")}
PLAIN = ("MHE", "MHS", "B", "V")
FORMS = {"before": ("", -0.2, "#bbbbbb", ""), "after": ("m", 0.2, "#56b4e9", "//")}  # prefix, shift, colour, hatch
WIDTH = 0.38


def numbers_of(reference: str) -> pd.DataFrame:
    """The published numbers of a table or a figure, given as paper/table."""
    paper, _, table = reference.partition("/")
    if table not in papers.all_tables(paper):
        raise unknown("table", table, papers.all_tables(paper), f"papers/{paper}/published.yaml")
    numbers = published(paper)
    return numbers[numbers["table"] == table]


def published_heights(reference: str, backbone: str) -> dict[str, float]:
    """Series -> STS average of a published table: modified as printed, plain as printed value less its delta."""
    numbers = numbers_of(reference)
    cells = numbers[numbers["column"] == backbone].set_index(["row", "metric"])["value"]
    heights = {}
    for name in PLAIN:
        if (f"m{name}", "sts") in cells:
            heights[f"m{name}"] = cells[f"m{name}", "sts"]
            heights[name] = round(cells[f"m{name}", "sts"] - cells[f"m{name}", "delta_sts"], 2)
    return heights


def before_and_after(frame: pd.DataFrame, notes: Notes, published_in: str) -> Figure | None:
    """li2024, figure 1: STS averages of four losses before and after modification, a panel a backbone.

    published_in: the table, as paper/table, of the published averages.
    """
    scores = lines.statistic(frame, "sts/Avg")
    backbones = list(dict.fromkeys(scores["backbone"]))
    if not backbones:
        return None
    figure, panels = plotting.new(1, len(backbones), width=3.9, height=3.0)
    for axis, backbone in zip(panels[0], backbones, strict=True):
        heights = published_heights(published_in, backbone)
        for place, name in enumerate(PLAIN):
            for prefix, shift, colour, hatch in FORMS.values():
                ours = lines.statistic(scores, "sts/Avg", backbone=backbone, series=f"{prefix}{name}")["value"]
                x = place + shift
                if len(ours):
                    axis.bar(x, ours.mean(), WIDTH, color=colour, hatch=hatch, edgecolor="#333333", linewidth=0.6)
                    axis.annotate(number(ours.mean(), 2), (x, 0), xytext=(0, 4), textcoords="offset points",
                                  ha="center", va="bottom", rotation=90, fontsize=8,
                                  bbox={"boxstyle": "square,pad=0.1", "fc": "white", "lw": 0})  # fmt: skip
                    if len(ours) > 1:
                        axis.plot([x] * len(ours), ours, "_", color="black", markersize=8, markeredgewidth=1)
                else:
                    axis.annotate("missing", (x, 0), xytext=(0, 4), textcoords="offset points", ha="center",
                                  va="bottom", rotation=90, fontsize=8, color="#a00000")  # fmt: skip
                if f"{prefix}{name}" in heights:
                    axis.plot(x, heights[f"{prefix}{name}"], "D", markersize=6, mfc="none", mec="#d55e00", mew=1.2)
        axis.set_xticks(range(len(PLAIN)), PLAIN)
        axis.set_title(backbone)
        axis.set_ylabel("STS average (Spearman × 100)")
        axis.set_ylim(min(0, axis.get_ylim()[0]), 100)
    compared = "published" if notes.comparable else "published, at paper scale (does not compare)"
    marks = [Patch(facecolor=colour, hatch=hatch, edgecolor="#333333", label=f"{form} modification")
             for form, (_, _, colour, hatch) in FORMS.items()]  # fmt: skip
    marks.append(Line2D([], [], linestyle="", marker="D", mfc="none", mec="#d55e00", label=compared))
    figure.legend(handles=marks, loc="outside upper left", ncols=3)
    seeds = "Bars: means over seeds, dashes: single seeds. " if frame["seed"].nunique() > 1 else ""
    said = f"{seeds}Published: {in_words(published_in)}; before modification its value less its printed difference."
    notes.below(figure, said)
    return figure


def in_words(reference: str) -> str:
    """ "version 1, table 3" for paper/table_3_v1, "table 3" for paper/table_3."""
    table, _, version = reference.partition("/")[2].partition("_v")
    return f"version {version}, {table}".replace("_", " ") if version else table.replace("_", " ")


def published_accuracies(reference: str) -> dict[tuple[str, int], float]:
    """(series, batch size) -> linear accuracy in percent, from rows that are named by the series or by its loss."""
    numbers = numbers_of(reference)
    numbers = numbers[numbers["column"].str.isdigit()]
    named = {name: series for series, (loss, *_) in COMPARED.items() for name in (series, loss)}
    rows = numbers[numbers["row"].isin(named)].itertuples()
    return {(named[row.row], int(row.column)): row.value for row in rows}


def batch_sizes(frame: pd.DataFrame, notes: Notes, published_in: dict[str, str]) -> Figure | None:
    """huang2023, figure 3: linear accuracy against batch size, with MACL's gain above, a panel a backbone.

    published_in: backbone -> the table or figure, as paper/table, of the published accuracies.
    """
    scores = lines.statistic(frame, "linear/top1")
    scores = scores.assign(series=scores["series"].str.split(",").str[0])
    backbones = list(dict.fromkeys(scores["backbone"]))
    if not backbones:
        return None
    figure, panels = plotting.new(1, len(backbones), width=4.6, height=3.0)
    for axis, backbone in zip(panels[0], backbones, strict=True):
        part = scores[scores["backbone"] == backbone]
        sizes = sorted(part["batch_size"].unique())
        heights = published_accuracies(published_in[backbone]) if backbone in published_in else {}
        for place, size in enumerate(sizes):
            ends = {}
            for series, (_, shift, colour, hatch) in COMPARED.items():
                ours = part[(part["batch_size"] == size) & (part["series"] == series)].set_index("seed")["value"]
                if notes.comparable and (series, size) in heights:
                    axis.plot(place + shift, heights[series, size], "D", ms=6, mfc="none", mec="#d55e00", mew=1.2)
                if ours.empty:
                    axis.annotate("missing", (place + shift, 0), xytext=(0, 4), textcoords="offset points",
                                  ha="center", va="bottom", rotation=90, fontsize=8, color="#a00000")  # fmt: skip
                    continue
                axis.bar(place + shift, ours.mean(), WIDTH, color=colour, hatch=hatch, ec="#333333", linewidth=0.6)
                if len(ours) > 1:
                    axis.plot([place + shift] * len(ours), ours, "_", color="black", ms=8, mew=1)
                ends[series] = ours
            if len(ends) == len(COMPARED):
                gain = (ends["MACL"] - ends["SimCLR"]).mean()  # of the seeds that both have
                axis.annotate(f"{gain:+.1f}", (place, max(map(max, ends.values()))), xytext=(0, 4),
                              textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
        axis.set_xticks(range(len(sizes)), [f"{size:g}" for size in sizes])
        axis.set_xlabel("batch size")
        axis.set_ylabel("linear accuracy (top-1, %)")
        axis.set_title(backbone)
        axis.set_ylim(0, 105)
    handles = [Patch(facecolor=colour, hatch=hatch, edgecolor="#333333", label=f"SimCLR with {loss}")
               for loss, _, colour, hatch in COMPARED.values()]  # fmt: skip
    if notes.comparable:
        handles.append(Line2D([], [], linestyle="", marker="D", mfc="none", mec="#d55e00", label="published"))
    figure.legend(handles=handles, loc="outside upper left", ncols=3)
    seeds = "Bars: means over seeds, dashes: single seeds. " if frame["seed"].nunique() > 1 else ""
    notes.below(figure, f"{seeds}Above: the gain of MACL, a mean over the seeds that both have.")
    return figure
