from pathlib import Path

from snakemake.exceptions import WorkflowError

from clrepro import stages
from clrepro.workflow import fingerprint
from clrepro.workflow import records
from clrepro.workflow import start
from clrepro.catalogue import Catalogue, detection, papers
from clrepro.catalogue.runs import digest
from clrepro.catalogue.simulations import WITH_TORCH
from clrepro.config import parse as checked_config  # Snakemake has a parse of its own
from clrepro.errors import UserError
from clrepro.objectives import NAMES

try:
    CATALOGUE = Catalogue(checked_config(config))
    if workflow.is_main_process:
        CATALOGUE.check_inputs()
        if records.load(CATALOGUE):
            stages.adopt(CATALOGUE)
except UserError as failure:
    raise WorkflowError(str(failure)) from None

CONFIG = CATALOGUE.config
JOBS = CONFIG.jobs
LOGS = f"logs/{CONFIG.scale}"
BENCHMARKS = f"{LOGS}/benchmarks"
TABLE_FILES = [file for table in CATALOGUE.tables for file in CATALOGUE.table_files(table)]
FIGURE_FILES = [file for figure in CATALOGUE.figures for file in CATALOGUE.figure_files(figure)]
SIMULATION_FILES = [file for simulation in CATALOGUE.simulations for file in simulation.files]
GRID_FILES = [f"results/{CONFIG.scale}/grids/{name.replace('@', '-')}.csv" for name in CATALOGUE.grids]


VECTORS = {"sentence": "embeddings.npz", "image": "features.npz"}


def stage(name, part):
    """The stage of a bundle or of a backbone, whose code stands in the fingerprints under its modality."""
    return name if part.modality == "sentence" else f"{name}_{part.modality}"


def grown(amount):
    """Memory or time of a job: what was not enough is asked for once, twice, three times as much."""
    return lambda wildcards, attempt: amount * attempt


def files(runs, name):
    return [run.folder / name for run in runs]


def shown(paths, part):
    """Outputs of which Snakemake's own report shows the readable one; part: its paper and name."""
    paper, name = part.split("/")
    readable = {".html", ".svg"}
    return [report(path, category=paper, labels={"part": name}) if path.suffix in readable else path for path in paths]
