"""What all reports share: the columns of a table's long form, the signs of verdicts, and the look of a page."""

import html
from decimal import ROUND_HALF_UP, Context, Decimal

import pandas as pd

COLUMNS = [
    "row", "column", "metric", "published", "ours", "ours_std", "seeds", "difference", "verdict", "ci_low", "ci_high",
    "note", "fill",
]  # fmt: skip
# verdicts that compare with the published number; all others show no difference
SIGNS = {"reproduced": "=", "differs": "≠", "undecided": "?", "published value doubtful": "‡"}
WIDE = Context(prec=400)  # enough digits for any float
STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:84rem;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.25rem;line-height:1.35}figure{margin:0}figcaption,p,li{max-width:60rem}
table{border-collapse:separate;border-spacing:0;font-size:.9rem}
th,td{padding:.3rem .45rem;white-space:nowrap;border-bottom:1px solid #ddd;text-align:right}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:#fff}
thead tr:last-child th{border-bottom:2px solid #444}th[colspan]{text-align:center}
table:has(code) th,td:has(code){text-align:left}td:has(code){white-space:normal;max-width:30rem}
table+table{margin-top:1.5rem}
td span{color:#555;font-size:.85em}td small{color:#666;display:block}td.hole{color:#767676}"""


def document(title: str, body: str) -> str:
    """A page of its own; the title is text, the body is HTML."""
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
    return f"{head}<style>{STYLE}</style><figure>{body}</figure></html>\n"


def number(value: float, decimals: float | None, sign: bool = False) -> str:
    """A table's number as every format shows it: to the digits that the paper prints (two if it prints none).

    What lies halfway goes away from zero, as JavaScript's toFixed does with the same number; zero has no sign, minus is
    a hyphen. sign: a plus before what is above zero.
    """
    step = Decimal(1).scaleb(-2 if decimals is None else -int(decimals))
    rounded = Decimal(value).quantize(step, ROUND_HALF_UP, WIDE)
    return f"{rounded:{'+' if sign else ''}f}" if rounded else f"{abs(rounded):f}"


def short(value: float) -> str:
    """A number of unknown size: to two digits after the point, as most tables; three in all if it is small or huge."""
    return number(value, 2) if 0.1 <= abs(value) < 1e5 or value == 0 else f"{value:.3g}"


def ours(row: pd.Series) -> str:
    """Our number of a cell with its spread, as a reader sees it; an en dash is a hole."""
    if pd.isna(row["ours"]):
        return "–"
    spread = "" if pd.isna(row["ours_std"]) else f" ± {number(row['ours_std'], row['decimals'])}"
    return number(row["ours"], row["decimals"]) + spread


def theirs(row: pd.Series) -> str:
    """The published number as printed, with its deviation, and ours minus it with a sign where the two compare."""
    if pd.isna(row["published"]):
        return ""
    printed = number(row["published"], row["decimals"])
    if not pd.isna(row["published_std"]):
        printed += f" ± {number(row['published_std'], row['decimals'])}"
    if row["verdict"] not in SIGNS:
        return printed
    return f"{printed}, {number(row['difference'], row['decimals'], sign=True)} {SIGNS[row['verdict']]}"


LEGEND = (
    "Ours ± standard deviation over seeds, the published number in brackets. Where the two compare, ours minus "
    "published follows with its verdict: = reproduced, ≠ differs, ? undecided, ‡ published value doubtful. A dash is a "
    "hole."
)
