"""The page of `objectives.py`: what it measured, as Markdown tables."""

import argparse
import importlib.metadata
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
from peers import LIGHTLY, PML, SBERT

TOLERANCE = 1e-4  # relative, value and gradients


@dataclass
class Row:
    """What was measured of one implementation at one size."""

    case: str
    n: int
    implementation: str
    ms: float | None = None
    ms_q1: float | None = None
    ms_q3: float | None = None
    peak_mb: float | None = None
    note: str = ""


@dataclass
class Report:
    """Everything a run found, filled as it proceeds."""

    rows: list[Row] = field(default_factory=list)
    equalities: list[tuple] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)
        print(text, file=sys.stderr, flush=True)


def number(value: float | None) -> str:
    """Three significant digits, without exponent."""
    return "–" if value is None else f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(header: str, rows: list[tuple]) -> str:
    names = header.split(" | ")
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [names, ["---"] * len(names), *rows])


def summary(rows: list[Row]) -> list[tuple]:
    """One line per loss and size: ours against the best of the peers in time and in memory."""
    lines = []
    for case, n in dict.fromkeys((row.case, row.n) for row in rows):
        ours, *peers = (row for row in rows if (row.case, row.n) == (case, n))
        peers = [row for row in peers if row.ms] or [Row(case, n, "none")]
        fastest = min(peers, key=lambda row: row.ms or 0)
        leanest = min(peers, key=lambda row: row.peak_mb or 0)
        ratio = f"**{ours.ms / fastest.ms:.2f}**" if ours.ms and fastest.ms else "–"
        times = (number(ours.ms), number(fastest.ms), fastest.implementation, ratio)
        lines.append((case, n, *times, number(ours.peak_mb), number(leanest.peak_mb), leanest.implementation))
    return lines


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def machine(args: argparse.Namespace) -> str:
    """The processor, the cores and the versions, in one line."""
    info = Path("/proc/cpuinfo").read_text() if sys.platform == "linux" else ""
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    parts = [models[0] if models else platform.machine(), f"{os.cpu_count()} cores", f"{args.threads} torch threads"]
    parts += [torch.cuda.get_device_name()] if args.device == "cuda" else []
    return ", ".join([*parts, *(f"{package} {version(package)}" for package in ("torch", LIGHTLY, PML, SBERT))])


def page(report: Report, args: argparse.Namespace) -> str:
    """The Markdown page."""
    details = []
    for row in report.rows:
        times = row.note or f"{number(row.ms)} ({number(row.ms_q1)} to {number(row.ms_q3)})"
        times += " unsteady" if row.ms and row.ms_q3 > 1.3 * row.ms_q1 else ""
        details.append((row.case, row.n, row.implementation, times, number(row.peak_mb)))
    parts = [
        "# Objectives: time and memory against other libraries",
        "Written by `benchmarks/objectives.py --write`; its docstring says what is measured.",
        f"{machine(args)}.",
        f"One forward and backward pass, float32, D = {args.dim}, on the {args.device.upper()}; median of up to "
        f"{args.rounds} interleaved rounds; peak memory above what the process held before. A time is unsteady where "
        "its quartiles are 30 % apart: something else used the machine.",
        table(
            "loss | N | ours, ms | fastest peer, ms | which | ours / fastest | ours, MB | leanest peer, MB | which",
            summary(report.rows),
        ),
        "## Every implementation",
        table("loss | N | implementation | ms, median (quartiles) | peak MB", details),
        "## Which loss equals which",
        f"At N = 64: relative differences of value and gradients; a peer above {TOLERANCE:g} is not timed.",
        table("ours | equals | value | gradients", report.equalities),
        *(["## Left out", "\n".join(f"- {note}" for note in report.notes)] if report.notes else []),
    ]
    return "\n\n".join(parts) + "\n"
