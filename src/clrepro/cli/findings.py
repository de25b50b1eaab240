"""What of a configuration would fail on this machine, found in seconds, with remedies."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clrepro import __version__
from clrepro.catalogue import Catalogue, cost
from clrepro.errors import UserError
from clrepro.paths import INSTALLED, ROOT
from clrepro.settings import Common
from clrepro.workflow.placement import nvidia_smi
from clrepro.workflow.provenance import commit

DRIVERS = {11: 450, 12: 525, 13: 580}  # the oldest NVIDIA driver for each CUDA (its release notes, table of drivers)


@dataclass(frozen=True)
class Finding:
    """state: ok; note, which stops nothing; problem, which stops what the configuration asks for."""

    state: str
    what: str
    says: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.state:<8}{self.what:<10}{self.says}" + (f"\n{'':<18}{self.remedy}" if self.remedy else "")


def examine(catalogue: Catalogue) -> Iterator[Finding]:
    """All findings, each as soon as it is known."""
    config = catalogue.config
    yield Finding("ok", "clrepro", release())
    yield Finding("ok", "Python", f"{platform.python_version()} at {sys.executable}")
    yield from gpus(catalogue)
    yield from processor(config)
    yield from disk(catalogue)
    yield from data(catalogue)
    yield from scheduler(config)


def release() -> str:
    """Which clrepro this is: a release that is installed, or a checkout at its commit."""
    if ROOT == INSTALLED:
        return f"{__version__}, installed in {ROOT.parent}"
    return f"{__version__}, the checkout {ROOT} at {commit() or 'no commit'}"


def gpus(catalogue: Catalogue) -> Iterator[Finding]:
    """Driver, CUDA and compute capability, against what this build of torch needs; memory, against the trainings."""
    import torch

    config = catalogue.config
    wanted = config.device == "cuda"
    trouble = "problem" if wanted else "note"
    otherwise = "or compute on the CPU: --config device=cpu" if wanted else "until then the CPU computes"
    built = torch.version.cuda
    if built is None:
        remedy = f"install the locked torch (make install), {otherwise}"
        yield Finding(trouble if wanted else "ok", "torch", f"{torch.__version__}, built without CUDA", remedy * wanted)
        return
    yield Finding("ok", "torch", f"{torch.__version__}, built for CUDA {built}")
    oldest = DRIVERS.get(int(built.split(".")[0]), max(DRIVERS.values()))
    # an old nvidia-smi does not know the capability, and its driver is what is wrong then
    found = nvidia_smi("name", "driver_version", "memory.total", "compute_cap")
    found = found or [[*parts, ""] for parts in nvidia_smi("name", "driver_version", "memory.total")]
    if not found:
        says = "nvidia-smi lists none" if shutil.which("nvidia-smi") else "none: there is no nvidia-smi"
        remedy = f"`device: cuda` needs one with driver {oldest} or newer, {otherwise}"
        yield Finding(trouble if wanted else "ok", "GPU", says, remedy * wanted)
        return
    known = torch._C._cuda_getArchFlags() or ""
    architectures = [divmod(int(name.removeprefix("sm_")), 10) for name in known.split() if name[3:].isdigit()]
    for name, driver, memory, capability in found:
        says = f"{name}, {memory} MiB, compute capability {capability or 'unknown'}, driver {driver}"
        if int(driver.split(".")[0]) < oldest:
            remedy = f"torch for CUDA {built} needs driver {oldest} or newer: ask for a newer driver, {otherwise}"
            yield Finding(trouble, "GPU", says, remedy)
        elif capability and architectures and not runs_on(capability, architectures):
            least = ".".join(map(str, min(architectures)))
            remedy = f"this torch is built for compute capability {least} and newer: use a newer GPU, {otherwise}"
            yield Finding(trouble, "GPU", says, remedy)
        elif large := larger_than(catalogue, int(memory) * 2**20 / 1e9) * wanted:
            remedy = f"with `hardware: {{memory_gb: {int(memory) * 2**20 / 1e9:.0f}}}` their cells are holes"
            yield Finding(trouble, "GPU", f"{says}; too little for {large} of the trainings", remedy)
        else:
            yield Finding("ok", "GPU", says)
    if wanted and not config.jobs.gpus:
        yield Finding("problem", "GPU", "jobs.gpus is 0: no job asks for one", "set `jobs: {gpus: 1}`")


def larger_than(catalogue: Catalogue, gigabytes: float) -> int:
    """How many trainings need more of a GPU's memory."""
    return sum(run.plan.memory_gb(run) > gigabytes for run in catalogue.runs if run.objective)


def runs_on(capability: str, architectures: list[tuple[int, int]]) -> bool:
    """Whether code for one of these (major, minor) runs on a GPU: of the same major and no newer minor."""
    major, minor = map(int, capability.split("."))
    return any(of == major and least <= minor for of, least in architectures)


def processor(config: Common) -> Iterator[Finding]:
    """Cores and memory, against what a job asks for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6
    threads, needed = config.jobs.threads * config.jobs.processes, config.jobs.memory_mb * config.jobs.processes
    remedy = f"a training job asks for {threads}: it gets fewer here" if threads > cores else ""
    yield Finding("note" if remedy else "ok", "cores", str(cores), remedy)
    remedy = "give it to a scheduler, or lower `jobs.memory_mb`" if needed > memory else ""
    says = f"{memory:,} MB; a training job asks for {needed:,}"
    yield Finding("note" if remedy else "ok", "memory", says, remedy)


def disk(catalogue: Catalogue) -> Iterator[Finding]:
    """Free space where results, state and data lie, against the price of all runs and sources."""
    free = shutil.disk_usage(Path()).free / 1e9
    largest = max((cost.of_run(catalogue, run).gigabytes for run in catalogue.runs), default=0.0)
    sources = sum(source.megabytes for source in catalogue.sources()) / 1e3
    needed = cost.of_all(catalogue).gigabytes + 4 * largest + 2 * sources  # as downloaded, and as prepared
    says = f"{free:,.1f} GB free in {Path().absolute()}; this configuration fills about {needed:,.1f}"
    remedy = "make room, move the working directory, or ask for fewer tables" if needed > free else ""
    yield Finding("problem" if remedy else "ok", "disk", says, remedy)


def data(catalogue: Catalogue) -> Iterator[Finding]:
    """The mirror, and sources that can come from nowhere."""
    folder = catalogue.config.mirror
    if folder is not None:
        there = Path(folder).is_dir()
        remedy = "" if there else "give the folder that `clrepro mirror` filled, or leave `mirror` out"
        yield Finding("ok" if there else "problem", "mirror", str(folder), remedy)
    try:
        catalogue.check_inputs()
    except UserError as failure:
        yield Finding("problem", "data", str(failure))
        return
    sources = [source for source in catalogue.sources() if source.kind != "generated"]
    total = sum(source.megabytes for source in sources)
    yield Finding("ok", "data", f"{len(sources)} sources, {total:,.0f} MB, from a mirror or by download")


def scheduler(config: Common) -> Iterator[Finding]:
    """Who runs the jobs, and GPUs that they ask for in vain."""
    if shutil.which("sbatch"):
        yield Finding("ok", "SLURM", "there: snakemake --workflow-profile profiles/slurm")
    else:
        yield Finding("ok", "SLURM", "none: jobs run on this machine")
    if config.jobs.gpus and not shutil.which("sbatch") and config.device == "cpu":
        yield Finding("note", "jobs", "jobs.gpus is set and `device: cpu`: no job will use a GPU")
