"""One SimCLR pre-training step on CIFAR images: ours against lightly's components, images per second.

    python benchmarks/images.py [--batch 256] [--steps 5] [--rounds 5] [--workers 0] [--threads 2] [--device cuda]
    python benchmarks/images.py --views           # the augmentation alone, ours against lightly's

A step is: two views of a batch of 32 x 32 pictures, ResNet-18 with the CIFAR stem, projector, NT-Xent, backward, Adam.
Both sides have the same encoder and initial weights, the same strengths of augmentation, a head 512 -> 512 -> 128 with
batch norm, and the same temperature. lightly's side is its transform on Pillow pictures in a DataLoader, its head, its
NTXentLoss, and the loop of its examples; ours is the code that clrepro trains with. Both take turns in one process, so
that whatever else the machine does meets both; the first two steps are not counted. With --workers, a turn starts its
loader anew and ends it, so that no worker runs ahead while the other side is timed: let --steps be several times the
batches that the workers hold ready (two each). Printed: images per second (each with two views), the median of the
turns, and the ratio of these medians to lightly's at the same precision, with the smallest and largest ratio of
neighbouring turns; where both precisions are timed, also the ratio to lightly's float32, in which its examples train on
a CPU, while config/bench.yaml trains in bfloat16.

float32 keeps torch's defaults on both sides (on a GPU cuDNN's convolutions use TF32); bfloat16 is autocast on both.
"nchw" is ours in torch's default memory format. Needs lightly 1.6.0 and lightning-utilities, installed with --no-deps.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.modalities.image import frameworks
from clrepro.modalities.image.augment import Augmentation, augment
from clrepro.modalities.image.encoder import make_encoder
from clrepro.objectives import make as make_objective
from clrepro.training import optimisers

SIDE, HIDDEN, OUTPUT, TEMPERATURE = 32, 512, 128, 0.1
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-6
STRENGTHS = dict(cj_bright=0.4, cj_contrast=0.4, cj_sat=0.4, cj_hue=0.1, cj_prob=0.8, random_gray_scale=0.2)
WARM_UP = 2


def encoder(device: torch.device) -> nn.Module:
    torch.manual_seed(0)
    return make_encoder("resnet18", "cifar", 3).to(device).train()


def lightly_transform():
    from lightly.transforms import SimCLRTransform

    # the augmentation macl_cifar in lightly's words
    return SimCLRTransform(input_size=SIDE, gaussian_blur=0.0, min_scale=0.08, **STRENGTHS)


class Pictures(torch.utils.data.Dataset):
    """As torchvision's CIFAR10: an array whose rows become Pillow pictures on access."""

    def __init__(self, images: np.ndarray):
        self.images, self.transform = np.ascontiguousarray(images.transpose(0, 2, 3, 1)), lightly_transform()

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, row: int) -> list[Tensor]:
        from PIL import Image

        return self.transform(Image.fromarray(self.images[row]))


def theirs(images: np.ndarray, device: torch.device, args: argparse.Namespace, half: bool) -> Iterator[None]:
    """Each `next` is a step, as in lightly's examples for SimCLR."""
    from lightly.loss import NTXentLoss
    from lightly.models.modules import SimCLRProjectionHead

    backbone, head = encoder(device), SimCLRProjectionHead(512, HIDDEN, OUTPUT).to(device)
    criterion = NTXentLoss(temperature=TEMPERATURE)
    parameters = [*backbone.parameters(), *head.parameters()]
    optimiser = torch.optim.Adam(parameters, LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    cuda = device.type == "cuda"
    loader = torch.utils.data.DataLoader(
        Pictures(images), args.batch, shuffle=True, drop_last=True, num_workers=args.workers, pin_memory=cuda
    )
    while True:
        for view0, view1 in loader:
            with torch.autocast(device.type, torch.bfloat16, enabled=half):
                z0, z1 = (head(backbone(view.to(device)).flatten(start_dim=1)) for view in (view0, view1))
                loss = criterion(z0, z1)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            synchronise(device)
            yield


def ours(
    images: np.ndarray, device: torch.device, args: argparse.Namespace, half: bool, layout: torch.memory_format
) -> Iterator[None]:
    """Each `next` is a step of the code that clrepro trains with; its head normalises as lightly's does."""
    settings = {"hidden": HIDDEN, "output": OUTPUT, "layers": 2, "norm": "all"}
    framework = frameworks.make("simclr", encoder(device), projector=settings).to(device, memory_format=layout)
    objective = make_objective("nt_xent", temperature=TEMPERATURE)
    optimiser = optimisers.make("adam", framework.parameters(), LEARNING_RATE, WEIGHT_DECAY)
    augmentation, generator, epoch = Augmentation("macl_cifar"), np.random.default_rng(0), 0
    resident = torch.from_numpy(images).to(device)
    while True:
        order = generator.permutation(len(images))
        for start in range(0, len(order) - args.batch + 1, args.batch):
            indices = order[start : start + args.batch]
            batch = resident[torch.from_numpy(indices).to(device, non_blocking=True)]
            views = [
                augment(batch, augmentation, 0, epoch, indices, view).contiguous(memory_format=layout)
                for view in (0, 1)
            ]
            with torch.autocast(device.type, torch.bfloat16, enabled=half):
                terms = framework(*views)
            loss = sum(objective(view1.float(), view2.float(), **extras) for view1, view2, extras in terms) / len(terms)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            synchronise(device)
            yield
        epoch += 1


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def compare(rows: dict[str, Callable[[], Iterator[None]]], args: argparse.Namespace) -> None:
    """Let the contestants take turns; print images per second, the ratio to lightly's above and to the first."""
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    running: dict[str, Iterator[None]] = {}
    for _ in range(args.rounds):
        for name, contestant in rows.items():
            if name not in running:
                running[name] = contestant()
                for _ in range(WARM_UP):
                    next(running[name])
            start = time.perf_counter()
            for _ in range(args.steps):
                next(running[name])
            seconds[name].append((time.perf_counter() - start) / args.steps)
            if args.workers:
                running.pop(name).close()
    first = baseline = next(iter(seconds.values()))
    for name, found in seconds.items():
        baseline = found if name.startswith("lightly") else baseline
        ratios = [theirs / ours for theirs, ours in zip(baseline, found, strict=True)]
        equal, overall = (statistics.median(part) / statistics.median(found) for part in (baseline, first))
        line = f"{name:<22}{args.batch / statistics.median(found):>10.1f} images/s {equal:>7.2f} x"
        line += f"   ({min(ratios):.2f} to {max(ratios):.2f})"
        print(line + (f"   {overall:.2f} x {next(iter(rows))}" if baseline is not first else ""), flush=True)


def views(images: np.ndarray, args: argparse.Namespace, device: torch.device) -> None:
    """The two views of a batch, nothing else."""
    dataset, augmentation = Pictures(images), Augmentation("macl_cifar")
    batch, indices = torch.from_numpy(images[: args.batch]).to(device), np.arange(args.batch)

    def pillow() -> Iterator[None]:
        while True:
            torch.utils.data.default_collate([dataset[row] for row in range(args.batch)])
            yield

    def vectorised() -> Iterator[None]:
        while True:
            for view in (0, 1):
                augment(batch, augmentation, 0, 0, indices, view)
            synchronise(device)
            yield

    compare({"lightly, transform": pillow, "ours, augment": vectorised}, args)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=5, help="timed steps of each turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=0, help="of lightly's DataLoader")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", nargs="+", choices=("fp32", "bf16"), default=["fp32", "bf16"])
    parser.add_argument("--images", help="folder of a prepared split; random pictures without it")
    parser.add_argument("--views", action="store_true", help="time the augmentation alone")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.backends.cudnn.benchmark = True
    device = torch.device(args.device)
    if args.images:
        from clrepro.modalities.image.image_sets import load

        images = np.array(load(args.images).images)
    else:
        images = np.random.default_rng(0).integers(0, 256, (10_000, 3, SIDE, SIDE), dtype=np.uint8)
    name = torch.cuda.get_device_name() if device.type == "cuda" else platform.processor() or platform.machine()
    print(f"{name}, torch {torch.__version__}, threads {args.threads}, workers {args.workers}, batch {args.batch}")
    if args.views:
        views(images, args, device)
        return
    rows = {}
    for precision in args.precision:
        half = precision == "bf16"
        rows[f"lightly, {precision}"] = partial(theirs, images, device, args, half)
        for name, layout in (("", torch.channels_last), (", nchw", torch.contiguous_format)):
            rows[f"ours, {precision}{name}"] = partial(ours, images, device, args, half, layout)
    compare(rows, args)


if __name__ == "__main__":
    main()
