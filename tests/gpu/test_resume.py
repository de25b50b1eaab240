"""Trainings stopped and resumed on a pretended GPU, with and without the gradient scaler of fp16."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from clrepro import objectives
from clrepro.errors import Interrupted
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.training import SentenceWorkload
from clrepro.paths import read_json
from clrepro.training import loop, optimisers
from clrepro.training.progress import Progress
from tests.gpu.pretended import OnGpu, pretended
from tests.gpu.test_gpu import Steps
from tests.modalities.sentence.trainings import SETTINGS
from tests.stop import Stop

GROWTH = 10  # steps after which the scale doubles, 2000 elsewhere
OVERFLOW = 4  # the step, from 0, whose gradient is made infinite
STOPPED = 13  # steps done: between two looks, two evaluations and two growths of the scale
LOOKS = {10, 20, 25, 30}  # steps done at evaluations, and at every 25th step
WAITS = {"adamw": [], "adamw_transformers": ["__bool__: optimisers.py"]}  # what a step of fp16 waits for


class Training:
    """One start of a training of sentences on the pretended GPU, and what can be seen of it."""

    def __init__(self, tiny, tasks, state, stop, **changes):
        folder, model, _ = tiny
        settings = {**SETTINGS, "epochs": 1.0, "evaluate_every": 10, **changes}
        loop.seed_everything(5)
        self.workload = SentenceWorkload(TokenisedCorpus(folder), model, settings, 42, tasks)
        self.scales: list[float] = []  # before each step of this start
        self.weights: list[Tensor] = []  # of one layer, before each step
        with pretended() as gpu:
            self.steps = Steps(gpu, self.seen)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(loop, "Progress", self.progress_of)
                self.end = loop.fit(self.workload, self.steps, settings, "cuda", state, stop)
        self.statistics = read_json(state / "statistics.json")

    def progress_of(self, *args) -> Progress:
        self.progress = Progress(*args)
        if self.scaler:
            self.scaler.set_growth_interval(GROWTH)
        return self.progress

    @property
    def scaler(self):
        return self.progress.accelerator.scaler

    def seen(self, view1, view2, **extras):
        """The objective; with a scaler, one step's gradient is infinite."""
        if self.scaler:
            scale = self.scaler._scale
            self.scales.append(self.scaler._init_scale if scale is None else scale.inner.item())
            if self.progress.step == OVERFLOW:
                view1.register_hook(lambda gradient: gradient * torch.inf)
        self.weights.append(next(self.workload.model.parameters()).inner.detach().clone())
        return objectives.make("infonce")(view1, view2, **extras)

    @property
    def tensors(self) -> list[Tensor]:
        """Of the model and of the optimiser."""
        state = [self.workload.model.state_dict(), self.progress.optimizer.state_dict()["state"]]
        return [leaf for leaf in tree_leaves(state) if isinstance(leaf, Tensor)]


@pytest.mark.parametrize("optimiser", WAITS)
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_resumed_training_ends_in_the_state_of_one_that_was_not_stopped(
    precision, optimiser, tiny, demo_tasks, tmp_path
):
    how, generators = {"precision": precision, "optimiser": optimiser}, []
    whole = Training(tiny, demo_tasks, tmp_path / "a/run", Stop(), **how)
    generators.append(torch.get_rng_state())
    with pytest.raises(Interrupted, match=f"stopped at step {STOPPED} of "):
        Training(tiny, demo_tasks, tmp_path / "b/run", Stop(after=STOPPED), **how)
    torch.manual_seed(0)
    resumed = Training(tiny, demo_tasks, tmp_path / "b/run", Stop(), **how)
    generators.append(torch.get_rng_state())
    assert len(resumed.weights) == len(whole.weights) - STOPPED
    for one, two in zip(whole.tensors, resumed.tensors, strict=True):
        assert isinstance(two, OnGpu)
        assert torch.equal(one.inner, two.inner)
    assert torch.equal(*generators)
    assert resumed.statistics == whole.statistics
    assert {**resumed.end, "earlier_seconds": 0.0} == whole.end
    if precision == "fp16":
        assert resumed.scales == whole.scales[STOPPED:]
        assert resumed.scaler.state_dict() == whole.scaler.state_dict()
        check_scaler(whole)
        check_waits(whole, WAITS[optimiser])


def test_the_count_of_steps_waits_for_nothing_once_it_matters_no_more(tiny, demo_tasks, tmp_path, monkeypatch):
    how = {"precision": "fp16", "optimiser": "adamw_transformers"}
    exact = Training(tiny, demo_tasks, tmp_path / "exact/run", Stop(), **how)
    (counted,) = {group["steps"] for group in exact.progress.optimizer.param_groups}
    monkeypatch.setattr(optimisers, "COUNTED", 0)
    found = Training(tiny, demo_tasks, tmp_path / "free/run", Stop(), **how)
    check_waits(found, [])
    (steps,) = {group["steps"] for group in found.progress.optimizer.param_groups}
    skipped = sum(after < before for before, after in pairwise(exact.scales))
    assert (counted, steps) == (len(exact.scales) - skipped, len(found.scales))


def check_scaler(training: Training) -> None:
    """Steps of infinite gradient change no weight and halve the scale; ten others in a row double it."""
    scales, weights = training.scales, training.weights
    skipped = [step for step in range(len(scales) - 1) if scales[step + 1] < scales[step]]
    assert OVERFLOW in skipped
    assert [step for step in range(len(scales) - 1) if torch.equal(weights[step], weights[step + 1])] == skipped
    scale, done = 2.0**16, 0
    for step, found in enumerate(scales):
        assert found == scale
        done = 0 if step in skipped else done + 1
        scale *= 0.5 if step in skipped else 2.0 if done == GROWTH else 1.0
        done %= GROWTH
    assert max(skipped) < STOPPED
    assert max(scales[STOPPED:]) > scales[STOPPED]


def check_waits(training: Training, usual: list[str]) -> None:
    """torch's scaler makes no fused step wait; transformers' AdamW reads at first whether its step is left out."""
    for step, found in enumerate(training.steps.between):
        if step > 1 and step not in LOOKS:
            assert [":".join(one.split(":")[:2]) for one in found] == usual
