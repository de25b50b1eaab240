"""Check the papers' theory."""

from clrepro.report import theory
from clrepro.stages.job import job

with job(snakemake):
    theory.write(snakemake.params.studies, *snakemake.output)
