"""Store the features of a bundle's runs."""

from pathlib import Path

from clrepro import stages
from clrepro.modalities import run_from
from clrepro.stages.job import job

with job(snakemake) as config:
    stages.embed([run_from(given) for given in snakemake.params.runs], config, Path(snakemake.output[0]))
