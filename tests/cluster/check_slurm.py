"""The workflow on a real SLURM, with everything that happens to jobs there.

    python tests/cluster/check_slurm.py

Starts SLURM on this machine (local_slurm.py: root, Debian's packages), runs small targets of the demo by
``--workflow-profile profiles/slurm`` and lets trainings meet three fates: one is given too little memory and killed for
it, one reaches its time limit, two (of sentences, of graphs) are cancelled by hand. All must end in finished results,
the one with the time limit in the very weights of a training that nobody disturbed. Takes a few minutes; ends with a
summary and exit code 0, or with what is wrong.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from local_slurm import LocalSlurm, install

from clrepro.catalogue import Catalogue
from clrepro.catalogue.jobs import Jobs
from clrepro.config import load
from clrepro.paths import ROOT, read_json

SMALL = ROOT / "tests/cluster/small.yaml"
TARGETS = ["nie2023_figure_1b", "nie2023_figure_1c"]
MEMORY, LIMIT = "infonce", "mhe"  # whose training meets which fate
CANCELLED = ("align_uniform", "macl")  # sentences, graphs
PATIENCE = 3600  # seconds
# what a test machine needs differently: no accounting, no accounts, and no waiting
OVERLAY = [
    "--slurm-status-command=squeue",
    "--slurm-no-account",
    "--slurm-init-seconds-before-status-checks=3",
    "--seconds-between-status-checks=3",
    "--latency-wait=5",
]


def check(holds: bool, what: str, detail: object = "") -> None:
    if not holds:
        sys.exit(f"FAILED: {what}\n{detail}")
    print(f"  ok: {what}", flush=True)


class Trial:
    """One run of the workflow, and what is done to its jobs."""

    def __init__(self, slurm: LocalSlurm, folder: Path):
        self.slurm, self.folder = slurm, folder
        jobs = Jobs(Catalogue(load("demo", [SMALL])))
        bundles = {bundle.runs[0].group: bundle for bundle in jobs.bundles.values()}
        self.runs = {group: bundles[group].runs[0] for group in (MEMORY, LIMIT, *CANCELLED)}
        self.bundles = {group: bundles[group].name for group in self.runs}
        self.jobs = {group: f"train {name}" for group, name in self.bundles.items()}
        wanted = (("train", LIMIT), ("sts", MEMORY), ("svm", CANCELLED[1]))
        files = [jobs.files.manifest(stage, self.bundles[group]) for stage, group in wanted]
        self.targets = [*TARGETS, *map(str, files)]

    def snakemake(self, *arguments: str) -> list[str]:
        files = ["--configfile", str(ROOT / "config.yaml"), str(SMALL)]
        return [sys.executable, "-m", "snakemake", *self.targets, "-s", str(ROOT / "Snakefile"), *files, *arguments]

    def start(self, output) -> subprocess.Popen:
        profile = ["--workflow-profile", str(ROOT / "profiles/slurm")]
        # one rule trains all: its wildcard tells for whom the memory is too little
        memory = f"(700 if wildcards.bundle == '{self.bundles[MEMORY]}' else 1500) * attempt"
        command = self.snakemake(*profile, *OVERLAY, "--set-resources", f"train:mem_mb={memory}")
        return subprocess.Popen(command, cwd=self.folder, env=self.slurm.environment, stdout=output, stderr=output)

    def under_way(self, group: str) -> bool:
        """Whether a training runs; the one that meets the time limit, whether it has got somewhere as well."""
        run = self.runs[group]
        if group == LIMIT:
            return any(self.folder.glob(f"state/demo/{run.hash8}-seed{run.seed}-*/best-*"))
        return any(job["state"] == "RUNNING" for job in self.attempts()[self.jobs[group]])

    def minutes(self, job: str) -> int:
        """Whole minutes that a job has been running."""
        elapsed = self.slurm.ask("squeue", "--noheader", f"--jobs={job}", "--format=%M").strip()
        return int(elapsed.split(":")[-2])

    def attempts(self) -> dict[str, list[dict[str, str]]]:
        """The SLURM jobs of every job of the workflow, by its rule and wildcards, in their order."""
        found = defaultdict(list)
        for job in self.slurm.jobs():
            found[" ".join(rule_of(job))].append(job)
        return found

    def disturb(self, process: subprocess.Popen) -> None:
        """Wait for the end; on the way cancel one training and shorten the time of another."""
        started, open_fates = time.monotonic(), {LIMIT, *CANCELLED}
        while process.poll() is None:
            if time.monotonic() - started > PATIENCE:
                process.terminate()
                sys.exit(f"FAILED: the workflow did not end within {PATIENCE} s\n{self.slurm.ask('squeue', '--long')}")
            for group in sorted(open_fates):
                if self.under_way(group):
                    job = self.attempts()[self.jobs[group]][0]["id"]
                    if group in CANCELLED:
                        self.slurm.run("scancel", job)
                    else:
                        self.slurm.run("scontrol", "update", f"jobid={job}", f"timelimit={self.minutes(job) + 2}")
                    open_fates.remove(group)
                    fate = "cancelled" if group in CANCELLED else "left with one to two minutes"
                    print(f"  {group}: {fate}", flush=True)
            time.sleep(0.5)


def undisturbed(folder: Path) -> subprocess.Popen:
    """The training that meets the time limit, on its own and in one go."""
    command = [sys.executable, "-m", "clrepro.cli", "train", "--configfile", str(SMALL), "--objective", LIMIT]
    folder.mkdir()
    with open(folder / "log", "w") as output:
        return subprocess.Popen([*command, "--no-evaluate"], cwd=folder, stdout=output, stderr=output)


def rule_of(job: dict[str, str]) -> tuple[str, str]:
    """(rule, wildcards) of a job, whose comment the plugin makes of them."""
    rule, _, wildcards = job["comment"].removeprefix("rule_").partition("_wildcards_")
    return rule, wildcards


def log_of(folder: Path, job: dict[str, str]) -> str:
    rule, wildcards = rule_of(job)
    return (folder / "logs/slurm" / f"rule_{rule}" / wildcards / f"{job['id']}.log").read_text()


def verify(trial: Trial, alone: Path) -> None:
    attempts, trained = trial.attempts(), trial.jobs
    states = {name: [job["state"] for job in jobs] for name, jobs in attempts.items()}
    first, second = attempts[trained[MEMORY]]
    check(
        first["state"] in ("FAILED", "OUT_OF_MEMORY", "CANCELLED") and second["state"] == "COMPLETED",
        f"killed for memory with {first['memory']} and finished with {second['memory']}",
        states,
    )
    check((first["memory"], second["memory"]) == ("700M", "1400M"), "the retry asked for twice the memory", states)
    text = (trial.slurm.folder / "slurmd.log").read_text()
    check(f"StepId={first['id']}" in text and "memory limit" in text, "SLURM says that it was the memory", text[-3000:])

    for group in CANCELLED:
        first, second = attempts[trained[group]]
        ends = (first["state"], second["state"])
        check(ends == ("CANCELLED", "COMPLETED"), f"{group}: cancelled by hand and finished", states)

    first, second = attempts[trained[LIMIT]]
    text = log_of(trial.folder, first)
    stopped = re.search(r"stopped at step (\d+) of (\d+); the state is saved", text)
    check(bool(stopped), f"{LIMIT}: the warning before the time limit reached the training, which saved", text[-3000:])
    step, total = map(int, stopped.groups())
    check(0 < step < total, f"it stopped at step {step} of {total}")
    check((first["state"], second["state"]) == ("FAILED", "COMPLETED"), "it ended by itself, and its retry", states)
    check(second["limit"] == "20:00", f"the retry asked for twice the time, {second['limit']}", second)
    log = (trial.folder / "logs/demo/train" / f"{trial.bundles[LIMIT]}.log").read_text()
    steps = [int(found) for found in re.findall(r"step (\d+)/", log)]
    check(min(steps) > step, f"the retry went on from there: its first evaluation is at step {min(steps)}", log)
    records = [read_json(folder / trial.runs[LIMIT].record) for folder in (trial.folder, alone)]
    same = [{key: record[key] for key in ("identity", "code", "steps", "best_step", "history")} for record in records]
    check(same[0] == same[1], "losses and scores of all its steps are those of the training that nobody disturbed")
    hashes = [record["model"]["sha256"] for record in records]
    check(hashes[0] == hashes[1], f"and so are the weights, to the bit: sha256 {hashes[0][:16]}", hashes)

    others = {name: jobs for name, jobs in states.items() if name not in trained.values()}
    check(
        others and all(jobs == ["COMPLETED"] for jobs in others.values()),
        f"{len(others)} other jobs, each once",
        others,
    )
    # an evaluation's rule serves all stages: its first wildcard is the stage
    kinds = {name: re.sub(r"^evaluate ([a-z]+)_.*", r"\1", name).split()[0] for name in attempts}
    partitions = {kinds[name]: {job["partition"] for job in jobs} for name, jobs in attempts.items()}
    expected = {"prepare": "short", "train": "gpu", "embed": "gpu", "sts": "short", "svm": "cpu"}
    check(
        partitions == {kind: {partition} for kind, partition in expected.items()},
        "trainings and embeddings were in the partition gpu, STS in short, SVMs in cpu, downloads and figures ran here",
        partitions,
    )
    check((trial.folder / "results/demo/figures/nie2023/figure_1b.svg").is_file(), "the figures are there")


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # and the daemons with it
    install()
    folder = Path(tempfile.mkdtemp(prefix="clrepro-slurm-"))
    print(f"SLURM trial in {folder}", flush=True)
    started = time.monotonic()
    with LocalSlurm() as slurm:
        trial = Trial(slurm, folder)
        print(f"  SLURM runs, {time.monotonic() - started:.1f} s", flush=True)
        alone = undisturbed(folder / "alone")
        with open(folder / "snakemake.log", "w") as output:
            process = trial.start(output)
        try:
            trial.disturb(process)
        except BaseException:
            for one in (process, alone):
                one.kill()
            raise
        log = (folder / "snakemake.log").read_text()
        print(slurm.ask("squeue", "--states=all", "--sort=i", "--format=%.5i %.9P %.10T %.6m %.9l %.9M %k"), flush=True)
        check(process.returncode == 0, "the workflow finished", log[-6000:])
        check(alone.wait() == 0, "the training beside it finished", (folder / "alone/log").read_text()[-2000:])
        verify(trial, folder / "alone")
        again = subprocess.run(trial.snakemake("-n"), cwd=folder, capture_output=True, text=True)
        check("Nothing to be done" in again.stdout + again.stderr, "a second run has nothing to do", again.stdout)
        count = len(slurm.jobs())
    shutil.rmtree(folder)
    print(f"PASSED: {count} SLURM jobs, four of them repeats, in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
