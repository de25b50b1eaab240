"""Rates of named GPUs, and what a catalogue costs on each, before any of them was measured.

What training sustains is taken as a share of the vendors' datasheet rates (dense, SXM parts); no figure here was
measured. `clrepro plan --measure` prices from the machine at hand instead.
"""

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from clrepro.catalogue import cost
from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.jobs import Jobs
from clrepro.modalities.run import Run
from clrepro.settings import Hardware
from clrepro.sources.source import sources

SHARE, HALF_SHARE = 0.5, 0.3  # of the datasheet's rate in fp32, and in bf16 and fp16 on matrix units
# a core of two GHz, encoders too small to compute anything: 23 ms a step of 12 layers, 46 ms of 24
LAYER_MILLISECONDS = 1.9
# of a job that holds a GPU: Snakemake through a scheduler 12 s (docs/cluster.md), imports and CUDA 8 s
START_SECONDS = 20.0
DATASHEETS = {  # TFLOP/s in fp32 without TF32, in half precision; GB
    "V100": (15.7, 125, 32),
    "A100": (19.5, 312, 80),
    "H100": (67, 989, 80),
    "H200": (67, 989, 141),
}


def gpu(name: str) -> Hardware:
    single, half, memory = DATASHEETS[name]
    return Hardware(
        name=f"one {name}",
        teraflops=SHARE * single,
        half_teraflops=HALF_SHARE * half,
        layer_milliseconds=LAYER_MILLISECONDS,
        memory_gb=memory,
    )


@dataclass(frozen=True)
class Part:
    """Runs that are priced together, and how many jobs of them hold a GPU."""

    title: str
    catalogue: Catalogue
    runs: tuple[Run, ...]

    @cached_property
    def gpu_jobs(self) -> int:
        """Trainings, embeddings, and evaluations that need a GPU."""
        jobs, count = Jobs(self.catalogue), 0
        runs = set(self.runs)
        for name, bundle in jobs.bundles.items():
            if runs.isdisjoint(bundle.runs):
                continue
            parts = {one.job: one.reads for run in bundle.runs for one in self.catalogue.evaluations(run)}
            needed = [job for job, reads in parts.items() if reads != "features" or jobs.evaluation_uses_gpu(name, job)]
            count += 1 + ("features" in parts.values()) + len(needed)
        return count

    def hours(self, name: str) -> dict[str, float]:
        """By component, of a named GPU."""
        config = self.catalogue.config.model_copy(update={"hardware": gpu(name)})
        price = cost.of_runs_evaluated(self.catalogue, self.runs, config)
        found = {key: getattr(price, key) for key in ("training", "embedding", "fine_tuning", "probing", "decoding")}
        found["start"] = self.gpu_jobs * START_SECONDS / 3600
        return found | {"hours": price.hours + found["start"]}

    def too_large(self, name: str) -> list[Run]:
        """Trainings that overflow a named GPU."""
        there = gpu(name).memory_gb
        return [run for run in self.runs if run.objective and run.plan.memory_gb(run) > there]


def parts_of(catalogue: Catalogue) -> list[Part]:
    """What the configuration trains, and what it would besides if a mirror had the data that no url leads to."""
    found = [Part("what this configuration trains", catalogue, catalogue.runs)]
    with tempfile.TemporaryDirectory(prefix="clrepro-") as mirror:
        for source in sources().values():
            if source.mirror and not source.url:
                (Path(mirror) / source.mirror).mkdir(parents=True, exist_ok=True)
        whole = Catalogue(catalogue.config.model_copy(update={"mirror": mirror}))
    more = tuple(run for run in whole.runs if run not in set(catalogue.runs))
    if more:
        names = dict.fromkeys(source.name for run in more for source in run.backbone.sources if not source.url)
        found.append(Part(f"not counted above, since no url leads to {', '.join(names)}", whole, more))
    return found
