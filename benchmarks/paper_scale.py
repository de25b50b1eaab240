"""The schedule of the whole paper scale on 1, 8 and 64 GPUs, simulated from the real jobs, their prices and overheads.

    python benchmarks/paper_scale.py [--gpu H100] [--gpus 1 8 64] [--cores 64] [--latency 30] [--overhead 12]

Jobs and what they wait for are those of the catalogue of config/paper.yaml, without downloads. A job lasts as long as
its price on a named GPU (`clrepro plan`) says, and its start: --overhead (the two starts of Snakemake in an allocation,
docs/cluster.md) and what its stage imports (docs/benchmarks/startup.md). Jobs that have no price (preparing, tables,
figures) last as long as their start. From the moment when a job could start until a scheduler has it, --latency passes:
Snakemake looks at its jobs every 20 s, and submits. A job that meets its time limit saves its state two minutes before
it and is submitted again, with 2, 3 and 4 times the limit. GPU jobs use the CPU cores of their nodes; --cores are those
of the other jobs.

Printed for two orders of the waiting jobs: Snakemake's by priority (trainings, embeddings, then the order of the plan,
as on one machine; on a cluster all priorities are 0) and the longest first.
"""

import argparse
import heapq
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from clrepro.catalogue import Catalogue, cost, gpus
from clrepro.catalogue.jobs import Jobs
from clrepro.config import load

ATTEMPTS = 4  # one and the retries of the profiles
WARNING = 120.0  # seconds before its limit at which a job is asked to stop
# CPU seconds of imports and configuration, of the dearest modality (docs/benchmarks/startup.md)
STARTS = {"prepare": 1, "train": 9, "embed": 9, "evaluate": 3, "evaluate_checkpoint": 3, "table": 1, "figure": 2,
          "simulate": 1, "theory": 4, "grid": 1, "report": 3}  # fmt: skip
PRIORITIES = {"train": 2, "embed": 1, "evaluate_checkpoint": 1}
LOCAL = {"table", "figure", "grid", "report"}  # on two cores where Snakemake runs


@dataclass(frozen=True)
class Job:
    """One job of a rule. seconds: of work. start: seconds of each attempt before it. limit: seconds, of the first
    attempt. pool: what it takes, and amount of it. needs: names of the jobs that it waits for.
    """

    name: str
    rule: str
    seconds: float
    start: float = 0.0
    limit: float = float("inf")
    pool: str = "gpu"
    amount: int = 1
    needs: tuple[str, ...] = ()

    @property
    def attempts(self) -> list[float]:
        """How long each attempt holds what the job takes."""
        left, found = self.seconds, []
        for number in range(1, ATTEMPTS + 1):
            fits = self.start + left <= number * self.limit
            part = left if fits else number * self.limit - WARNING - self.start
            found.append(self.start + part)
            left -= part
            if fits:
                return found
        raise ValueError(f"{self.name} has {left / 3600:.1f} h of work left after {ATTEMPTS} attempts")


@dataclass(frozen=True)
class Schedule:
    makespan: float  # seconds
    busy: dict[str, float]  # seconds, by pool
    submissions: int


Order = Callable[[Job], float]


def by_priority(job: Job) -> float:
    return -PRIORITIES.get(job.rule, 0)


def longest_first(job: Job) -> float:
    return -job.seconds


def schedule(jobs: list[Job], pools: dict[str, int], latency: float, order: Order) -> Schedule:
    """Run the jobs: whenever something is free, the first waiting job that fits starts. latency: see above, seconds."""
    free, busy, submissions, now = dict(pools), Counter(), 0, 0.0
    missing = {job.name: len(job.needs) for job in jobs}
    waited_for, number = defaultdict(list), {job.name: place for place, job in enumerate(jobs)}
    for job in jobs:
        for need in job.needs:
            waited_for[need].append(job)
    waiting: dict[str, list] = {pool: [] for pool in pools}  # heaps of (order, place in the plan, job, attempt)
    events: list = []  # heap of (time, count, kind, job, attempt)

    def later(moment: float, kind: str, job: Job, attempt: int) -> None:
        heapq.heappush(events, (moment, len(taken), kind, job, attempt))
        taken.append(None)

    taken: list[None] = []  # as many as events so far, so that no two compare their jobs
    for job in jobs:
        if not job.needs:
            later(latency, "submitted", job, 0)
    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, _, kind, job, attempt = heapq.heappop(events)
            if kind == "submitted":
                submissions += 1
                heapq.heappush(waiting[job.pool], (order(job), number[job.name], attempt, job))
                continue
            free[job.pool] += job.amount
            if attempt + 1 < len(job.attempts):
                later(now + latency, "submitted", job, attempt + 1)
                continue
            for other in waited_for[job.name]:
                missing[other.name] -= 1
                if not missing[other.name]:
                    later(now + latency, "submitted", other, 0)
        for pool, queue in waiting.items():
            while queue and queue[0][3].amount <= free[pool]:
                _, _, attempt, job = heapq.heappop(queue)
                free[pool] -= job.amount
                busy[pool] += job.amount * job.attempts[attempt]
                later(now + job.attempts[attempt], "ended", job, attempt)
    return Schedule(now, dict(busy), submissions)


def jobs_of(catalogue: Catalogue, overhead: float) -> list[Job]:
    """The jobs of a catalogue in the order of the plan."""
    plan, work, files = Jobs(catalogue), catalogue.config.jobs, catalogue.files
    found: list[Job] = []
    maker: dict[str, str] = {}  # of each output

    def add(rule: str, outputs: list, inputs: list, hours: float = 0.0, **takes) -> None:
        name = str(outputs[0])
        start = STARTS[rule] + (0 if rule in LOCAL else overhead)
        needs = dict.fromkeys(maker[str(file)] for file in inputs if str(file) in maker)
        maker.update(dict.fromkeys(map(str, outputs), name))
        takes = {"pool": "local" if rule in LOCAL else "core", **takes}
        found.append(Job(name, rule, 3600 * hours, start, needs=tuple(needs), **takes))

    on_gpu = {"pool": "gpu", "amount": work.gpus * work.processes, "limit": 60.0 * work.runtime_minutes}
    for build in plan.builds.values():
        add("prepare", [build.manifest], [], amount=work.threads)
    for name, bundle in plan.bundles.items():
        price = cost.of_runs(catalogue, bundle.runs)
        trained, features = files.manifest("train", name), f"features/{name}"
        add("train", [trained], plan.training_inputs(name), price.training, **on_gpu)
        asked = {one.job: one.reads for run in bundle.runs for one in catalogue.evaluations(run)}
        if "features" in asked.values():
            add("embed", [features], [trained], price.embedding, **on_gpu)
        for job, reads in asked.items():
            pairs = plan.asked(name, job)
            about = dict.fromkeys((run, one.about) for run, parts in pairs for one in parts)
            price = sum((run.plan.cost_of(catalogue.config, run, one) for run, one in about), cost.Cost())
            if reads == "features":
                threads = work.threads if plan.evaluation_resources(name, job).threads else 1
                add("evaluate", [files.manifest(job, name)], [features], price.probing, amount=threads)
            else:
                takes = {**on_gpu, "limit": 60.0 * plan.checkpoint_minutes(job)}
                inputs = plan.checkpoint_inputs(job, name)
                add("evaluate_checkpoint", [files.manifest(job, name)], inputs, price.hours, **takes)
    for table in catalogue.tables:
        if table.runs:
            add("table", files.of_table(table), plan.table_inputs(table))
    for figure in catalogue.figures:
        add("figure", files.of_figure(figure), plan.figure_inputs(figure))
    for name, runs in catalogue.grids.items():
        add("grid", [files.grid(name)], plan.trained(runs))
    for simulation in catalogue.simulations:
        add("simulate", list(simulation.files), [])
    add("theory", list(files.theory), [])
    add(
        "report",
        list(files.report),
        [job.name for job in found if job.rule in ("table", "figure", "simulate", "theory")],
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", nargs="+", type=int, default=[1, 8, 64])
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--latency", type=float, default=30, help="seconds from a job's last input to the scheduler")
    parser.add_argument("--overhead", type=float, default=12, help="seconds of Snakemake at the start of a job")
    parser.add_argument("--gpu", default="H100", choices=gpus.DATASHEETS)
    asked = parser.parse_args()
    catalogue = Catalogue(
        load("paper").model_copy(update={"hardware": gpus.gpu(asked.gpu).model_copy(update={"memory_gb": None})})
    )
    jobs = jobs_of(catalogue, asked.overhead)
    work, longest = sum(job.seconds for job in jobs if job.pool == "gpu"), max(job.seconds for job in jobs)
    print(f"{len(jobs)} jobs; {work / 3600:.0f} h of work on a GPU ({catalogue.config.hardware.name}), the longest job "
          f"{longest / 3600:.1f} h\n")  # fmt: skip
    print("| GPUs | order | makespan, h | work / GPUs, h | GPUs idle | GPUs in starts | submissions |"
          "\n|---:|---|---:|---:|---:|---:|---:|")  # fmt: skip
    for count in asked.gpus:
        for name, order in {"priority": by_priority, "longest first": longest_first}.items():
            done = schedule(jobs, {"gpu": count, "core": asked.cores, "local": 2}, asked.latency, order)
            whole = count * done.makespan
            idle, starts = 1 - done.busy["gpu"] / whole, (done.busy["gpu"] - work) / whole
            print(f"| {count} | {name} | {done.makespan / 3600:.2f} | {work / count / 3600:.2f} | {idle:.1%} "
                  f"| {starts:.1%} | {done.submissions} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
