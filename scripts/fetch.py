"""Fetch or generate one source."""

from clrepro import stages
from clrepro.sources.source import source
from clrepro.stages.job import job

with job(snakemake, online=True) as config:
    stages.fetch(source(snakemake.params.source.split("@")[0]), config)
