"""What Snakemake and the start of a job cost, and which share of a scale that is.

    python benchmarks/overhead.py              the dry run, and jobs of the local executor
    python benchmarks/overhead.py --slurm      jobs through SLURM as well: the cluster that is there, or one of its own

The whole workflow of the scale is parsed, as for every real job, and jobs that do nothing are added to it: they read
the configuration and build the catalogue as all scripts do, and write one empty file. The local executor's cost is the
time that one more such job takes; SLURM's is how long such a job holds its allocation, which for a training is a GPU.
What a stage imports (PyTorch, 4 s of CPU) is not Snakemake's and not counted. A busy machine makes all of it longer:
times are of the wall clock, with the user CPU time beside them where it can be told apart.
"""

import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from clrepro.catalogue import Catalogue, cost
from clrepro.catalogue.jobs import Jobs
from clrepro.config import load
from clrepro.paths import ROOT

FILES = {"demo": "config.yaml", "bench": "config/bench.yaml", "paper": "config/paper.yaml"}
# where Snakemake runs
LOCAL = ("fetch", "generate", "table", "printed_tables", "figure", "grid", "report")
# the workflow behind these jobs: it checks the targets that it is asked for against the rules that are there
SNAKEFILE = """
for number in range(100):

    rule:
        name:
            f"empty_{{number}}"
        output:
            f"empty/{{number}}",
        log:
            f"logs/empty/{{number}}.log",
        resources:
            mem_mb=500,
            runtime=5,
        script:
            "empty.py"


include: "{root}/Snakefile"
"""
SCRIPT = """
from pathlib import Path

from clrepro.stages.job import job

with job(snakemake):
    Path(snakemake.output[0]).touch()
"""
RUNS_IN_JOBS = (1, 2, 4)


class Bench:
    """A working directory with the workflow of a scale and empty jobs."""

    def __init__(self, folder: Path, scale: str):
        self.folder, self.config = folder, ROOT / FILES[scale]
        (folder / "Snakefile").write_text(SNAKEFILE.format(root=ROOT))
        (folder / "empty.py").write_text(SCRIPT)

    def run(self, *arguments: str, environment: dict | None = None) -> tuple[float, float]:
        """Run Snakemake; (wall seconds, user CPU seconds with those of its children)."""
        command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", str(self.config), "--nolock"]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        return time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def local(self, few: int = 2, many: int = 12) -> tuple[float, float]:
        """What one more job costs: (wall seconds, user CPU seconds)."""
        took = [self.run(*names(range(count)), "--cores", "1", "--forceall") for count in (few, many)]
        return tuple((long - short) / (many - few) for short, long in zip(*took, strict=True))

    def slurm(self, count: int) -> list[float]:
        """How long each of some empty jobs held its allocation, one after the other."""
        sys.path.insert(0, str(ROOT / "tests/cluster"))
        from local_slurm import LocalSlurm, install

        here = subprocess.run("command -v sinfo && sinfo", shell=True, capture_output=True).returncode == 0
        if not here:
            install()
        with nullcontext() if here else LocalSlurm() as own:
            environment = own.environment if own else None
            profile = ["--workflow-profile", str(ROOT / "profiles/slurm"), "--jobs=1", "--latency-wait=5"]
            quick = ["--slurm-init-seconds-before-status-checks=3", "--seconds-between-status-checks=3"]
            accounting = ["--slurm-status-command", "squeue", "--slurm-no-account"] if own else []
            self.run(*names(range(50, 50 + count)), *profile, *quick, *accounting, environment=environment)
            asked = ["squeue", "--states=all", "--noheader", "--format=%k %S %e"]
            listed = subprocess.run(asked, env=environment, capture_output=True, text=True).stdout
        spans = re.findall(r"^rule_empty_\d+ (\S+) (\S+)$", listed, re.M)
        return [seconds(end) - seconds(start) for start, end in spans]


def names(numbers) -> list[str]:
    return [f"empty_{number}" for number in numbers]


def seconds(moment: str) -> float:
    return time.mktime(time.strptime(moment, "%Y-%m-%dT%H:%M:%S"))


def share(scale: str, cluster: float, local: float) -> None:
    """Print what the jobs of a scale cost, beside the hours of its trainings and embeddings."""
    config = load(scale)
    hardware, one_gpu = config.hardware, None
    print(f"\n{'runs in a job':<16}{'jobs':>7}{'on nodes':>10}{'overhead':>12}{'trainings':>12}{'share':>8}")
    for runs in RUNS_IN_JOBS:
        catalogue = Catalogue(config.model_copy(update={"jobs": config.jobs.model_copy(update={"runs": runs})}))
        jobs = Jobs(catalogue).counts
        total = sum(jobs.values())
        nodes = total - sum(jobs.get(rule, 0) for rule in LOCAL)
        hours = (nodes * cluster + (total - nodes) * local) / 3600
        work = cost.of_runs(catalogue, catalogue.runs).hours
        one_gpu = one_gpu or (jobs, hours, work)
        percent = 100 * hours / (hours + work)
        print(f"{runs:<16}{total:>7}{nodes:>10}{hours:>10.1f} h{work:>10.0f} h{percent:>7.2f}%")
    jobs, hours, work = one_gpu
    print("one run a job: " + ", ".join(f"{rule} {count}" for rule, count in jobs.items()))
    print(f"Trainings are priced for {hardware.name}, {hardware.teraflops:g} TFLOP/s; on GPUs up to")
    print(
        f"{hardware.teraflops * 0.03 / 0.97 * work / hours:.0f} TFLOP/s the share with one run a job stays below 3 %."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", choices=FILES, default="paper")
    parser.add_argument("--slurm", action="store_true", help="also through SLURM")
    parser.add_argument("--jobs", type=int, default=5, help="empty jobs through SLURM")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clrepro-overhead-") as folder:
        bench = Bench(Path(folder), given.scale)
        wall, user = bench.run("all", "-n", "--quiet", "all")
        print(f"dry run of the whole {given.scale} scale: {wall:.1f} s, {user:.1f} s of user CPU")
        local, user = bench.local()
        print(f"a job, local executor: {local:.2f} s, {user:.2f} s of user CPU")
        cluster = 0.0
        if given.slurm:
            spans = bench.slurm(given.jobs)
            cluster = statistics.mean(spans)
            extremes = f"{min(spans):.0f} to {max(spans):.0f} s"
            print(f"a job, SLURM: holds its allocation for {cluster:.1f} s (mean of {len(spans)}, {extremes})")
    share(given.scale, cluster or local, local)


if __name__ == "__main__":
    main()
