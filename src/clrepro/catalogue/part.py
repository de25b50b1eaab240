"""What tables, figures and simulations have in common: a name within a paper."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    paper: str
    name: str

    @property
    def target(self) -> str:
        """The name that the workflow gives to it."""
        return f"{self.paper}_{self.name}"
