"""Every objective at N = 16,384: float32 against float64, and the peak memory.

    python benchmarks/large_batches.py [--rows 16384] [--dim 64] [--only mpt macl]

Each variant runs in a fresh process, forward and backward in float32 at its coldest sensible setting (temperature
0.05, 0.005 with --cold), and again in float64 for reference. Printed: relative error of the value, of the gradient
(Frobenius norm), seconds and peak resident memory of the float32 pass. A value or gradient that is not finite ends the
run with status 1.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import torch

from clrepro import objectives


def one(name: str, variant: str, args: argparse.Namespace) -> dict:
    generator = torch.Generator().manual_seed(0)
    view = torch.randn(args.rows, args.dim, generator=generator, dtype=torch.float64)
    other = view + 0.5 * torch.randn(args.rows, args.dim, generator=generator, dtype=torch.float64)
    known = objectives.signatures(name)[variant]
    params = {key: 0.005 for key in known if key.endswith("temperature")} if args.cold else {}
    objective = objectives.make(name, variant, **params)
    found = {}
    for dtype in (torch.float32, torch.float64):
        views = [part.to(dtype).requires_grad_() for part in (view, other)]
        start = time.perf_counter()
        loss = objective(*views)
        gradient = torch.cat(torch.autograd.grad(loss, views, allow_unused=True)).double()
        found[dtype] = loss.item(), gradient
        if dtype is torch.float32:
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    (value, gradient), (exact, reference) = found[torch.float32], found[torch.float64]
    return {
        "value": abs(value - exact) / max(abs(exact), 1e-12),
        "gradient": float((gradient - reference).norm() / reference.norm().clamp(min=1e-30)),
        "finite": bool(torch.isfinite(gradient).all()) and value == value and abs(value) < float("inf"),
        "seconds": seconds,
        "peak_gb": peak,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--cold", action="store_true", help="temperature 0.005")
    parser.add_argument("--only", nargs="+", metavar="OBJECTIVE", default=objectives.names())
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(*args.one, args)))
        return 0
    bad = 0
    print(f"N = {args.rows}, D = {args.dim}{', temperature 0.005' if args.cold else ''}")
    print(f"{'objective':<22}{'variant':<18}{'value':>10}{'gradient':>10}{'seconds':>9}{'peak GB':>9}")
    for name in args.only:
        for variant in objectives.signatures(name):
            command = [sys.executable, __file__, "--rows", str(args.rows), "--dim", str(args.dim)]
            command += [*(["--cold"] if args.cold else []), "--one", name, variant]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"{name:<22}{variant:<18}{(done.stderr.strip().splitlines() or ['killed'])[-1]}", flush=True)
                bad += 1
                continue
            row = json.loads(done.stdout)
            bad += not row["finite"]
            numbers = f"{row['value']:>10.0e}{row['gradient']:>10.0e}{row['seconds']:>9.1f}{row['peak_gb']:>9.2f}"
            print(f"{name:<22}{variant:<18}{numbers}{'' if row['finite'] else '  NOT FINITE'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
