"""Fetch one source."""

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    for source in catalogue.sources():
        if str(source.record) == snakemake.output[0]:
            stages.fetch(catalogue, source)
