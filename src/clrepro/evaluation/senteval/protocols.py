"""SentEval's protocols for the transfer tasks."""

from dataclasses import dataclass

SEED = 1111


@dataclass(frozen=True)
class Protocol:
    """How SentEval trains: folds of cross-validation, optimiser, batch, patience, passes over the data in a round.

    seed: of initial weights, orders, rows set aside, and of the folds of tasks with a test set.
    """

    folds: int
    optimiser: str
    batch: int
    tenacity: int
    passes: int
    seed: int = SEED

    @property
    def described(self) -> str:
        """What a caption says of it."""
        name = {"adam": "Adam", "rmsprop": "RMSprop"}[self.optimiser]
        return (
            f"{self.folds} folds, {name}, batch {self.batch}, patience {self.tenacity}, rounds of {self.passes} passes"
        )


PROTOCOLS = {"test": Protocol(10, "adam", 64, 5, 4), "fast": Protocol(5, "rmsprop", 128, 3, 2)}
