"""The linear probe of images that are augmented every epoch anew: as long as a training, so it resumes as one does."""

import sys
import time
from contextlib import closing
from pathlib import Path

from torch import Tensor
from tqdm import tqdm

from clrepro.evaluation.linear_probe import Probe, ProbeSettings
from clrepro.modalities.image.features import Images
from clrepro.training.resuming import Resumable


def fit(
    images: Images, augmentation: str, width: int, classes: int, how: ProbeSettings, state: Path, stop
) -> tuple[Tensor, Tensor]:
    """Weights (C, width) and biases (C,) after the last epoch.

    The state is saved in ``state`` every few minutes and once ``stop`` was requested, which raises Interrupted; if it
    is there, training goes on from it and ends, on a CPU, in the same weights to the bit.
    """
    probe = Probe(width, classes, how, images.device)
    kept = Resumable(state, probe.classifier, probe.pace, stop)
    batches, per_epoch = images.augmented(augmentation, how.batch_size), images.steps_per_epoch(how.batch_size)
    step, total = kept.step, how.epochs * per_epoch
    first, started = step, time.monotonic()
    with tqdm(total=total, initial=step, desc="probe", unit="step", disable=None, leave=False) as bar:
        for epoch in range(step // per_epoch, how.epochs):
            with closing(batches(epoch, step % per_epoch)) as left:
                for features, labels in left:
                    kept.between_steps(step, total)
                    probe.learn(features, labels, epoch)
                    step += 1
                    bar.update()
            if bar.disable:  # no terminal: lines in the log
                minutes = (total - step) / (step - first) * (time.monotonic() - started) / 60
                print(f"    probe, epoch {epoch + 1}/{how.epochs}: {minutes:.0f} min left", file=sys.stderr, flush=True)
    kept.save(total)
    return probe.weights, probe.biases
