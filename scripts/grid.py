"""Write the outcome of one grid search."""

from pathlib import Path

from clrepro.report import tables
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    tables.write_grid(catalogue, snakemake.params.grid, Path(snakemake.output[0]))
