"""Time and peak memory of our objectives against the same losses in other libraries.

Make an environment with the project and the other libraries (the project's own environment stays as it is):

    python -m venv bench && bench/bin/pip install -r requirements.lock && bench/bin/pip install --no-deps -e .
    bench/bin/pip install --no-deps -r benchmarks/requirements.txt
    bench/bin/python benchmarks/objectives.py                          # everything, tables on stdout
    bench/bin/python benchmarks/objectives.py --only nt_xent dcl/original --sizes 64 512

A library that is not installed is left out with a note. What is measured:

Equality  At N = 64 in float32 the value and the gradients of a peer, times the constant factor given in ``peers.py``,
          must equal ours to 1e-4 relative; a peer that does not is reported and never timed.
Time      One forward and backward pass to both views. The implementations take turns in random order; a sample
          repeats the call until it lasts 20 ms; the median over the rounds is reported, with its quartiles.
Memory    A fresh process per implementation and size: by how much the peak of its resident memory exceeds what it
          held just before the pass (views included), after a first pass at the same size. The gradients of the views,
          2 N D floats, count. On CUDA: the same with the allocator's peak. An implementation that runs out of memory
          here is not timed at that size.
"""

import argparse
import csv
import json
import math
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from objectives_page import TOLERANCE, Report, Row, page
from peers import CASES, OURS, Case, Loss
from torch import Tensor

from clrepro.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "objectives.md"
INSTALL = "python -m pip install --no-deps -r benchmarks/requirements.txt"
SAMPLE_SECONDS = 0.02
OUT_OF_MEMORY = 42  # exit status of a memory probe


def make_views(n: int, args: argparse.Namespace) -> tuple[Tensor, Tensor]:
    """Two standard normal views with correlation 1/4: far from saturation for every loss here."""
    generator = torch.Generator().manual_seed(0)
    view1 = torch.randn(n, args.dim, generator=generator)
    view2 = view1 / 4 + math.sqrt(15 / 16) * torch.randn(n, args.dim, generator=generator)
    return view1.to(args.device).requires_grad_(), view2.to(args.device).requires_grad_()


def evaluate(loss: Loss, views: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Forward and backward: the value and the gradients of both views."""
    value = loss(*views)
    return value.detach(), torch.autograd.grad(value, views)


def disagreement(ours: Loss, peer: Loss, factor: float, views: tuple[Tensor, Tensor]) -> tuple[float, float]:
    """Relative difference of the values, and of the gradients in the Frobenius norm."""
    value, gradients = evaluate(ours, views)
    peer_value, peer_gradients = evaluate(peer, views)
    gradient, peer_gradient = torch.cat(gradients), factor * torch.cat(peer_gradients)
    return float((factor * peer_value / value - 1).abs()), float((gradient - peer_gradient).norm() / gradient.norm())


# Time


def sample(loss: Loss, views: tuple[Tensor, Tensor], calls: int) -> float:
    """Seconds per call."""
    synchronise = torch.cuda.synchronize if views[0].is_cuda else lambda: None
    synchronise()
    start = time.perf_counter()
    for _ in range(calls):
        evaluate(loss, views)
    synchronise()
    return (time.perf_counter() - start) / calls


def interleaved(losses: dict[str, Loss], views: tuple[Tensor, Tensor], rounds: int, budget: float) -> dict[str, list]:
    """Seconds per call of every loss in every round. After ``budget`` seconds it stops, but not before round 3."""
    calls = {}
    for name, loss in losses.items():
        sample(loss, views, 1)
        calls[name] = math.ceil(SAMPLE_SECONDS / min(sample(loss, views, 1) for _ in range(2)))
    seconds, end = {name: [] for name in losses}, time.monotonic() + budget
    for done in range(rounds):
        if done >= 3 and time.monotonic() > end:
            break
        for name in random.sample(list(losses), len(losses)):
            seconds[name].append(sample(losses[name], views, calls[name]))
    return seconds


# Memory


def resident(peak: bool) -> float:
    """This process' resident memory in MB, now or at its peak (where there is no /proc: always the peak)."""
    if sys.platform == "linux":
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(status["VmHWM" if peak else "VmRSS"].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def probe(build: Callable[[], Loss], n: int, args: argparse.Namespace) -> float:
    """Peak memory of one pass in MB, above what the process holds before it."""
    if sys.platform == "linux" and args.device == "cpu":
        limit = int(args.memory_limit * 2**30)  # an allocation beyond it fails, and the machine stays alive
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    loss, views = build(), make_views(n, args)
    if sys.platform == "linux" or args.device == "cuda":  # elsewhere the recorded peak cannot be brought down again
        evaluate(loss, views)
    if args.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        evaluate(loss, views)
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")
    before = resident(peak=False)
    evaluate(loss, views)
    return resident(peak=True) - before


def run_probe(args: argparse.Namespace) -> int:
    """The memory probe's process: prints the megabytes."""
    key, name, n = args.probe
    case = next(case for case in CASES if case.key == key)
    try:
        print(json.dumps(probe(case.implementations()[name], int(n), args)))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        return OUT_OF_MEMORY
    return 0


def peak_memory(case: Case, name: str, n: int, args: argparse.Namespace) -> float | str:
    """Megabytes, or why there are none."""
    command = [sys.executable, __file__, "--probe", case.key, name, str(n), "--device", args.device]
    command += ["--threads", str(args.threads), "--dim", str(args.dim), "--memory-limit", str(args.memory_limit)]
    # blocks above 64 KiB go back to the system when freed: resident memory is then memory in use
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if done.returncode in (OUT_OF_MEMORY, -9):
        return f"out of memory (limit {args.memory_limit:.0f} GB)" if args.device == "cpu" else "out of memory"
    return f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"


# The run


def usable(case: Case, args: argparse.Namespace, report: Report) -> dict[str, Loss]:
    """Ours and those peers that are installed and equal; empty where we lack the objective."""
    try:
        losses = {OURS: case.implementations()[OURS]()}
    except UserError as error:
        report.note(f"{case.key}: left out, {error}")
        return {}
    for peer in case.peers:
        try:
            loss = peer.build()
        except ImportError as error:
            note = f"{peer.package}: left out ({error}). Install it with `{INSTALL}`"
            if note not in report.notes:
                report.note(note)
            continue
        value, gradient = disagreement(losses[OURS], loss, peer.factor, make_views(64, args))
        report.equalities.append((case.key, f"{peer.factor:g} × {peer.name}", f"{value:.0e}", f"{gradient:.0e}"))
        if value < TOLERANCE and gradient < TOLERANCE:
            losses[peer.name] = loss
        else:
            report.note(f"{case.key}: {peer.name} differs (value {value:.0e}, gradients {gradient:.0e}), not timed")
    return losses


def measure(case: Case, args: argparse.Namespace, report: Report) -> None:
    """Equality, then memory and time at every size."""
    losses = usable(case, args, report)
    for n in args.sizes if losses else ():
        rows = {name: Row(case.key, n, name) for name in losses}
        for name, row in rows.items():
            memory = peak_memory(case, name, n, args)
            row.peak_mb, row.note = (None, memory) if isinstance(memory, str) else (memory, "")
        runnable = {name: loss for name, loss in losses.items() if not rows[name].note}
        for name, seconds in interleaved(runnable, make_views(n, args), args.rounds, args.budget).items():
            quartiles = torch.tensor(seconds).quantile(torch.tensor([0.25, 0.5, 0.75])) * 1e3
            rows[name].ms_q1, rows[name].ms, rows[name].ms_q3 = quartiles.tolist()
        report.rows += rows.values()
        print(f"{case.key}, N = {n}: done", file=sys.stderr, flush=True)


def free_gigabytes() -> float:
    """80 % of the memory that is free now."""
    return 0.8 * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30 if sys.platform == "linux" else 0.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parser.add_argument("--only", nargs="+", metavar="LOSS", help="objectives, as infonce or dcl/original")
    parser.add_argument("--sizes", nargs="+", type=int, default=[64, 512, 4096], metavar="N", help="batch sizes")
    parser.add_argument("--dim", type=int, default=768, help="D (default 768)")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=cores, help="torch threads (default: all cores)")
    parser.add_argument("--rounds", type=int, default=25, help="samples of each implementation (default 25)")
    parser.add_argument("--budget", type=float, default=60, help="seconds per loss and size after which rounds end")
    parser.add_argument(
        "--memory-limit", type=float, default=free_gigabytes(), metavar="GB", help="default: 80 %% free"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write every row there")
    parser.add_argument("--write", action="store_true", help=f"also write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--probe", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    args = arguments()
    torch.set_num_threads(args.threads)
    if args.probe:
        return run_probe(args)
    cases = [c for c in CASES if not args.only or any(f"{c.key}/".startswith(f"{name}/") for name in args.only)]
    if not cases:
        print("No such loss; there are: " + ", ".join(case.key for case in CASES), file=sys.stderr)
        return 2
    random.seed(0)
    report = Report()
    for case in cases:
        measure(case, args, report)
    print(text := page(report, args))
    if args.csv:
        with args.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, Row.__dataclass_fields__)
            writer.writeheader()
            writer.writerows(vars(row) for row in report.rows)
    if args.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
