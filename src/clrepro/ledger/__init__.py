"""The ledger: published numbers, our numbers, verdicts."""

from clrepro.ledger.cells import frame
from clrepro.ledger.published import published
from clrepro.ledger.records import Records

__all__ = ["Records", "frame", "published"]
