"""The report and the files behind it: ledger.csv, claims.csv, the numbers to compare, report.html."""

from typing import Any

import pandas as pd

from clrepro import ledger
from clrepro.catalogue import Catalogue
from clrepro.ledger import Records, claims
from clrepro.paths import write_text
from clrepro.report import assemble, metrics
from clrepro.report.page import render


def gather(catalogue: Catalogue) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """The ledger, the claims and the report's data, from whatever is on disk."""
    records = Records()
    cells = ledger.frame(catalogue, records)
    summary, tested = claims.evaluate(catalogue, records)
    return cells, summary, assemble.gather(catalogue, cells, tested, records)


def write(catalogue: Catalogue) -> dict[str, Any]:
    """Write these files from whatever is on disk; returns the report's data."""
    cells, summary, content = gather(catalogue)
    for file, text in zip(
        catalogue.files.report,
        (
            *(part.to_csv(index=False, lineterminator="\n") for part in (cells, summary)),
            metrics.text(cells, summary),
            render(content),
        ),
        strict=True,
    ):
        write_text(file, text)
    return content
