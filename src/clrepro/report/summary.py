"""What reproduced, for a terminal."""

import pandas as pd

from clrepro import ledger
from clrepro.catalogue import Catalogue
from clrepro.ledger import Records, claims


def text(catalogue: Catalogue, records: Records) -> str:
    """A line a paper: its cells and its claims by verdict; then what is broken, and where the report lies."""
    cells = ledger.frame(catalogue, records)
    cells = cells[cells["verdict"] != "not a result"]
    tested, _ = claims.evaluate(catalogue, records)
    lines = []
    for paper in catalogue.config.papers:
        own, said = cells.loc[cells["paper"] == paper, "verdict"], tested.loc[tested["paper"] == paper, "verdict"]
        lines += [f"{paper}", f"  cells:  {counts(own)}", f"  claims: {counts(said)}"]
    lines += [f"skipped {file}: {what}" for file, what in sorted(records.problems.items())]
    page = catalogue.report_files[-1]
    lines.append(f"the report: {page}" if page.is_file() else f"the report: {page}, not made yet (clrepro report)")
    return "\n".join(lines)


def counts(verdicts: pd.Series) -> str:
    """How many of which verdict, the most frequent first."""
    found = verdicts.value_counts()
    return f"{len(verdicts)}" + (": " if len(found) else "") + ", ".join(f"{n} {name}" for name, n in found.items())


def claim(row) -> str:
    """One claim in three lines at most: verdict, statement, estimate with interval or why there is none."""
    head = f"{row.paper} {row.claim} ({row.place}): {row.verdict.upper()}\n  {row.statement}"
    if pd.isna(row.estimate) or row.verdict == "missing":
        return f"{head}\n  {row.note}"
    interval = "" if pd.isna(row.ci_low) else f" [{row.ci_low:.4g}, {row.ci_high:.4g}]"
    return f"{head}\n  {row.estimate:.4g}{interval} over {row.seeds} seeds, {row.scope} comparisons"
