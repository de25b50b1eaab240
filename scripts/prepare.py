"""Make data and an encoder's weights ready."""

from clrepro import stages
from clrepro.modalities import build_from
from clrepro.stages.job import job

with job(snakemake) as config:
    stages.prepare(build_from(snakemake.params.build), config)
