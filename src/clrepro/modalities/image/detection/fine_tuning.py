"""Fine-tuning of a detector.

A dataset is a sequence of {"image": uint8 (3, H, W), "boxes": (k, 4) as left, top, right, bottom in pixels,
"labels": (k,) class numbers from 0, "difficult": (k,) bool}. The recipe is that of MoCo's and mmselfsup's VOC07+12
benchmark, which huang2023 (table 2) names by its detector and schedule alone.
"""

import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from tqdm import tqdm

from clrepro.errors import UserError
from clrepro.training.resuming import Resumable

FALLS = (18 / 24, 22 / 24)  # shares of the training after which the learning rate falls to a tenth
LINES = 100  # of a log, in a whole training


def factor(iteration: int, iterations: int, warmup: int) -> float:
    """Of the learning rate: linear from 1/1000 to 1 over the warm-up, and a tenth after each of ``FALLS``."""
    rising = min(1.0, 0.001 + 0.999 * iteration / warmup) if warmup else 1.0
    return rising * 0.1 ** sum(iteration >= round(share * iterations) for share in FALLS)


def draws(examples: int, count: int, seed: int) -> list[int]:
    """``count`` places of the examples: one random order after the other."""
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(examples, generator=generator) for _ in range(math.ceil(count / examples))]
    return torch.cat(orders)[:count].tolist()


def batches(order: list[int], wide: Sequence[bool] | None, size: int) -> list[list[int]]:
    """Places in batches of this size, each of wide images alone or of high ones alone, as Detectron2 draws them.

    Images of a batch are padded to the largest height and width among them, so that wide ones beside high ones would
    be half padding. wide: of every example; None: they are alike. A rest that fills no batch is left out.
    """
    found: list[list[int]] = []
    begun: dict[bool, list[int]] = {True: [], False: []}
    for place in order:
        kind = bool(wide is not None and wide[place])
        begun[kind].append(place)
        if len(begun[kind]) == size:
            found.append(begun[kind])
            begun[kind] = []
    return found


def as_input(item: dict, device: torch.device, flip: bool = False) -> tuple[Tensor, dict[str, Tensor]]:
    """torchvision's (image in [0, 1], target), mirrored left to right where asked; its class 0 is the background."""
    image = torch.as_tensor(item["image"]).to(device) / 255
    boxes = torch.as_tensor(item["boxes"], dtype=torch.float32, device=device).reshape(-1, 4)
    if flip:
        image = image.flip(2)
        left, top, right, bottom = boxes.unbind(1)
        boxes = torch.stack([image.shape[2] - right, top, image.shape[2] - left, bottom], dim=1)
    labels = torch.as_tensor(item["labels"], dtype=torch.int64, device=device).reshape(-1)
    return image, {"boxes": boxes, "labels": labels + 1}


def fine_tune(
    model: nn.Module,
    dataset: Sequence[dict],
    settings: dict,
    seed: int,
    state: Path,
    stop,
    workers: int = 0,
    wide: Sequence[bool] | None = None,
) -> list[float]:
    """Fine-tune on the device where the model is; returns the loss of every iteration.

    settings: iterations, batch_size, learning_rate, momentum and weight_decay of SGD, warmup and precise_norm in
    iterations. Each image is mirrored with probability one half; difficult boxes are trained on, an image without
    boxes is background. At the end the running statistics of batch norm are computed anew over ``precise_norm`` batches
    with the final weights.

    Everything that an iteration draws follows from ``seed`` and its number. The state is saved in ``state`` every few
    minutes and once ``stop`` was requested, which raises Interrupted; if it is there, training goes on from it and
    ends, on a CPU, in the same weights to the bit. workers: processes that read images. wide: see `batches`.
    """
    if not len(dataset):
        raise UserError("detection: the training set has no images")
    iterations, size = settings["iterations"], settings["batch_size"]
    total = iterations + settings["precise_norm"]
    device = next(model.parameters()).device
    optimiser = torch.optim.SGD(
        model.parameters(), settings["learning_rate"], settings["momentum"], weight_decay=settings["weight_decay"]
    )
    kept = Resumable(state, model, optimiser, stop)
    losses = kept.losses
    if kept.step == total:
        return losses
    first, started = len(losses), time.monotonic()
    # one batch more: what may be left over
    drawn = batches(draws(len(dataset), (total + 1) * size, seed), wide, size)[first:total]
    loader = DataLoader(dataset, batch_sampler=drawn, collate_fn=list, num_workers=workers)
    model.train()
    with tqdm(total=total, initial=first, desc="fine-tune", unit="step", disable=None, leave=False) as bar:
        for iteration, items in enumerate(loader, first):
            # while batch norm's statistics are computed anew, the state stays that of the last iteration
            if iteration == iterations:
                kept.save(iteration)
            kept.between_steps(iteration, iterations, may_save=iteration < iterations)
            if iteration == iterations:
                averaging(model)
            torch.manual_seed(seed * 1_000_003 + iteration)
            flips = (torch.rand(len(items)) < 0.5).tolist()
            inputs = [as_input(item, device, flip) for item, flip in zip(items, flips, strict=True)]
            images, targets = (list(part) for part in zip(*inputs, strict=True))
            bar.update()
            if iteration >= iterations:
                with torch.no_grad():
                    model(images, targets)
                continue
            for group in optimiser.param_groups:
                group["lr"] = settings["learning_rate"] * factor(iteration, iterations, settings["warmup"])
            loss = sum(model(images, targets).values())
            if not torch.isfinite(loss):
                raise UserError(
                    f"detection diverged at iteration {iteration}, the loss is {loss.item()}: lower `learning_rate` or "
                    "lengthen `warmup` in `image.detection.settings`"
                )
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            bar.set_postfix(loss=f"{losses[-1]:.3f}")
            if bar.disable and len(losses) % math.ceil(iterations / LINES) == 0:  # no terminal: lines in the log
                speed = (len(losses) - first) / (time.monotonic() - started)
                left = (iterations - len(losses)) / speed / 60
                line = f"    iteration {len(losses)}/{iterations}: loss {losses[-1]:.3f}, {speed:.2f}/s"
                print(f"{line}, {left:.0f} min left", file=sys.stderr, flush=True)
    kept.save(total)
    return losses


def averaging(model: nn.Module) -> None:
    """From now on batch norm's running statistics are plain means over batches."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
            module.momentum = None
