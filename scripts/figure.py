"""Write what one figure plots."""

from clrepro.report import figures
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    figures.write(catalogue, snakemake.params.figure)
