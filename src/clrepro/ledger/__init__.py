"""The ledger: published numbers, our numbers, verdicts."""

from clrepro.ledger.published import published

__all__ = ["published"]
