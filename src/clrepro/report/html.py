"""The report and the files behind it: ledger.csv, claims.csv, the numbers to compare, report.html."""

from clrepro import ledger
from clrepro.catalogue import Catalogue
from clrepro.ledger import Records, claims
from clrepro.paths import write_text
from clrepro.report import assemble, metrics
from clrepro.report.page import render


def write(catalogue: Catalogue) -> dict:
    """Write these files from whatever is on disk; returns the report's data."""
    records = Records()
    cells = ledger.frame(catalogue, records)
    summary, tested = claims.evaluate(catalogue, records)
    content = assemble.gather(catalogue, cells, tested, records)
    for file, text in zip(
        catalogue.report_files,
        (
            *(part.to_csv(index=False, lineterminator="\n") for part in (cells, summary)),
            metrics.text(cells, summary),
            render(content),
        ),
        strict=True,
    ):
        write_text(file, text)
    return content
