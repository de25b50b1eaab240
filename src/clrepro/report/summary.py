"""What a scale has to show, for a terminal."""

import textwrap

import pandas as pd

from clrepro.catalogue import Catalogue
from clrepro.report import html
from clrepro.report.common import short
from clrepro.report.opening import state_in_words

WIDTH = 110


def text(catalogue: Catalogue) -> str:
    """What was done and whether it compares; a line a paper for cells and for claims; what is wrong; the report."""
    cells, tested, content = html.gather(catalogue)
    cells = cells[cells["verdict"] != "not a result"]
    opening = content["opening"]
    lines = [opening["headline"]]
    for part in opening["lines"]:
        lines += folded(f"{part['name'].lower()}: {part['text']}")
    lines += folded(opening["note"])
    for paper in catalogue.config.papers:
        own, said = cells.loc[cells["paper"] == paper, "verdict"], tested.loc[tested["paper"] == paper, "verdict"]
        lines += [f"{paper}", f"  cells:  {counts(own)}", f"  claims: {counts(said)}"]
    lines += skipped(content)
    lines.append(state_in_words(content["state"]))
    page = catalogue.files.report[-1]
    lines.append(f"the report: {page}" if page.is_file() else f"the report: {page}, not made yet (clrepro report)")
    return "\n".join(lines)


def folded(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")


def skipped(content: dict) -> list[str]:
    """Broken files, a line each."""
    return [f"skipped {one['file']}: {one['what']}; {one['remedy']}" for one in content["problems"]]


def counts(verdicts: pd.Series) -> str:
    """How many of which verdict, the most frequent first."""
    found = verdicts.value_counts()
    return f"{len(verdicts)}" + (": " if len(found) else "") + ", ".join(f"{n} {name}" for name, n in found.items())


def claim(row) -> str:
    """One claim: verdict, statement, the paper's own words, estimate with interval or why there is none."""
    head = f"{row.paper} {row.claim}: {row.verdict.upper()}\n  {row.statement}"
    quoted = f"“{row.quote}” " if row.quote else ""
    head += f"\n  {quoted}({row.place})"
    if pd.isna(row.estimate) or row.verdict == "missing":
        return f"{head}\n  {row.note}"
    interval = "" if pd.isna(row.ci_low) else f" [{short(row.ci_low)}, {short(row.ci_high)}]"
    more = f"; {row.seeds_needed} seeds would decide a difference of this size" if row.seeds_needed else ""
    return f"{head}\n  {short(row.estimate)}{interval} over {row.seeds} seeds, {row.scope} comparisons{more}"
