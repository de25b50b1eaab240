# The plan, and what several rules share. Every rule does one kind of work; its wildcards name the job.
import re

from snakemake.exceptions import WorkflowError

from clrepro import stages
from clrepro.catalogue import Catalogue, papers
from clrepro.catalogue.jobs import Jobs
from clrepro.config import parse as checked_config  # Snakemake has a parse of its own
from clrepro.errors import UserError
from clrepro.objectives import NAMES
from clrepro.paths import digest
from clrepro.workflow import fingerprint, manifest, placement, records, start, targets

LOST = {}  # what finished jobs have made and what is gone or overwritten, by the output that vouches for it

try:
    CATALOGUE = Catalogue(checked_config(config))
    JOBS = Jobs(CATALOGUE)
    if workflow.is_main_process:
        TARGETS = targets.requested()
        CATALOGUE.check_inputs(CATALOGUE.runs_of(TARGETS))
        SCALE, LOST = CATALOGUE.config.scale, JOBS.lost
        if workflow.output_settings.dryrun:
            records.tell_waiting(SCALE)
        else:
            RUN = start.begin()  # what a killed run left behind: its lock now, its jobs before the first of ours
            if records.load(SCALE):
                stages.adopt(CATALOGUE.runs)
            records.forget(LOST)
            manifest.forget(LOST)
            LOST = {}
except UserError as failure:
    raise WorkflowError(str(failure)) from None

CONFIG = CATALOGUE.config
GPUS = placement.slots(CONFIG) if workflow.is_main_process and workflow.local_exec else 0
if GPUS:  # a job that would only wait for a GPU takes no core
    workflow.global_resources.setdefault("gpu", GPUS)
FILES = CATALOGUE.files
WORK = CONFIG.jobs
ROOT = f"results/{CONFIG.scale}"
LOGS = f"logs/{CONFIG.scale}"
BENCHMARKS = f"{LOGS}/benchmarks"
TABLES = {f"{table.paper}/{table.name}": table for table in CATALOGUE.tables if table.runs}
PRINTED = {  # tables that no runs fill
    paper: [table for table in CATALOGUE.tables if table.paper == paper and not table.runs] for paper in CONFIG.papers
}


wildcard_constraints:
    paper="[^/]+",
    name="[^/]+",
    bundle="[^/]+",


def cores(threads):
    """CPU cores of a job with a GPU: one where jobs share this machine's.

    If it needed several, jobs on the CPU would take each as it comes free, and the GPU would wait for the last of them.
    """
    return 1 if GPUS else threads


def evaluation_cores(bundle, job):
    """CPU cores of an evaluation of features, most of which need one and no GPU."""
    if not JOBS.evaluation_resources(bundle, job).threads:
        return 1
    return cores(WORK.threads) if JOBS.evaluation_uses_gpu(bundle, job) else WORK.threads


def grown(amount):
    """Memory or time of a job: what was not enough is asked for once, twice, three times as much."""
    return lambda wildcards, attempt: (amount(wildcards) if callable(amount) else amount) * attempt


def lost(output):
    """What is gone of a finished job's files; asked by wildcards, as Snakemake compares no parameter that takes more."""
    return LOST.get(str(output), [])


def one_of(names):
    """A wildcard's constraint: one of these names, or nothing at all."""
    return "|".join(map(re.escape, names)) or "none"


def shown(path):
    """A file that Snakemake's own report shows, under its paper; its wildcard {part} is paper/name."""
    return report(
        path,
        category=lambda wildcards: wildcards.part.split("/")[0],
        labels=lambda wildcards: {"part": wildcards.part.split("/")[1]},
    )


def paper_of(wildcards):
    return wildcards.part.split("/")[0]


def tables_of(wanted):
    """The tables of papers: their files, or what says that those without runs are written."""
    files = [file for table in TABLES.values() if table.paper in wanted for file in FILES.of_table(table)]
    return [*files, *(FILES.manifest("printed", paper) for paper in wanted if PRINTED[paper])]


def paper_parts(paper, *parts):
    return digest([papers.load(paper, part) for part in parts])


def settings_but(*left_out):
    """The configuration without what cannot change a file."""
    return digest(CONFIG.model_dump(exclude={"mirror", "device", "jobs", "hardware", *left_out}))


def report_of_what_there_is():
    """After a failure: what is finished is worth seeing; the rest are holes with their reasons."""
    from clrepro.report import html

    try:
        records.save(CONFIG.scale, CATALOGUE.sources())
        html.write(CATALOGUE)
        print(f"Some jobs failed. The report of what there is: {FILES.report[-1]}")
    except Exception as failure:
        print(f"Some jobs failed, and the report of what there is as well: {failure}")


IN_TABLES = settings_but("simulation", "papers", "figures", "grids")
