"""A table for a LaTeX document: booktabs, cut into pieces where it has many columns, shrunk to the line if need be."""

import math
from itertools import pairwise

import pandas as pd

from clrepro.report import common

WIDEST = 6
HEADER = "% \\usepackage{booktabs,graphicx}\n"
CHARACTERS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "[": "{[}",  # \\ takes a bracket that follows it for its own argument
    "]": "{]}",
    "–": "--", "−": "$-$", "±": "$\\pm$", "×": "$\\times$", "≠": "$\\neq$", "≤": "$\\le$", "≥": "$\\ge$",
    "‡": "$\\ddagger$", "·": "$\\cdot$", "π": "$\\pi$", "τ": "$\\tau$", "θ": "$\\theta$", "λ": "$\\lambda$",
    "α": "$\\alpha$", "μ": "$\\mu$", "ν": "$\\nu$", "σ": "$\\sigma$",
}  # fmt: skip


def escaped(text: str) -> str:
    """Text for LaTeX; a character without a rule becomes a question mark, so that the document compiles."""
    return "".join(CHARACTERS.get(sign, sign if sign.isascii() else "?") for sign in text)


def printed_cell(row: pd.Series) -> str:
    return escaped(row["published"])


def cell(row: pd.Series) -> str:
    """Ours with its spread and the published number in brackets, both smaller."""
    mean, sign, spread = common.ours(row).partition(" ± ")
    shown = escaped(mean) + (f"{{\\scriptsize$\\,\\pm\\,${escaped(spread)}}}" if sign else "")
    printed = common.theirs(row)
    return shown + (f" {{\\scriptsize({escaped(printed)})}}" if printed else "")


def tabular(long: pd.DataFrame) -> str:
    """One part of a table: the paper's rows, its columns times the metrics."""
    shown = printed_cell if set(long["verdict"]) == {"not a result"} else cell
    columns, metrics = (list(dict.fromkeys(long[name])) for name in ("column", "metric"))
    wide = len(metrics) > 1
    lines = [f"\\begin{{tabular}}{{l{'r' * (len(columns) * len(metrics))}}}", "\\toprule"]
    if wide:
        groups = (f"\\multicolumn{{{len(metrics)}}}{{c}}{{{escaped(name)}}}" for name in columns)
        lines.append(" & " + " & ".join(groups) + " \\\\")
        rules = (2 + len(metrics) * place for place in range(len(columns)))
        lines.append("".join(f"\\cmidrule(lr){{{start}-{start + len(metrics) - 1}}}" for start in rules))
        lines.append(" & " + " & ".join(escaped(metric) for _ in columns for metric in metrics) + " \\\\")
    else:
        lines.append(" & " + " & ".join(map(escaped, columns)) + " \\\\")
    lines.append("\\midrule")
    for name, group in long.groupby("row", sort=False):
        lines.append(" & ".join([escaped(name), *(shown(row) for _, row in group.iterrows())]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def narrow(part: pd.DataFrame) -> list[pd.DataFrame]:
    """A part cut by whole columns into as many of even width as keep each within WIDEST numbers a line."""
    columns = list(dict.fromkeys(part["column"]))
    width = len(columns) * part["metric"].nunique()
    count = min(len(columns), math.ceil(width / WIDEST))
    cuts = [round(len(columns) * number / count) for number in range(count + 1)]
    return [part[part["column"].isin(columns[start:stop])] for start, stop in pairwise(cuts)]


def table(parts: list[pd.DataFrame], sentences: list[str], label: str) -> str:
    """A `table` environment: the first sentence as caption, each part no wider than the line, the rest as notes."""
    caption, *notes = (escaped(sentence.replace("`", "")) for sentence in sentences if sentence)
    box = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
    bodies = [f"{box}{tabular(piece)}}}" for part in parts for piece in narrow(part)]
    remarks = f"\n\n\\medskip\n{{\\footnotesize\\raggedright {' '.join(notes)}\\par}}" if notes else ""
    return (
        f"{HEADER}\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n\\label{{tab:{label}}}\n"
        + "\n\n\\medskip\n".join(bodies)
        + remarks
        + "\n\\end{table}\n"
    )
