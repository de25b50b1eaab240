from pathlib import Path

from snakemake.exceptions import WorkflowError

from clrepro import fingerprint
from clrepro.catalogue import Catalogue, papers
from clrepro.catalogue.runs import digest
from clrepro.catalogue.simulations import WITH_TORCH
from clrepro.config import parse as checked_config  # Snakemake has a parse of its own
from clrepro.errors import UserError
from clrepro.objectives import NAMES

try:
    CATALOGUE = Catalogue(checked_config(config))
    if workflow.is_main_process:
        CATALOGUE.check_inputs()
except UserError as failure:
    raise WorkflowError(str(failure)) from None

CONFIG = CATALOGUE.config
JOBS = CONFIG.jobs
LOGS = f"logs/{CONFIG.scale}"
BENCHMARKS = f"{LOGS}/benchmarks"
TABLE_FILES = [
    CATALOGUE.table_folder(table) / f"{table.name}.{suffix}"
    for table in CATALOGUE.tables
    for suffix in ("csv", "md", "html")
]
FIGURE_FILES = [CATALOGUE.figure_file(figure) for figure in CATALOGUE.figures]
SIMULATION_FILES = [file for simulation in CATALOGUE.simulations for file in simulation.files]
GRID_FILES = [f"results/{CONFIG.scale}/grids/{name.replace('@', '-')}.csv" for name in CATALOGUE.grids]


def files(runs, name):
    return [run.folder / name for run in runs]
