"""Write the outcome of one grid search."""

from pathlib import Path

from clrepro.catalogue import Catalogue
from clrepro.report import grids
from clrepro.stages.job import job

with job(snakemake) as config:
    grids.write(Catalogue(config, whole=False).grid(snakemake.params.grid), Path(snakemake.output[0]))
