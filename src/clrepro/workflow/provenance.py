"""Which code and which machine made a result: commit, hardware, energy. No host, user or path is asked for."""

import os
import platform
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

from clrepro.paths import ROOT

POWERCAP = Path("/sys/class/powercap")


@cache
def commit() -> str | None:
    """The checkout's commit, with `+` behind it if tracked files differ from it; None where there is no git.

    An installed package has no commit of its own, even if the environment lies in somebody's repository.
    """
    if not (ROOT / ".git").exists():
        return None
    try:
        sha = _git("rev-parse", "--short=12", "HEAD")
        return sha + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def hardware(device: str) -> dict[str, str | int]:
    """Processor, cores and memory; the GPU, and how it computes in fp32, if the device is one of CUDA's.

    device: cpu, mps, cuda or a GPU's own name.
    """
    found: dict[str, str | int] = {"cpu": _processor(), "cores": os.cpu_count() or 1}
    with suppress(ValueError, OSError):  # not every system tells
        found["memory_gb"] = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9)
    if device not in ("cpu", "mps"):
        import torch

        found["gpu"] = torch.cuda.get_device_name()
        found["gpus"] = torch.cuda.device_count()
        found["fp32_matmul"] = torch.backends.cuda.matmul.fp32_precision
        found["fp32_convolution"] = torch.backends.cudnn.conv.fp32_precision
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


class Energy:
    """Watt-hours of the whole machine's processors and GPUs since the start, as far as counters can be read.

    Processors: the RAPL counters of the packages (often for root only). GPUs: their own energy counters, through
    pynvml where it is installed. What else runs on the machine is in it.
    """

    def __init__(self):
        self._start = _counters()

    def used(self) -> dict[str, float] | None:
        """{"cpu": ..., "gpu": ...}, each only where it is known; None if nothing is."""
        joules: dict[str, float] = {}
        for name, (value, limit) in _counters().items():
            if name in self._start:
                difference = value - self._start[name][0]
                kind = name.split(":")[0]
                joules[kind] = joules.get(kind, 0.0) + (difference if difference >= 0 else difference + limit)
        return {kind: round(value / 3600, 4) for kind, value in joules.items()} or None


def _counters() -> dict[str, tuple[float, float]]:
    """{counter: (joules, joules at which it starts again)}."""
    found = {}
    for folder in sorted(POWERCAP.glob("intel-rapl:[0-9]*")):
        if folder.name.count(":") != 1:
            continue  # a part of a package
        try:
            value, limit = (int((folder / name).read_text()) / 1e6 for name in ("energy_uj", "max_energy_range_uj"))
        except (OSError, ValueError):
            continue
        found[f"cpu:{folder.name}"] = (value, limit)
    return found | _gpu_counters()


def _gpu_counters() -> dict[str, tuple[float, float]]:
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
        return {f"gpu:{n}": (pynvml.nvmlDeviceGetTotalEnergyConsumption(h) / 1e3, 0.0) for n, h in enumerate(handles)}
    except Exception:  # no module, no driver, no counter: the energy is not known
        return {}
