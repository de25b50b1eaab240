"""Runs stages in forked children and ends them at chosen moments: 20 kills do not cost 20 imports of torch.

A request is a line of JSON on standard input, an answer one on standard output. Started by ``harness.Server``. The
parent never computes, so that its children may use threads and autograd as if they were fresh.

A moment is [kind, number]: the number-th call of a function ("calls"), the number-th operation on files ("files"), or
so many seconds ("seconds"). There the child is sent a signal, or its memory is limited to what it has.
"""

import contextlib
import functools
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import torch

import clrepro.ledger.claims
import clrepro.modalities.graph.embedding
import clrepro.modalities.graph.molecules.training
import clrepro.modalities.graph.molecules.work
import clrepro.modalities.graph.svm
import clrepro.modalities.graph.training
import clrepro.modalities.image.embedding
import clrepro.modalities.image.probes
import clrepro.modalities.image.training
import clrepro.modalities.sentence.embedding
import clrepro.modalities.sentence.sts_scores
import clrepro.modalities.sentence.training
import clrepro.modalities.sentence.transfer_scores
from clrepro import config as configuration
from clrepro import stages
from clrepro.catalogue import Catalogue
from clrepro.catalogue.jobs import Jobs
from clrepro.errors import Interrupted, UserError
from clrepro.evaluation.senteval.transfer import evaluate_transfer
from clrepro.ledger import Records
from clrepro.modalities.run import Run
from clrepro.report import html, tables
from clrepro.stages.evaluating import Asked
from clrepro.training import progress
from clrepro.workflow import manifest

ON_FILES = {"replace", "rename", "unlink", "remove", "fsync", "mkdir", "rmdir", "open", "link", "write", "truncate"}
SAVE_EVERY = 3  # steps, here


# which runs are meant, by the beginning of modality/backbone
KINDS = {"sentence": "sentence", "image": "image", "graph": "graph/GIN_NCI1", "molecules": "graph/GIN_molecules"}
# of which of them a job's evaluations are
EVALUATED = {"sts": "sentence", "transfer": "sentence", "features": "image", "svm": "graph", "molecules": "molecules"}


def chosen(catalogue: Catalogue, kind: str) -> list[Run]:
    """Two runs, as they would share a job."""
    trained = (run for run in catalogue.runs if run.objective)
    return [run for run in trained if f"{run.modality}/{run.backbone.key}".startswith(KINDS[kind])][:2]


def asked(catalogue: Catalogue, job: str, count: int = 2) -> list[tuple[Run, list[Asked]]]:
    """These runs with what one job evaluates of them, of at most so many."""
    found = []
    for run, parts in Jobs(catalogue).asked_of(chosen(catalogue, EVALUATED[job])[:count]):
        found.append((run, [one for one in parts if one.about.job == job]))
    return found


def features(catalogue: Catalogue, kind: str) -> Path:
    return catalogue.files.root / "features" / kind


# what the scripts of the rules do


def train(catalogue: Catalogue, kind: str) -> None:
    runs = chosen(catalogue, kind)
    stages.train(runs, catalogue.config)
    manifest.write(catalogue.files.manifest("train", kind), [file for run in runs for file in run.files])


def embed(catalogue: Catalogue, kind: str) -> None:
    stages.embed(chosen(catalogue, kind), catalogue.config, features(catalogue, kind))


def evaluate(catalogue: Catalogue, job: str, count: int = 2) -> None:
    runs = asked(catalogue, job, count)
    if runs[0][1][0].about.reads == "checkpoint":
        stages.evaluate_checkpoints(runs, catalogue.config)
    else:
        stages.evaluate(runs, catalogue.config, features(catalogue, EVALUATED[job]))
    manifest.write(catalogue.files.manifest(job, "few"), stages.evaluated_files(runs))


def collect(catalogue: Catalogue) -> None:
    records = Records()
    for table in catalogue.tables:
        tables.write(catalogue, table, records)
    html.write(catalogue)


STAGES = {
    **{f"train_{kind}": functools.partial(train, kind=kind) for kind in KINDS},
    **{f"embed_{kind}": functools.partial(embed, kind=kind) for kind in KINDS},
    **{job: functools.partial(evaluate, job=job, count=1 if job == "transfer" else 2) for job in EVALUATED},
    "collect": collect,
}


def prepare(catalogue: Catalogue) -> None:
    for source in catalogue.sources():
        stages.fetch(source, catalogue.config)
    for build in catalogue.builds():
        stages.prepare(build, catalogue.config)


def fault(about: dict, pipe: int, steps: dict) -> None:
    """What happens at the moment."""
    tell(pipe, told(steps))
    if about["fault"] == "memory":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used, resource.RLIM_INFINITY))
        torch.empty(1 << 28)  # more than what is free of it, as a step of a larger model would need
    else:
        os.kill(os.getpid(), getattr(signal, about["fault"]))


def arm(about: dict, pipe: int, counts: dict[str, int], steps: dict) -> None:
    """Count calls and operations on files, and strike at the moment."""
    kind, number = about["moment"] or (None, 0)
    if kind == "seconds":
        timer = threading.Timer(number, fault, (about, pipe, steps))
        timer.daemon = True
        timer.start()
        return

    def profile(frame, event: str, called) -> None:
        counts["calls"] += 1
        if event.startswith("c_") and called.__name__ in ON_FILES:
            counts["files"] += 1
            if kind == "files" and counts["files"] == number:
                fault(about, pipe, steps)
        if kind == "calls" and counts["calls"] == number:
            fault(about, pipe, steps)

    sys.setprofile(profile)


def follow_steps(steps: dict, about: dict, pipe: int) -> None:
    """Know at which step a training stands and from which it went on; save every third step."""
    begin, restore = progress.Progress.__init__, progress.Progress.restore

    def followed(self, *arguments) -> None:
        begin(self, *arguments)
        steps["now"] = self

    def restored(self, *arguments) -> None:
        restore(self, *arguments)
        steps["from"] = self.step

    progress.Progress.__init__, progress.Progress.restore = followed, restored

    def due(self) -> bool:
        if about["moment"] == ["step", self.step]:
            about["moment"] = None
            fault(about, pipe, steps)
        return self.step % SAVE_EVERY == 0

    progress.Progress.due = due


def tell(pipe: int, news: dict) -> None:
    """A line for the parent; a timer may strike after the work's own, so that there may be two."""
    os.write(pipe, (json.dumps(news) + "\n").encode())


def told(steps: dict) -> dict[str, int]:
    return {"step": steps["now"].step if "now" in steps else 0, "from": steps.get("from", 0)}


def work(about: dict, pipe: int) -> int:
    """One stage in this process; its exit code as the workflow's job would give it."""
    os.chdir(about["folder"])
    log = os.open("stage.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1), os.dup2(log, 2)
    torch.set_num_threads(1)
    counts, steps = {"calls": 0, "files": 0}, {}
    follow_steps(steps, about, pipe)
    if about.get("file_limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (about["file_limit"], resource.RLIM_INFINITY))
    # two tasks of seven: the others are the same loop again
    few = functools.partial(evaluate_transfer, tasks=("CR", "MRPC"))
    clrepro.modalities.sentence.transfer_scores.evaluate_transfer = few
    catalogue = Catalogue(configuration.load("demo", [Path("small.yaml")]))
    begun = time.monotonic()
    try:
        if about["stage"] == "prepare":
            prepare(catalogue)
        else:
            arm(about, pipe, counts, steps)
            STAGES[about["stage"]](catalogue)
    except UserError as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    except Interrupted as failure:
        print(failure, file=sys.stderr)
        return Interrupted.EXIT_CODE
    finally:
        sys.setprofile(None)
    seconds = time.monotonic() - begun
    modules = [] if about["moment"] else [name for name in sys.modules if "." in name and name != __name__]
    tell(pipe, {**told(steps), **counts, "seconds": seconds, "modules": modules})
    return 0


def serve() -> None:
    for line in sys.stdin:
        about = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            code = 70
            try:
                code = work(about, writing)
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            heard = pipe.read().splitlines()
        _, status = os.waitpid(child, 0)
        log = Path(about["folder"], "stage.log").read_text("utf-8", errors="replace")
        answer = {"code": os.waitstatus_to_exitcode(status), "told": json.loads(heard[-1]) if heard else {}, "log": log}
        for name in answer["told"].pop("modules", ()):  # what the next child would import again
            if name not in sys.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
