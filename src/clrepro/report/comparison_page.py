"""The page of a comparison: which numbers lie outside the spread, what changed, and why that may be."""

import html
from pathlib import Path

import pandas as pd

from clrepro.ledger.comparison import ADDRESS, OUTSIDE, Comparison
from clrepro.paths import write_text

BASE = Path(__file__).parent / "page/base.css"  # the look of the report
STYLE = """
main { padding: 2rem 1.5rem; } table { border-collapse: collapse; font-size: .88rem; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; }
th:first-child, td:first-child, td:last-child, th:last-child { text-align: left; }
.outside td { background: var(--target); }
"""


def write(found: Comparison, ours: Path, theirs: Path) -> list[Path]:
    """Write comparison.csv and comparison.html beside our results."""
    files = [ours / "comparison.csv", ours / "comparison.html"]
    write_text(files[0], found.cells.to_csv(index=False, lineterminator="\n"))
    write_text(files[1], page(found, ours, theirs))
    return files


def page(found: Comparison, ours: Path, theirs: Path) -> str:
    counts = found.cells["state"].value_counts()
    said = ", ".join(f"{count} {state}" for state, count in counts.items()) or "no cell"
    if found.agrees:
        headline = "Nothing lies outside the seeds' spread, and no verdict changed."
    else:
        numbers, verdicts = counts.get(OUTSIDE, 0), len(found.verdicts)
        headline = f"Outside the seeds' spread: {numbers} of {len(found.cells)} numbers. Changed verdicts: {verdicts}."
    changed = [f"{paper}/{claim}: {here}, there {there}" for paper, claim, here, there in found.verdicts]
    order = found.cells.assign(first=found.cells["state"] != OUTSIDE).sort_values("first", kind="stable")
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>Comparison</title>"
        f"<style>{BASE.read_text('utf-8')}{STYLE}</style></head><body><main>\n<h1>{html.escape(headline)}</h1>\n"
        f"<p>{html.escape(str(ours))} beside {html.escape(str(theirs))}: {html.escape(said)}. A number is outside if "
        "chance explains its difference in fewer than one comparison in twenty, all cells taken together (Welch's t "
        "with Bonferroni's correction); where a side tells of no spread, if the last printed digit differs.</p>\n"
        f"{bullets('Claims with another verdict', changed)}{bullets('Code, versions and hardware', found.about)}"
        f"<h2>Cells</h2>\n{table(order)}\n</main></body></html>\n"
    )


def bullets(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines) or "<li>the same</li>"
    return f"<h2>{title}</h2>\n<ul>{items}</ul>\n"


def table(cells: pd.DataFrame) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("cell", "here", "there", "difference", "bound", "", "settings"))
    rows = []
    for cell in cells.to_dict("records"):
        digits = int(cell["decimals"]) + 1
        numbers = [mean(cell["ours"], cell["ours_std"], digits), mean(cell["theirs"], cell["theirs_std"], digits)]
        numbers += [shown(cell["difference"], digits, "+"), shown(cell["bound"], digits), cell["state"]]
        place = "/".join(cell[name] for name in ADDRESS)
        parts = "".join(f"<td>{html.escape(text)}</td>" for text in (place, *numbers, cell["settings"]))
        rows.append(f"<tr class='{cell['state'].replace(' ', '-')}'>{parts}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def mean(value: float, std: float, digits: int) -> str:
    return shown(value, digits) + (f" ± {shown(std, digits)}" if not pd.isna(std) else "")


def shown(value: float, digits: int, sign: str = "") -> str:
    return "" if pd.isna(value) else f"{value:{sign}.{digits}f}"
