"""A SLURM of one machine, from Debian's packages, for tests: real daemons, pretended CPUs and GPUs.

Needs root and the packages slurmctld, slurmd, slurm-client and munge. Everything lies in one temporary folder, the
key and the configuration included; nothing under /etc is touched, and a SLURM that is there already is left alone.
"""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
# no cgroups: processes are followed through /proc and memory is sampled; no database: ended jobs stay in squeue
CONFIGURATION = """
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
MinJobAge=3600
KillWait=15
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ReturnToService=2
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:{gpus} State=UNKNOWN
PartitionName=gpu Nodes={host} MaxTime=3-0 State=UP
PartitionName=cpu Nodes={host} MaxTime=3-0 State=UP Default=YES
PartitionName=short Nodes={host} MaxTime=2:00:00 State=UP
"""


def missing() -> list[str]:
    """The programs that are not installed."""
    return [program for program in PROGRAMS if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]


def install() -> None:
    """Install what is missing from Debian's packages; raises CalledProcessError where that fails."""
    if missing():
        quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = ["slurmctld", "slurmd", "slurm-client", "munge"]
        for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", *command], check=True, env=quietly, capture_output=True, text=True)


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


class LocalSlurm:
    """``with LocalSlurm() as slurm``: three daemons run, ``slurm.environment`` makes commands talk to them."""

    def __init__(self, cpus: int = 4, gpus: int = 2, memory: int = 16000):
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        # the executor's plugin hides SLURM_CONF from srun inside jobs
        (self.folder / "bin").mkdir()
        wrapper = self.folder / "bin/srun"
        wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
        wrapper.chmod(0o755)
        self.environment["PATH"] = f"{self.folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin"
        host = socket.gethostname().split(".")[0]
        values = dict(host=host, folder=self.folder, ports=free_ports(2), cpus=cpus, gpus=gpus, memory=memory)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(**values))
        devices = [self.folder / f"gpu{number}" for number in range(gpus)]
        for device in devices:  # SLURM wants a character device of its own for every GPU; a copy of /dev/null is one
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        lines = "".join(f"NodeName={host} Name=gpu File={device}\n" for device in devices)
        (self.folder / "gres.conf").write_text(lines)

    def __enter__(self) -> "LocalSlurm":
        folder = self.folder
        folder.chmod(0o755)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o400)
        files = {name: f"--{name}-file={folder}/munged.{name}" for name in ("pid", "log", "seed")}
        key = f"--key-file={folder}/munge.key"
        try:
            self.run("munged", "--force", f"--socket={folder}/munge.socket", key, *files.values())
            self.run("slurmctld", "-c", "-f", f"{folder}/slurm.conf")
            self.run("slurmd", "-c", "-f", f"{folder}/slurm.conf")
            for _ in range(60):
                if {"idle"} == set(self.ask("sinfo", "--noheader", "--format=%T").split()):
                    return self
                time.sleep(0.5)
            logs = "".join(f"{file.name}:\n{file.read_text()[-2000:]}" for file in sorted(folder.glob("*.log")))
            raise RuntimeError(f"SLURM did not come up within 30 s\n{logs}")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_) -> None:
        subprocess.run(["scancel", "--full", "--state=PENDING", "--state=RUNNING"], env=self.environment)
        for name in ("slurmd", "slurmctld", "munged"):
            self.end(self.folder / f"{name}.pid", name)
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def end(file: Path, name: str) -> None:
        """End the daemon of a pid file, if that is still the process that wrote it."""

        def running() -> bool:
            try:
                return Path(f"/proc/{pid}/comm").read_text().strip() == name
            except OSError:
                return False

        if not file.is_file():
            return
        pid = int(file.read_text())
        for number in (signal.SIGTERM, signal.SIGKILL):
            if running():
                os.kill(pid, number)
            for _ in range(100):
                if not running():
                    return
                time.sleep(0.1)

    def run(self, *command: str) -> None:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")

    def ask(self, *command: str) -> str:
        """What a command of SLURM prints; empty where the daemons do not answer."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def jobs(self) -> list[dict[str, str]]:
        """All jobs since the start: id, comment (their rule), state, mem, time limit, partition."""
        keys = ("id", "comment", "state", "memory", "limit", "partition", "gpus")
        form = "%i|%k|%T|%m|%l|%P|%b"
        lines = self.ask("squeue", "--noheader", "--states=all", "--sort=i", f"--format={form}").splitlines()
        return [dict(zip(keys, (part.strip() for part in line.split("|")), strict=True)) for line in lines]


def main() -> None:
    """Install what is missing; exit code 1 where this machine cannot run SLURM."""
    if os.geteuid() != 0:
        sys.exit("SLURM's daemons need root")
    try:
        install()
    except (OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"SLURM cannot be installed: {failure}")


if __name__ == "__main__":
    main()
