"""What a reference of a claim stands for: one number, with our value for every seed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """One number of a paper in the paper's unit: ours by seed (None: no seed changes it), and the printed one.

    runs: ids of the runs that it comes from. why: what is missing, broken or stale. family: quantities whose spread
    over seeds is of one kind have the same. cell: its id in the ledger, if it has a line there. measured: what is
    taken of which runs; two references to one number (a run stands in several tables) have the same. comparable:
    whether it is measured as the paper's number was, so that it may speak of the paper (Catalogue.compares).
    """

    values: dict[int | None, float]
    published: float | None
    runs: tuple[str, ...]
    why: str
    family: str
    cell: str = ""
    measured: str = ""
    is_difference: bool = False
    comparable: bool = True

    @property
    def is_planned(self) -> bool:
        """Whether it has values, or `why` names the command that makes them."""
        return bool(self.values) or "snakemake " in self.why
