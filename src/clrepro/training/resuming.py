"""A plain training that resumes: weights, optimiser and losses, saved every few minutes and before it stops.

For trainings with one model and one optimiser, of which every step follows from its number alone; what the papers'
objectives train has more to keep (`progress`).
"""

import time
from pathlib import Path

from torch import nn
from torch.optim import Optimizer

from clrepro.errors import Interrupted
from clrepro.training import saved

SAVE_SECONDS = 300


class Resumable:
    """step: of the state that was found, whose content model and optimiser now have; 0 where there is none."""

    def __init__(self, state: Path, model: nn.Module, optimiser: Optimizer, stop):
        self.state, self.model, self.optimiser, self.stop = state, model, optimiser, stop
        self.losses: list[float] = []
        self.step, earlier = 0, 0.0
        state.mkdir(parents=True, exist_ok=True)
        if found := saved.latest(state):
            content, self.step = found
            model.load_state_dict(content["model"])
            optimiser.load_state_dict(content["optimiser"])
            self.losses, earlier = content["losses"], content["seconds"]
        self.saved_at = time.monotonic()
        self.began = self.saved_at - earlier

    @property
    def seconds(self) -> float:
        """What this start and the earlier ones took, as far as they were saved."""
        return time.monotonic() - self.began

    def save(self, step: int) -> None:
        content = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "losses": self.losses,
            "seconds": self.seconds,
        }
        saved.write(self.state, step, content)
        self.step, self.saved_at = step, time.monotonic()

    def between_steps(self, step: int, total: int, may_save: bool = True) -> None:
        """Before a step: save if it is time; if the training is to stop, save and raise Interrupted.

        may_save: False where the state is none to go on from, so that the one before it stays.
        """
        stopping = self.stop.requested
        if may_save and (stopping or time.monotonic() - self.saved_at > SAVE_SECONDS):
            self.save(step)
        if stopping:
            raise Interrupted(f"stopped at step {self.step} of {total}; the state is saved in {self.state}")
