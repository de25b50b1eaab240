"""The workflow on a real SLURM, with everything that happens to jobs there.

    python tests/cluster/check_slurm.py

Starts SLURM on this machine (local_slurm.py: root, Debian's packages), runs small targets of the demo by
``--workflow-profile profiles/slurm`` and lets three trainings meet three fates: one is given too little memory and
killed for it, one reaches its time limit, one is cancelled by hand. All must end in finished results, the one with the
time limit in the very weights of a training that nobody disturbed. Takes a few minutes; ends with a summary and exit
code 0, or with what is wrong.
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
from clrepro.config import load
from clrepro.paths import ROOT, read_json

SMALL = ROOT / "tests/cluster/small.yaml"
TARGETS = ["nie2023_figure_1b", "nie2023_figure_1c"]
MEMORY, LIMIT, CANCEL = "infonce", "mhe", "align_uniform"  # whose training meets which fate
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
        bundles = {bundle.runs[0].group: bundle for bundle in Catalogue(load("demo", [SMALL])).bundles()}
        self.runs = {group: bundles[group].runs[0] for group in (MEMORY, LIMIT, CANCEL)}
        self.rules = {group: f"train_{bundles[group].name}" for group in self.runs}
        self.targets = [*TARGETS, self.rules[LIMIT], f"sts_{bundles[MEMORY].name}"]

    def snakemake(self, *arguments: str) -> list[str]:
        files = ["--configfile", str(ROOT / "config.yaml"), str(SMALL)]
        return [sys.executable, "-m", "snakemake", *self.targets, "-s", str(ROOT / "Snakefile"), *files, *arguments]

    def start(self, output) -> subprocess.Popen:
        profile = ["--workflow-profile", str(ROOT / "profiles/slurm")]
        too_little = ["--set-resources", f"{self.rules[MEMORY]}:mem_mb=700*attempt"]
        command = self.snakemake(*profile, *OVERLAY, *too_little)
        return subprocess.Popen(command, cwd=self.folder, env=self.slurm.environment, stdout=output, stderr=output)

    def under_way(self, group: str) -> bool:
        """Whether a training runs; the one that meets the time limit, whether it has got somewhere as well."""
        run = self.runs[group]
        if group == LIMIT:
            return any(self.folder.glob(f"state/demo/{run.hash8}-seed{run.seed}-*/best-*"))
        return any(job["state"] == "RUNNING" for job in self.attempts()[self.rules[group]])

    def minutes(self, job: str) -> int:
        """Whole minutes that a job has been running."""
        elapsed = self.slurm.ask("squeue", "--noheader", f"--jobs={job}", "--format=%M").strip()
        return int(elapsed.split(":")[-2])

    def attempts(self) -> dict[str, list[dict[str, str]]]:
        """The SLURM jobs of every rule, in their order."""
        found = defaultdict(list)
        for job in self.slurm.jobs():
            found[job["comment"].removeprefix("rule_")].append(job)
        return found

    def disturb(self, process: subprocess.Popen) -> None:
        """Wait for the end; on the way cancel one training and shorten the time of another."""
        started, open_fates = time.monotonic(), {LIMIT, CANCEL}
        while process.poll() is None:
            if time.monotonic() - started > PATIENCE:
                process.terminate()
                sys.exit(f"FAILED: the workflow did not end within {PATIENCE} s\n{self.slurm.ask('squeue', '--long')}")
            for group in sorted(open_fates):
                if self.under_way(group):
                    job = self.attempts()[self.rules[group]][0]["id"]
                    if group == CANCEL:
                        self.slurm.run("scancel", job)
                    else:
                        self.slurm.run("scontrol", "update", f"jobid={job}", f"timelimit={self.minutes(job) + 2}")
                    open_fates.remove(group)
                    print(
                        f"  {group}: {'cancelled' if group == CANCEL else 'left with one to two minutes'}", flush=True
                    )
            time.sleep(0.5)


def undisturbed(folder: Path) -> subprocess.Popen:
    """The training that meets the time limit, on its own and in one go."""
    command = [sys.executable, "-m", "clrepro.cli", "train", "--configfile", str(SMALL), "--objective", LIMIT]
    folder.mkdir()
    with open(folder / "log", "w") as output:
        return subprocess.Popen([*command, "--no-evaluate"], cwd=folder, stdout=output, stderr=output)


def log_of(folder: Path, job: dict[str, str]) -> str:
    return (folder / "logs/slurm" / job["comment"] / f"{job['id']}.log").read_text()


def verify(trial: Trial, alone: Path) -> None:
    attempts, rules = trial.attempts(), trial.rules
    states = {rule: [job["state"] for job in jobs] for rule, jobs in attempts.items()}
    first, second = attempts[rules[MEMORY]]
    check(
        first["state"] in ("FAILED", "OUT_OF_MEMORY", "CANCELLED") and second["state"] == "COMPLETED",
        f"killed for memory with {first['memory']} and finished with {second['memory']}",
        states,
    )
    check((first["memory"], second["memory"]) == ("700M", "1400M"), "the retry asked for twice the memory", states)
    text = (trial.slurm.folder / "slurmd.log").read_text()
    check(f"StepId={first['id']}" in text and "memory limit" in text, "SLURM says that it was the memory", text[-3000:])

    first, second = attempts[rules[CANCEL]]
    check(first["state"] == "CANCELLED" and second["state"] == "COMPLETED", "cancelled by hand and finished", states)

    first, second = attempts[rules[LIMIT]]
    text = log_of(trial.folder, first)
    stopped = re.search(r"stopped at step (\d+) of (\d+); the state is saved", text)
    check(bool(stopped), f"{LIMIT}: the warning before the time limit reached the training, which saved", text[-3000:])
    step, total = map(int, stopped.groups())
    check(0 < step < total, f"it stopped at step {step} of {total}")
    check((first["state"], second["state"]) == ("FAILED", "COMPLETED"), "it ended by itself, and its retry", states)
    check(second["limit"] == "20:00", f"the retry asked for twice the time, {second['limit']}", second)
    log = (trial.folder / "logs/demo/train" / f"{rules[LIMIT].removeprefix('train_')}.log").read_text()
    steps = [int(found) for found in re.findall(r"step (\d+)/", log)]
    check(min(steps) > step, f"the retry went on from there: its first evaluation is at step {min(steps)}", log)
    records = [read_json(folder / trial.runs[LIMIT].record) for folder in (trial.folder, alone)]
    same = [{key: record[key] for key in ("identity", "code", "steps", "best_step", "history")} for record in records]
    check(same[0] == same[1], "losses and scores of all its steps are those of the training that nobody disturbed")
    hashes = [record["model"]["sha256"] for record in records]
    check(hashes[0] == hashes[1], f"and so are the weights, to the bit: sha256 {hashes[0][:16]}", hashes)

    others = {rule: jobs for rule, jobs in states.items() if rule not in rules.values()}
    check(
        others and all(jobs == ["COMPLETED"] for jobs in others.values()),
        f"{len(others)} other jobs, each once",
        others,
    )
    check(not any(rule.startswith(("fetch", "nie2023")) for rule in states), "downloads and figures ran here", states)
    stages = {rule.split("_")[0]: jobs[0]["partition"] for rule, jobs in attempts.items()}
    check(
        stages["train"] == stages["embed"] == "gpu" and stages["sts"] == "short",
        "trainings and embeddings were in the partition gpu, STS in short",
        stages,
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
    print(f"PASSED: {count} SLURM jobs, three of them repeats, in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
