"""``clrepro compare``: one's own results beside reference results, or beside anybody's."""

from pathlib import Path
from typing import Annotated

import typer

SHOWN = 20  # cells in the terminal; the files have all


def compare(
    reference: Annotated[
        Path | None, typer.Argument(help="a results folder [default: results/reference/<scale> of the repository]")
    ] = None,
    results: Annotated[Path | None, typer.Argument(help="one's own [default: results/<scale>]")] = None,
    scale: Annotated[str, typer.Option(help="demo, bench or paper")] = "bench",
) -> None:
    """Hold results against others: differences beside the seeds' spread, verdicts, settings, code, versions, hardware.

    Writes comparison.csv and comparison.html beside one's own results. Ends with exit status 1 if a number lies outside
    the spread or a claim has another verdict.
    """
    from clrepro.ledger import comparison
    from clrepro.paths import RESULTS, ROOT
    from clrepro.report import comparison_page

    theirs = reference or ROOT / RESULTS / "reference" / scale
    ours = results or RESULTS / scale
    found = comparison.compare(comparison.read(ours), comparison.read(theirs))
    for file in comparison_page.write(found, ours, theirs):
        print(file)
    cells = found.cells
    print(", ".join(f"{count} {state}" for state, count in cells["state"].value_counts().items()) or "no cell")
    outside = cells[cells["state"] == comparison.OUTSIDE]
    for row in outside.head(SHOWN).itertuples():
        place = "/".join(getattr(row, name) for name in comparison.ADDRESS)
        print(f"OUTSIDE {place}: {row.ours:g}, there {row.theirs:g}; {row.difference:+g} where {row.bound:g} is chance")
        if row.settings:
            print(f"    {row.settings}")
    if len(outside) > SHOWN:
        print(f"... and {len(outside) - SHOWN} more")
    for paper, claim, here, there in found.verdicts:
        print(f"VERDICT {paper}/{claim}: {here}, there {there}")
    for line in found.about:
        print(f"differs: {line}")
    raise typer.Exit(not found.agrees)
